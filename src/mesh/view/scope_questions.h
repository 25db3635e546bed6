#ifndef FAIRLEAD_MESH_VIEW_SCOPE_QUESTIONS_H_
#define FAIRLEAD_MESH_VIEW_SCOPE_QUESTIONS_H_

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mesh/index/question.h"
#include "mesh/view/proxy_scope.h"

// Questions about what a client sees, and what a router serves. See question.h.
namespace fairlead::mesh::questions {

// All of its scope.
struct Routes {
  static const SidecarScopePtr& Answer(const ProxyScope& client) { return client.sidecar; }
};

// Its scope without the HTTP routes.
struct Imports {
  static const ScopeImportsPtr& Answer(const ProxyScope& client) { return client.sidecar->imports; }
};

// A service by its hostname. Null: not imported.
struct Imported {
  static model::ServicePtr Answer(const ProxyScope& client, const Interned& hostname) {
    return client.sidecar->imports->FindService(hostname);
  }
  static Asked<Imports> Wider(const Interned&) { return {}; }
};

// The DestinationRule that it follows for a hostname. Null: none.
struct Rule {
  static DestinationRulePtr Answer(const ProxyScope& client, const Interned& hostname) {
    return client.sidecar->imports->FindDestinationRule(hostname, client.labels);
  }
  // It follows from the imports, unless the client's labels have a say.
  static std::optional<Asked<Imports>> Wider(const ProxyScope& client, const Interned& hostname) {
    if (client.sidecar->imports->RuleDependsOnLabels(hostname)) return std::nullopt;
    return Asked<Imports>();
  }
};

// The one that its workload serves a hostname by. Null: none.
struct InboundRule {
  static DestinationRulePtr Answer(const ProxyScope& client, const Interned& hostname) {
    return client.sidecar->imports->FindDestinationRule(hostname, client.labels, /*outbound=*/false);
  }
};

// The Sidecar object. Null: none.
struct Sidecar {
  static const config::ConfigPtr& Answer(const ProxyScope& client) { return client.sidecar->imports->object; }
};

// Null: it sends nothing outbound.
struct OutboundPolicy {
  static const std::shared_ptr<const istio::networking::v1alpha3::OutboundTrafficPolicy>& Answer(
      const ProxyScope& client) {
    return client.sidecar->imports->outbound_traffic_policy;
  }
};

// Of a router, what it serves: see MergedGateway.

struct GatewayPorts {
  static const std::shared_ptr<const std::vector<GatewayPort>>& Answer(const ProxyScope& client) {
    return client.gateways->ports;
  }
};

// By the name of the route configuration. Null: there is none.
struct GatewayRouteNamed {
  static GatewayRoutePtr Answer(const ProxyScope& client, const Interned& name) {
    const auto found = client.gateways->routes.find(name);
    return found == client.gateways->routes.end() ? nullptr : found->second;
  }
};

struct GatewayNames {
  static const std::shared_ptr<const std::vector<Interned>>& Answer(const ProxyScope& client) {
    return client.gateways->names;
  }
};

// Null: none passes through.
struct GatewayPassthroughHosts {
  static const std::shared_ptr<const std::vector<std::string>>& Answer(const ProxyScope& client) {
    return client.gateways->auto_passthrough_hosts;
  }
};

struct GatewayServers {
  static const std::shared_ptr<const std::vector<GatewayServerPtr>>& Answer(const ProxyScope& client) {
    return client.gateways->servers;
  }
};

using OfScope = Rows<Routes, Imports, Imported, Rule, InboundRule, Sidecar, OutboundPolicy, GatewayPorts,
                     GatewayRouteNamed, GatewayNames, GatewayPassthroughHosts, GatewayServers>;

}  // namespace fairlead::mesh::questions

#endif  // FAIRLEAD_MESH_VIEW_SCOPE_QUESTIONS_H_
