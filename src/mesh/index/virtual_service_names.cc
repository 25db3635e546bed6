#include "mesh/index/virtual_service_names.h"

#include <algorithm>
#include <utility>

#include "base/strings.h"
#include "istio/networking/v1alpha3/virtual_service.pb.h"
#include "model/host_name.h"

namespace fairlead::mesh {
namespace {

namespace api = istio::networking::v1alpha3;

class Qualifier {
 public:
  Qualifier(std::string_view ns, std::string_view domain) : ns_(ns), domain_(domain) {}

  void Host(std::string* host) { Replace(model::QualifyHost(*host, ns_, domain_), host); }
  void Gateway(std::string* gateway) { Replace(QualifyGateway(*gateway, ns_), gateway); }

  // An L4 or L7 route: all have matches with gateways and weighted destinations.
  template <typename Route>
  void MatchesAndDestinations(Route* route) {
    for (auto& match : *route->mutable_match()) {
      for (std::string& gateway : *match.mutable_gateways()) Gateway(&gateway);
    }
    for (auto& weighted : *route->mutable_route()) {
      if (weighted.has_destination()) Host(weighted.mutable_destination()->mutable_host());
    }
  }

  bool changed() const { return changed_; }

 private:
  void Replace(std::string qualified, std::string* name) {
    if (qualified == *name) return;
    *name = std::move(qualified);
    changed_ = true;
  }

  std::string_view ns_, domain_;
  bool changed_ = false;
};

class DestinationCollector {
 public:
  void Add(const api::Destination& destination) {
    found_.push_back({destination.host(), destination.port().number(), source_namespaces_});
  }
  template <typename Route>
  void AddWeighted(const Route& route) {
    for (const auto& weighted : route.route()) {
      if (weighted.has_destination()) Add(weighted.destination());
    }
  }
  // Applies to what is added from now on.
  void RestrictTo(std::vector<std::string> source_namespaces) {
    source_namespaces_ = std::move(source_namespaces);
  }

  std::vector<RouteDestination> Finish() {
    std::sort(found_.begin(), found_.end());
    found_.erase(std::unique(found_.begin(), found_.end()), found_.end());
    return std::move(found_);
  }

 private:
  std::vector<RouteDestination> found_;
  std::vector<std::string> source_namespaces_;
};

// A route with any match for a source namespace is only for those, even if another match names none (as in
// Istio).
std::vector<std::string> SourceNamespaces(const api::HTTPRoute& route) {
  std::vector<std::string> namespaces;
  for (const api::HTTPMatchRequest& match : route.match()) {
    if (!match.source_namespace().empty()) namespaces.push_back(match.source_namespace());
  }
  std::sort(namespaces.begin(), namespaces.end());
  namespaces.erase(std::unique(namespaces.begin(), namespaces.end()), namespaces.end());
  return namespaces;
}

}  // namespace

std::string QualifyGateway(std::string_view gateway, std::string_view ns) {
  if (gateway == "mesh") return std::string(gateway);
  if (const size_t slash = gateway.find('/'); slash != std::string_view::npos) {
    return gateway.substr(0, slash) == "." ? StrCat(ns, gateway.substr(slash)) : std::string(gateway);
  }
  const size_t dot = gateway.find('.');
  if (dot == std::string_view::npos) return StrCat(ns, "/", gateway);
  const std::string_view rest = gateway.substr(dot + 1);
  return StrCat(rest.substr(0, rest.find('.')), "/", gateway.substr(0, dot));
}

bool QualifyNames(std::string_view ns, std::string_view domain, api::VirtualService* virtual_service) {
  Qualifier qualify(ns, domain);
  for (std::string& host : *virtual_service->mutable_hosts()) qualify.Host(&host);
  for (std::string& gateway : *virtual_service->mutable_gateways()) qualify.Gateway(&gateway);
  for (api::HTTPRoute& route : *virtual_service->mutable_http()) {
    qualify.MatchesAndDestinations(&route);
    if (route.has_mirror()) qualify.Host(route.mutable_mirror()->mutable_host());
    for (api::HTTPMirrorPolicy& mirror : *route.mutable_mirrors()) {
      if (mirror.has_destination()) qualify.Host(mirror.mutable_destination()->mutable_host());
    }
  }
  for (api::TCPRoute& route : *virtual_service->mutable_tcp()) qualify.MatchesAndDestinations(&route);
  for (api::TLSRoute& route : *virtual_service->mutable_tls()) qualify.MatchesAndDestinations(&route);
  return qualify.changed();
}

std::vector<RouteDestination> CollectDestinations(const api::VirtualService& virtual_service) {
  DestinationCollector collector;
  for (const api::HTTPRoute& route : virtual_service.http()) {
    collector.RestrictTo(SourceNamespaces(route));
    collector.AddWeighted(route);
    if (route.has_mirror()) collector.Add(route.mirror());
    for (const api::HTTPMirrorPolicy& mirror : route.mirrors()) {
      if (mirror.has_destination()) collector.Add(mirror.destination());
    }
  }
  collector.RestrictTo({});
  for (const api::TCPRoute& route : virtual_service.tcp()) collector.AddWeighted(route);
  for (const api::TLSRoute& route : virtual_service.tls()) collector.AddWeighted(route);
  return collector.Finish();
}

}  // namespace fairlead::mesh
