#include "source/copilot/copilot_entries.h"

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include "base/ip_address.h"
#include "base/strings.h"
#include "config/check/names.h"
#include "istio/networking/v1alpha3/destination_rule.pb.h"
#include "istio/networking/v1alpha3/virtual_service.pb.h"
#include "source/platform/made_entries.h"

namespace fairlead::source {
namespace {

using istio::networking::v1alpha3::DestinationRule;
using istio::networking::v1alpha3::HTTPRoute;
using istio::networking::v1alpha3::VirtualService;

constexpr char kProcessLabel[] = "cfapp";

class Maker {
 public:
  Maker(const CopilotOptions& options, const std::string& host, bool internal)
      : options_(options),
        host_(host),
        maker_("copilot",
               StrCat(options.url.Name(), internal ? kCopilotInternalRoutes : kCopilotRoutes, "/", host),
               StrCat(internal ? "internal route " : "route ", host, " of Cloud Foundry")) {}

  // `routes`: of the host, sorted.
  PlatformPart MakeInternal(const std::vector<const CopilotRoute*>& routes) {
    MadeService service = Service(options_.internal_protocol, routes);
    const std::string& vip = routes.front()->vip;
    if (IsIpAddress(vip)) {
      service.addresses.push_back(vip);
    } else if (!vip.empty()) {
      maker_.Warn("invalid-address", StrCat("its virtual address \"", vip, "\" is none, and is left out"));
    }
    maker_.AddService(std::move(service));
    return maker_.Take();
  }

  PlatformPart Make(const std::vector<const CopilotRoute*>& routes) {
    MadeService service = Service("http", routes);
    const bool has_endpoints = !service.endpoints.empty();
    maker_.AddService(std::move(service));
    std::set<std::string> processes;
    bool plain = true;
    for (const CopilotRoute* route : routes) {
      if (route->backends.empty()) continue;
      processes.insert(route->process);
      plain = plain && route->path.empty();
    }
    PlatformPart part = maker_.Take();
    if (!has_endpoints || part.objects.empty() || (plain && processes.size() < 2)) return part;
    for (const std::string& process : processes) {
      if (config::check::SubsetNameProblem(process).empty() &&
          config::check::LabelProblem(kProcessLabel, process).empty())
        continue;
      maker_.Warn("invalid-process",
                  StrCat("\"", process, "\" is no name of a process: paths and weights have no effect"));
      PlatformPart warned = maker_.Take();
      part.diagnostics.insert(part.diagnostics.end(), warned.diagnostics.begin(), warned.diagnostics.end());
      return part;
    }
    maker_.AddObject(config::Kind::kDestinationRule, options_.platform.ns, host_, Rule(processes));
    maker_.AddObject(config::Kind::kVirtualService, options_.platform.ns, host_, Virtual(routes));
    PlatformPart more = maker_.Take();
    part.objects.insert(part.objects.end(), more.objects.begin(), more.objects.end());
    return part;
  }

 private:
  MadeService Service(const std::string& protocol, const std::vector<const CopilotRoute*>& routes) {
    MadeService service;
    service.host = host_;
    service.ns = options_.platform.ns;
    service.ports.push_back({options_.port, protocol, protocol});
    std::set<std::pair<CopilotBackend, std::string>> seen;
    for (const CopilotRoute* route : routes) {
      for (const CopilotBackend& backend : route->backends) {
        if (!seen.emplace(backend, route->process).second) continue;
        if (!maker_.IsAddress(backend.address, "a backend")) continue;
        if (backend.port == 0 || backend.port > 65'535) {
          maker_.Warn("no-port", StrCat("backend ", backend.address, " has no port and is left out"));
          continue;
        }
        MadeService::Endpoint endpoint;
        endpoint.address = backend.address;
        endpoint.ports = {backend.port};
        if (!route->process.empty()) endpoint.labels = ValidLabels({{kProcessLabel, route->process}});
        service.endpoints.push_back(std::move(endpoint));
      }
    }
    return service;
  }

  std::shared_ptr<DestinationRule> Rule(const std::set<std::string>& processes) const {
    auto rule = std::make_shared<DestinationRule>();
    rule->set_host(host_);
    for (const std::string& process : processes) {
      auto& subset = *rule->add_subsets();
      subset.set_name(process);
      (*subset.mutable_labels())[kProcessLabel] = process;
    }
    return rule;
  }

  std::shared_ptr<VirtualService> Virtual(const std::vector<const CopilotRoute*>& routes) const {
    std::map<std::string, std::vector<const CopilotRoute*>> paths;
    for (const CopilotRoute* route : routes) {
      if (!route->backends.empty()) paths[route->path].push_back(route);
    }
    auto made = std::make_shared<VirtualService>();
    made->add_hosts(host_);
    for (const std::string& gateway : options_.gateways) made->add_gateways(gateway);
    std::vector<std::string> order;
    for (const auto& [path, of_path] : paths) order.push_back(path);
    std::stable_sort(order.begin(), order.end(),
                     [](const std::string& a, const std::string& b) { return a.size() > b.size(); });
    for (const std::string& path : order) AddPath(path, paths[path], made.get());
    return made;
  }

  // Weights are told for all of the processes or for none.
  void AddPath(const std::string& path, const std::vector<const CopilotRoute*>& routes,
               VirtualService* made) const {
    HTTPRoute& route = *made->add_http();
    if (!path.empty()) {
      route.add_match()->mutable_uri()->set_exact(path);
      route.add_match()->mutable_uri()->set_prefix(path.ends_with('/') ? path : path + "/");
    }
    const bool weighted =
        std::any_of(routes.begin(), routes.end(), [](const CopilotRoute* one) { return one->weight > 0; });
    for (const CopilotRoute* one : routes) {
      const auto weight = static_cast<int32_t>(weighted ? std::clamp<int64_t>(one->weight, 0, 1'000'000) : 1);
      auto& destination = *route.add_route();
      destination.mutable_destination()->set_host(host_);
      destination.mutable_destination()->set_subset(one->process);
      if (routes.size() > 1) destination.set_weight(weight);
    }
  }

  const CopilotOptions& options_;
  const std::string& host_;
  PartMaker maker_;
};

std::map<std::string, std::vector<const CopilotRoute*>> ByHost(std::vector<CopilotRoute>* routes) {
  for (CopilotRoute& route : *routes) {
    route.host = AsciiLower(route.host);
    if (route.path == "/") route.path.clear();
    std::sort(route.backends.begin(), route.backends.end());
  }
  std::sort(routes->begin(), routes->end());
  routes->erase(std::unique(routes->begin(), routes->end()), routes->end());
  std::map<std::string, std::vector<const CopilotRoute*>> hosts;
  for (const CopilotRoute& route : *routes) hosts[route.host].push_back(&route);
  return hosts;
}

void Add(const std::string& name, PlatformPart part, std::map<std::string, PlatformPart>* parts) {
  if (!part.objects.empty() || !part.diagnostics.empty()) parts->emplace(name, std::move(part));
}

}  // namespace

std::map<std::string, PlatformPart> MakeCopilotParts(const CopilotOptions& options,
                                                     std::vector<CopilotRoute> routes,
                                                     std::vector<CopilotRoute> internal_routes) {
  std::map<std::string, PlatformPart> parts;
  for (const auto& [host, of_host] : ByHost(&routes))
    Add(host, Maker(options, host, false).Make(of_host), &parts);
  for (const auto& [host, of_host] : ByHost(&internal_routes))
    Add(StrCat("internal ", host), Maker(options, host, true).MakeInternal(of_host), &parts);
  return parts;
}

}  // namespace fairlead::source
