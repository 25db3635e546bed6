#include "config/references.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "base/strings.h"
#include "config/host_name.h"
#include "config/tree.h"
#include "istio/networking/v1alpha3/destination_rule.pb.h"
#include "istio/networking/v1alpha3/gateway.pb.h"
#include "istio/networking/v1alpha3/service_entry.pb.h"
#include "istio/networking/v1alpha3/virtual_service.pb.h"

namespace fairlead::config {
namespace {

using istio::networking::v1alpha3::Destination;
using istio::networking::v1alpha3::DestinationRule;
using istio::networking::v1alpha3::ServiceEntry;
using istio::networking::v1alpha3::VirtualService;
using IstioGateway = istio::networking::v1alpha3::Gateway;

constexpr std::string_view kLost = "IST0101", kConflict = "IST0109", kNotServed = "IST0132";
constexpr std::string_view kMesh = "mesh", kEverywhere = "*", kHere = ".";
// Services of other clusters, which need not be written down here.
constexpr std::string_view kOfClusterSet = ".svc.clusterset.local";
constexpr std::string_view kSuppress = "galley.istio.io/analyze-suppress";

// Names of which some are wildcards.
class Hosts {
 public:
  void Add(std::string host) { (IsWildcard(host) ? wildcards_ : exact_).insert(std::move(host)); }
  bool Covers(const std::string& host) const {
    if (exact_.contains(host) || wildcards_.contains(host)) return true;
    return std::any_of(wildcards_.begin(), wildcards_.end(),
                       [&host](const std::string& wildcard) { return HostSubsetOf(host, wildcard); });
  }

 private:
  std::set<std::string> exact_, wildcards_;
};

bool IsSuppressed(const ConfigObject& object, std::string_view code) {
  const auto found = object.meta().annotations.find(kSuppress);
  if (found == object.meta().annotations.end()) return false;
  const std::string_view listed(found->second);
  for (std::string_view one : Split(listed, ',')) {
    while (one.starts_with(' ')) one.remove_prefix(1);
    if (one == code || one == "*") return true;
  }
  return false;
}

bool IsOfMesh(const VirtualService& service) {
  return service.gateways().empty() ||
         std::find(service.gateways().begin(), service.gateways().end(), kMesh) != service.gateways().end();
}

class Finder {
 public:
  Finder(const ObjectStore& written, const ObjectStore& objects, std::string_view domain)
      : written_(written), objects_(objects), domain_(domain), service_suffix_(StrCat(".svc.", domain)) {
    for (const auto& [name, object] : objects.All(Kind::kServiceEntry)) {
      for (const std::string& host : object->Spec<ServiceEntry>().hosts())
        hosts_.Add(QualifyHost(host, object->ns().str(), domain_));
    }
    for (const auto& [name, object] : objects.All(Kind::kDestinationRule)) {
      const auto& rule = object->Spec<DestinationRule>();
      for (const auto& subset : rule.subsets())
        subsets_[subset.name()].Add(QualifyHost(rule.host(), object->ns().str(), domain_));
    }
  }

  std::vector<Diagnostic> Find() {
    for (const auto& [name, object] : written_.All(Kind::kVirtualService)) {
      object_ = object.get();
      CheckDestinations(object->Spec<VirtualService>());
      CheckGateways(object->Spec<VirtualService>());
    }
    CheckConflicts();
    return std::move(found_);
  }

 private:
  // Whether a cluster has the Service with this host: "reviews.default.svc.cluster.local".
  bool IsService(std::string_view host) const {
    if (!host.ends_with(service_suffix_)) return false;
    host.remove_suffix(service_suffix_.size());
    const size_t dot = host.find('.');
    if (dot == std::string_view::npos) return false;
    const Interned name(host.substr(0, dot)), ns(host.substr(dot + 1));
    if (objects_.Find(Kind::kService, ns, name) != nullptr) return true;
    const auto others = objects_.OtherClusters();
    return std::any_of(others.begin(), others.end(), [&](const Interned& cluster) {
      return objects_.Find(Kind::kService, ns, name, cluster) != nullptr;
    });
  }

  void Say(std::string_view code, std::string path, std::string message) {
    if (IsSuppressed(*object_, code)) return;
    found_.push_back({Severity::kWarning, std::string(code), object_->origin().file.str(),
                      object_->origin().line, KeyOf(*object_), std::move(path), std::move(message)});
  }

  void CheckDestination(const Destination& destination, const std::string& path) {
    const std::string host = QualifyHost(destination.host(), object_->ns().str(), domain_);
    if (host.ends_with(kOfClusterSet)) return;
    if (!IsService(host) && !hosts_.Covers(host))
      return Say(kLost, path + ".host", StrCat("no Service or ServiceEntry has the host ", host));
    if (destination.subset().empty()) return;
    const auto subset = subsets_.find(destination.subset());
    if (subset != subsets_.end() && subset->second.Covers(host)) return;
    Say(kLost, path + ".subset",
        StrCat("no DestinationRule of the host ", host, " has the subset ", destination.subset()));
  }

  template <typename Routes>
  void CheckRoutes(const Routes& routes, const std::string& path) {
    for (int i = 0; i < routes.size(); ++i) {
      for (int k = 0; k < routes[i].route_size(); ++k)
        CheckDestination(routes[i].route(k).destination(),
                         StrCat(path, "[", i, "].route[", k, "].destination"));
    }
  }

  void CheckDestinations(const VirtualService& service) {
    CheckRoutes(service.http(), "spec.http");
    CheckRoutes(service.tcp(), "spec.tcp");
    CheckRoutes(service.tls(), "spec.tls");
    for (int i = 0; i < service.http_size(); ++i) {
      const auto& http = service.http(i);
      if (http.has_mirror()) CheckDestination(http.mirror(), StrCat("spec.http[", i, "].mirror"));
      for (int k = 0; k < http.mirrors_size(); ++k)
        CheckDestination(http.mirrors(k).destination(),
                         StrCat("spec.http[", i, "].mirrors[", k, "].destination"));
    }
  }

  // Whether a Gateway serves one of the hosts to VirtualServices of this namespace.
  static bool Serves(const ConfigObject& gateway, const VirtualService& service, const std::string& ns) {
    for (const auto& server : gateway.Spec<IstioGateway>().servers()) {
      for (const std::string& host : server.hosts()) {
        const size_t slash = host.find('/');
        const std::string_view space =
            slash == std::string::npos ? kEverywhere : std::string_view(host).substr(0, slash);
        const std::string_view name =
            std::string_view(host).substr(slash == std::string::npos ? 0 : slash + 1);
        const bool seen = space == kEverywhere || space == ns || (space == kHere && ns == gateway.ns().str());
        if (seen && std::any_of(service.hosts().begin(), service.hosts().end(),
                                [&](const std::string& one) { return HostsMatch(one, name); }))
          return true;
      }
    }
    return false;
  }

  static bool ServesAsKubernetes(const ConfigObject& gateway, const VirtualService& service) {
    for (const Node listener : gateway.Spec<Tree>().Find("spec").Find("listeners").elements()) {
      const std::string_view name = listener.Find("hostname").String();
      if (name.empty() || std::any_of(service.hosts().begin(), service.hosts().end(),
                                      [&](const std::string& one) { return HostsMatch(one, name); }))
        return true;
    }
    return false;
  }

  void CheckGateways(const VirtualService& service) {
    const std::string& own = object_->ns().str();
    for (int i = 0; i < service.gateways_size(); ++i) {
      const std::string& written = service.gateways(i);
      if (written == kMesh) continue;
      const size_t slash = written.find('/');
      const Interned ns(slash == std::string::npos ? own : written.substr(0, slash));
      const Interned name(written.substr(slash == std::string::npos ? 0 : slash + 1));
      const ConfigPtr istios = objects_.Find(Kind::kGateway, ns, name);
      const ConfigPtr kubernetes = objects_.Find(Kind::kKubernetesGateway, ns, name);
      const std::string path = StrCat("spec.gateways[", i, "]");
      if (istios == nullptr && kubernetes == nullptr) {
        Say(kLost, path, StrCat("there is no Gateway ", ns.str(), "/", name.str()));
      } else if (!service.hosts().empty() && !(istios != nullptr && Serves(*istios, service, own)) &&
                 !(kubernetes != nullptr && ServesAsKubernetes(*kubernetes, service))) {
        Say(kNotServed, path,
            StrCat(
                "the Gateway ", ns.str(), "/", name.str(), " serves none of the hosts ",
                Join(std::vector<std::string_view>(service.hosts().begin(), service.hosts().end()), ", ")));
      }
    }
  }

  // VirtualServices of the mesh by the namespace that sees them ("*": all) and the host.
  void CheckConflicts() {
    std::map<std::pair<std::string, std::string>, std::set<const ConfigObject*>> seen;
    for (const auto& [name, object] : written_.All(Kind::kVirtualService)) {
      const auto& service = object->Spec<VirtualService>();
      if (!IsOfMesh(service)) continue;
      std::set<std::string> spaces;
      for (const std::string& space : service.export_to())
        spaces.insert(space == kHere ? object->ns().str() : space);
      if (spaces.empty() || spaces.contains(std::string(kEverywhere))) spaces = {std::string(kEverywhere)};
      for (const std::string& host : service.hosts()) {
        for (const std::string& space : spaces)
          seen[{space, QualifyHost(host, object->ns().str(), domain_)}].insert(object.get());
      }
    }
    std::set<const ConfigObject*> said;
    for (auto& [place, services] : seen) {
      const auto everywhere = seen.find({std::string(kEverywhere), place.second});
      if (everywhere != seen.end()) services.insert(everywhere->second.begin(), everywhere->second.end());
      if (services.size() > 1) SayConflict(place.second, services, &said);
    }
  }

  void SayConflict(const std::string& host, const std::set<const ConfigObject*>& services,
                   std::set<const ConfigObject*>* said) {
    for (const ConfigObject* service : services) {
      if (!said->insert(service).second) continue;
      object_ = service;
      std::set<std::string> others;
      for (const ConfigObject* other : services) {
        if (other != service) others.insert(Describe(KeyOf(*other)));
      }
      Say(kConflict, "spec.hosts",
          StrCat("the host ", host, " is also in ", *others.begin(),
                 others.size() == 1 ? "" : StrCat(" and ", others.size() - 1, " more"),
                 ", and proxies of the mesh go by one of them"));
    }
  }

  const ObjectStore& written_;
  const ObjectStore& objects_;
  const std::string domain_, service_suffix_;
  Hosts hosts_;                           // of ServiceEntries
  std::map<std::string, Hosts> subsets_;  // by name: the hosts that have it
  const ConfigObject* object_ = nullptr;  // at hand
  std::vector<Diagnostic> found_;
};

}  // namespace

std::vector<Diagnostic> FindLostReferences(const ObjectStore& written, const ObjectStore& all,
                                           std::string_view domain) {
  return Finder(written, all, domain).Find();
}

}  // namespace fairlead::config
