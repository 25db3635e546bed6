#include <algorithm>
#include <set>
#include <string>

#include "envoy/config/route/v3/route.pb.h"
#include "gen/naming/cluster_name.h"
#include "gen/patch/apply.h"
#include "gen/patch/filter_merge.h"
#include "gen/patch/gateway_route_name.h"
#include "gen/patch/list_edits.h"
#include "istio/networking/v1alpha3/envoy_filter.pb.h"

namespace fairlead::gen::patch {
namespace {

using envoy::config::route::v3::Route;
using envoy::config::route::v3::RouteConfiguration;
using envoy::config::route::v3::VirtualHost;
using istio::networking::v1alpha3::EnvoyFilter;
using WantedRoute = EnvoyFilter::RouteConfigurationMatch::RouteMatch;

// The port in the name of a sidecar's route configuration; 0 where the name has more than that.
uint32_t SidecarPort(std::string_view name) {
  if (name.starts_with("inbound")) return ParseClusterName(name).port;
  return NumberOf(name);
}

bool MatchesAction(const WantedRoute& wanted, const Route& route) {
  if (wanted.action() == WantedRoute::ANY) return true;
  switch (route.action_case()) {
    case Route::kRoute:
      return wanted.action() == WantedRoute::ROUTE;
    case Route::kRedirect:
      return wanted.action() == WantedRoute::REDIRECT;
    case Route::kDirectResponse:
      return wanted.action() == WantedRoute::DIRECT_RESPONSE;
    default:
      return true;
  }
}

bool NamesRoute(const Patch& patch) { return patch.match().route_configuration().vhost().has_route(); }

bool MatchesRoute(const Patch& patch, const Route& route) {
  if (!NamesRoute(patch)) return true;
  const WantedRoute& wanted = patch.match().route_configuration().vhost().route();
  return (wanted.name().empty() || wanted.name() == route.name()) && MatchesAction(wanted, route);
}

bool MatchesHost(const Patch& patch, const VirtualHost& host) {
  const auto& wanted = patch.match().route_configuration().vhost();
  const auto& domains = host.domains();
  return (wanted.name().empty() || wanted.name() == host.name()) &&
         (wanted.domain_name().empty() ||
          std::find(domains.begin(), domains.end(), wanted.domain_name()) != domains.end());
}

class RoutePatcher {
 public:
  RoutePatcher(const PatchSet& patches, const GatewayPorts* ports, RouteConfiguration* routes,
               PatchOutcome* outcome)
      : patches_(patches), ports_(ports), routes_(*routes), outcome_(*outcome) {}

  void Run() {
    ForEach(EnvoyFilter::ROUTE_CONFIGURATION, [&](const Patch& patch) {
      if (patch.Merges()) Merge(patch.Value<RouteConfiguration>(), ListsOf(patch), &routes_);
      return patch.Merges();
    });
    PatchHosts();
  }

 private:
  // Calls apply(patch) -> whether it changed something, for each that is for the route configuration.
  template <typename Apply>
  void ForEach(ApplyTo apply_to, Apply&& apply) {
    for (const Patch* patch : patches_.Of(apply_to)) {
      if (!outcome_.Skips(*patch)) outcome_.Note(*patch, MatchesConfiguration(*patch) && apply(*patch));
    }
  }

  bool MatchesConfiguration(const Patch& patch) const {
    if (!patch.match().has_route_configuration()) return true;
    const auto& wanted = patch.match().route_configuration();
    if (!wanted.name().empty() && wanted.name() != routes_.name()) return false;
    if (patches_.side() != Side::kGateway)
      return wanted.port_number() == 0 || wanted.port_number() == SidecarPort(routes_.name());
    const GatewayRouteName own = ParseGatewayRouteName(routes_.name());
    if (!wanted.port_name().empty() && wanted.port_name() != own.port_name) return false;
    if (!wanted.gateway().empty() && wanted.gateway() != own.gateway) return false;
    return wanted.port_number() == 0 || IsPort(own.port, wanted.port_number());
  }

  bool IsPort(uint32_t own, uint32_t wanted) const {
    if (ports_ == nullptr || ports_->empty()) return own == wanted;
    return std::find(ports_->begin(), ports_->end(), wanted) != ports_->end();
  }

  // What is removed goes by its name, after additions.
  void PatchHosts() {
    std::set<std::string> removed;
    for (VirtualHost& host : *routes_.mutable_virtual_hosts()) {
      if (!PatchHost(&host)) removed.insert(host.name());
    }
    ForEach(EnvoyFilter::VIRTUAL_HOST, [&](const Patch& patch) {
      if (patch.Adds()) *routes_.add_virtual_hosts() = patch.Value<VirtualHost>();
      return patch.Adds();
    });
    RemoveMatching([&](const VirtualHost& host) { return removed.contains(host.name()); },
                   routes_.mutable_virtual_hosts());
  }

  // False: the virtual host is removed.
  bool PatchHost(VirtualHost* host) {
    bool kept = true;
    ForEach(EnvoyFilter::VIRTUAL_HOST, [&](const Patch& patch) {
      if (!kept || !MatchesHost(patch, *host)) return false;
      if (patch.Removes()) {
        kept = false;
      } else if (patch.Merges()) {
        Merge(patch.Value<VirtualHost>(), ListsOf(patch), host);
      } else if (patch.operation == EnvoyFilter::Patch::REPLACE) {
        *host = patch.Value<VirtualHost>();
      }
      return true;
    });
    if (kept && patches_.Has(EnvoyFilter::HTTP_ROUTE)) PatchHttpRoutes(host);
    return kept;
  }

  // Routes that are removed still count as positions until the insertions are done.
  void PatchHttpRoutes(VirtualHost* host) {
    auto* routes = host->mutable_routes();
    std::set<const Route*> removed;  // elements keep their addresses when a list changes
    for (Route& route : *routes) {
      if (!PatchRoute(*host, &route)) removed.insert(&route);
    }
    ForEach(EnvoyFilter::HTTP_ROUTE, [&](const Patch& patch) {
      const auto matches = [&](const Route& route) {
        return !removed.contains(&route) && MatchesRoute(patch, route);
      };
      return MatchesHost(patch, *host) && Insert(patch, matches, routes);
    });
    RemoveMatching([&](const Route& route) { return removed.contains(&route); }, routes);
  }

  template <typename Matches>
  static bool Insert(const Patch& patch, const Matches& matches, List<Route>* routes) {
    switch (patch.operation) {
      case EnvoyFilter::Patch::ADD:
        InsertAt(routes->size(), patch.Value<Route>(), routes);
        return true;
      case EnvoyFilter::Patch::INSERT_BEFORE:
      case EnvoyFilter::Patch::INSERT_AFTER:
        return InsertBeside(patch, NamesRoute(patch), matches, routes);
      case EnvoyFilter::Patch::INSERT_FIRST:
        // First of all, not of what it matches; but something must match.
        if (NamesRoute(patch) && FindFirst(*routes, matches) < 0) return false;
        InsertAt(0, patch.Value<Route>(), routes);
        return true;
      default:
        return false;
    }
  }

  // False: the route is removed.
  bool PatchRoute(const VirtualHost& host, Route* route) {
    bool kept = true;
    ForEach(EnvoyFilter::HTTP_ROUTE, [&](const Patch& patch) {
      if (!kept || !MatchesHost(patch, host) || !MatchesRoute(patch, *route)) return false;
      if (patch.Removes()) kept = false;
      if (patch.Merges()) Merge(patch.Value<Route>(), ListsOf(patch), route);
      return patch.Removes() || patch.Merges();
    });
    return kept;
  }

  const PatchSet& patches_;
  const GatewayPorts* ports_;
  RouteConfiguration& routes_;
  PatchOutcome& outcome_;
};

}  // namespace

void PatchRoutes(const PatchSet& patches, const GatewayPorts* ports, RouteConfiguration* routes,
                 PatchOutcome* outcome) {
  RoutePatcher(patches, ports, routes, outcome).Run();
}

}  // namespace fairlead::gen::patch
