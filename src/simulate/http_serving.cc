#include "simulate/http_serving.h"

#include <algorithm>
#include <utility>

#include "base/strings.h"
#include "simulate/access.h"
#include "simulate/destinations.h"
#include "simulate/http_filters.h"
#include "simulate/objects.h"
#include "simulate/path_normalization.h"
#include "simulate/route_changes.h"
#include "simulate/routing.h"

namespace fairlead::simulate {
namespace {

using envoy::config::route::v3::Route;
using envoy::config::route::v3::RouteAction;
using envoy::config::route::v3::RouteConfiguration;
using envoy::config::route::v3::VirtualHost;
using envoy::config::route::v3::WeightedCluster;
using envoy::extensions::filters::network::http_connection_manager::v3::HttpConnectionManager;

void End(CallVerdict verdict, int status, std::string_view reason, SimulationOutcome* outcome) {
  outcome->verdict = verdict;
  outcome->status = status;
  outcome->reason = reason;
}

// Why the connection manager refuses a request before it looks for a route: false where it does not.
bool Refused(const HttpConnectionManager& manager, const SimulatedRequest& request,
             SimulationOutcome* outcome) {
  const bool http2 = request.application == Application::kHttp2;
  if ((manager.codec_type() == HttpConnectionManager::HTTP1 && http2) ||
      (manager.codec_type() == HttpConnectionManager::HTTP2 && !http2)) {
    End(CallVerdict::kClosed, 0, "the connection manager speaks another version of HTTP", outcome);
    return true;
  }
  if (request.application == Application::kHttp10 && !manager.http_protocol_options().accept_http_10()) {
    End(CallVerdict::kDirectResponse, 426, "HTTP/1.0 is not accepted", outcome);
    return true;
  }
  if (request.authority.empty()) {
    End(CallVerdict::kDirectResponse, 400, "no host", outcome);
    return true;
  }
  return false;
}

// Escaped slashes; false where the request is answered because of them.
bool TreatEscapedSlashes(const HttpConnectionManager& manager, SimulatedRequest* request,
                         SimulationOutcome* outcome) {
  if (!HasEscapedSlashes(request->path)) return true;
  switch (manager.path_with_escaped_slashes_action()) {
    case HttpConnectionManager::REJECT_REQUEST:
      End(CallVerdict::kDirectResponse, 400, "escaped slashes in the path", outcome);
      return false;
    case HttpConnectionManager::UNESCAPE_AND_REDIRECT:
      End(CallVerdict::kRedirect, 307, "", outcome);
      outcome->location = WithSlashesUnescaped(request->path);
      return false;
    case HttpConnectionManager::UNESCAPE_AND_FORWARD:
      request->path = WithSlashesUnescaped(request->path);
      return true;
    default:
      return true;
  }
}

void NormalizeHost(const HttpConnectionManager& manager, SimulatedRequest* request) {
  const std::string_view bare = WithoutPort(request->authority);
  const std::string own_port = StrCat(":", request->destination_port);
  const bool matching = std::string_view(request->authority).substr(bare.size()) == own_port;
  if (manager.strip_any_host_port() || (manager.strip_matching_host_port() && matching))
    request->authority = std::string(bare);
  if (manager.strip_trailing_host_dot() && request->authority.ends_with('.')) request->authority.pop_back();
}

bool Normalize(const HttpConnectionManager& manager, SimulatedRequest* request, SimulationOutcome* outcome) {
  if (!TreatEscapedSlashes(manager, request, outcome)) return false;
  if (manager.normalize_path().value()) request->path = NormalizedPath(request->path);
  if (manager.merge_slashes()) request->path = WithSlashesMerged(request->path);
  NormalizeHost(manager, request);
  return true;
}

const RouteConfiguration* RoutesOf(const HttpConnectionManager& manager, const ProxyResources& resources) {
  if (manager.has_route_config()) return &manager.route_config();
  const auto found = resources.routes.find(manager.rds().route_config_name());
  return found == resources.routes.end() ? nullptr : &found->second;
}

// Whether an upgrade that the request asks for, if any, is allowed.
bool UpgradeAllowed(const HttpConnectionManager& manager, const RouteAction& action,
                    const SimulatedRequest& request) {
  const auto wanted = request.Header("upgrade");
  if (!wanted || !EqualsIgnoreCase(request.Header("connection").value_or(""), "upgrade")) return true;
  for (const auto& own : action.upgrade_configs()) {
    if (EqualsIgnoreCase(own.upgrade_type(), *wanted)) return !own.has_enabled() || own.enabled().value();
  }
  const auto& all = manager.upgrade_configs();
  return std::any_of(all.begin(), all.end(), [&](const auto& one) {
    return EqualsIgnoreCase(one.upgrade_type(), *wanted) && (!one.has_enabled() || one.enabled().value());
  });
}

void AddSplit(const WeightedCluster& split, const ProxyResources& resources, const SimulatedRequest& request,
              SimulationOutcome* outcome) {
  double total = 0;
  for (const auto& one : split.clusters()) total += one.weight().value();
  for (const auto& one : split.clusters()) {
    if (one.weight().value() == 0) continue;
    const std::string name =
        one.name().empty() ? request.Header(one.cluster_header()).value_or("") : one.name();
    Destination destination = DestinationOf(resources, name, request);
    destination.percent = 100.0 * one.weight().value() / total;
    AddHeaderChanges(one, &destination.changes);
    if (!one.host_rewrite_literal().empty())
      destination.changes.push_back({"host", one.host_rewrite_literal()});
    outcome->destinations.push_back(std::move(destination));
  }
}

void Forward(const RoutePlace& place, const ProxyResources& resources, const SimulatedRequest& request,
             SimulationOutcome* outcome) {
  const RouteAction& action = place.route.route();
  switch (action.cluster_specifier_case()) {
    case RouteAction::kCluster:
      outcome->destinations.push_back(DestinationOf(resources, action.cluster(), request));
      break;
    case RouteAction::kClusterHeader:
      outcome->destinations.push_back(
          DestinationOf(resources, request.Header(action.cluster_header()).value_or(""), request));
      break;
    case RouteAction::kWeightedClusters:
      AddSplit(action.weighted_clusters(), resources, request, outcome);
      break;
    default:
      outcome->notes.emplace_back("the route's cluster is chosen by a plugin, which is not simulated");
      break;
  }
  AddForwardingChanges(place.configuration, place.host, place.route, request, &outcome->changes);
  SettleDestinations(CallVerdict::kHttp, outcome);
  const bool unknown =
      std::any_of(outcome->destinations.begin(), outcome->destinations.end(), IsUnknownCluster);
  if (outcome->verdict == CallVerdict::kUnavailable && unknown) {
    using Code = RouteAction;
    const auto code = action.cluster_not_found_response_code();
    outcome->status = code == Code::NOT_FOUND ? 404 : code == Code::INTERNAL_SERVER_ERROR ? 500 : 503;
  }
}

void TakeRoute(const HttpConnectionManager& manager, const RoutePlace& place, const ProxyResources& resources,
               const SimulatedRequest& request, SimulationOutcome* outcome) {
  AddObjects(place.route.metadata(), outcome);
  if (AnsweredByFilter(manager, place, request, outcome)) return;
  const Route& route = place.route;
  if (route.has_route() && !UpgradeAllowed(manager, route.route(), request)) {
    End(CallVerdict::kDirectResponse, 403, "the upgrade is not allowed", outcome);
    return;
  }
  AddHeaderChanges(route, &outcome->changes);
  AddHeaderChanges(place.host, &outcome->changes);
  AddHeaderChanges(place.configuration, &outcome->changes);
  if (route.has_redirect()) {
    End(CallVerdict::kRedirect, RedirectStatus(route.redirect()), "", outcome);
    outcome->location = RedirectLocation(route, request);
  } else if (route.has_direct_response()) {
    const auto& body = route.direct_response().body().inline_string();
    End(CallVerdict::kDirectResponse, static_cast<int>(route.direct_response().status()), "", outcome);
    if (!body.empty()) outcome->changes.push_back({"body", body});
  } else if (route.has_route()) {
    Forward(place, resources, request, outcome);
  } else {
    End(CallVerdict::kNotFound, 404, "the route has no action", outcome);
  }
}

bool NeedsTls(const VirtualHost& host, const SimulatedRequest& request) {
  return host.require_tls() == VirtualHost::ALL && request.scheme != "https";
}

}  // namespace

void SettleDestinations(CallVerdict reached, SimulationOutcome* outcome) {
  const auto& all = outcome->destinations;
  if (std::any_of(all.begin(), all.end(), [](const Destination& one) { return one.problem.empty(); })) {
    outcome->verdict = reached;
    return;
  }
  const std::string reason = all.empty() ? "nowhere to go" : all.front().problem;
  if (reached == CallVerdict::kHttp) {
    End(CallVerdict::kUnavailable, 503, reason, outcome);
  } else {
    End(CallVerdict::kClosed, 0, reason, outcome);
  }
}

void ServeHttp(const HttpConnectionManager& manager, const ProxyResources& resources,
               SimulatedRequest request, SimulationOutcome* outcome) {
  if (Refused(manager, request, outcome) || !Normalize(manager, &request, outcome)) return;
  // Before the route: one may be chosen by claims.
  if (RefusedByAccess(manager, &request, outcome)) return;
  const RouteConfiguration* configuration = RoutesOf(manager, resources);
  if (configuration == nullptr) {
    End(CallVerdict::kNotFound, 404, StrCat("no route configuration ", manager.rds().route_config_name()),
        outcome);
    return;
  }
  outcome->steps.push_back({"route configuration", configuration->name()});
  const VirtualHost* host = ChooseVirtualHost(*configuration, request);
  if (host == nullptr) {
    End(CallVerdict::kNotFound, 404, StrCat("no virtual host for ", request.authority), outcome);
    return;
  }
  outcome->steps.push_back({"virtual host", host->name()});
  if (NeedsTls(*host, request)) {
    End(CallVerdict::kRedirect, 301, "", outcome);
    outcome->location = StrCat("https://", request.authority, request.path);
    return;
  }
  const Route* route = ChooseRoute(*host, request, &outcome->notes);
  if (route == nullptr) {
    End(CallVerdict::kNotFound, 404, StrCat("no route of virtual host ", host->name(), " matches"), outcome);
    return;
  }
  outcome->steps.push_back({"route", route->name()});
  TakeRoute(manager, {*configuration, *host, *route}, resources, request, outcome);
}

}  // namespace fairlead::simulate
