#ifndef FAIRLEAD_GEN_LISTENER_TRAITS_H_
#define FAIRLEAD_GEN_LISTENER_TRAITS_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/interned.h"
#include "gen/extension/plugins.h"
#include "gen/generator.h"
#include "gen/route/catch_all.h"
#include "gen/security/access.h"
#include "gen/telemetry/traits.h"
#include "model/proxy.h"

namespace fairlead::gen::listener {

// The certificate files that a proxy serves with instead of its workload certificate. Source: node metadata
// TLS_SERVER_*.
struct ServerFiles {
  Interned certificate_chain, key, root;
  bool from_file_sds = false;  // metadata "file-credential": the agent's second SDS server reads them
  friend bool operator==(const ServerFiles&, const ServerFiles&) = default;
};

// Everything about a proxy that the contents of its listeners depend on. It is equal for the workloads of a
// deployment, and for most of a namespace. A plain value; no addresses and no pod names. Its ProxyConfig is
// cut down to what listeners read.
struct ProxyTraits : telemetry::Traits {
  route::CatchAll catch_all;  // what happens to unknown destinations
  model::InterceptionMode interception = model::InterceptionMode::kRedirect;  // never kUnset
  bool ipv4 = true, ipv6 = false;
  bool http10 = false;
  bool inbound_exact_balance = false, outbound_exact_balance = false;
  std::optional<int64_t> idle_timeout;  // nanoseconds
  Interned dns_proxy;                   // "host:port" of the agent's DNS proxy, where DNS is captured
  ServerFiles server_files;
  extension::Plugins plugins;  // WasmPlugins and TrafficExtensions, in the order of their filters
  // Only for inbound listeners and routers. Otherwise empty, so that outbound listeners are equal whatever
  // the policies.
  security::Access access;
  std::vector<std::string> internal_ranges;  // of a router: whose clients count as internal
  bool picks_endpoints = false;              // of a gateway: routes of it lead to InferencePools

  friend bool operator==(const ProxyTraits&, const ProxyTraits&) = default;
  template <typename H>
  friend H AbslHashValue(H h, const ProxyTraits& t) {
    return H::combine(std::move(h), t.settings.get(), t.extensions.get(), t.proxy_config,
                      t.tags.canonical_service, t.tags.canonical_revision, t.tags.ns, t.service_cluster,
                      t.catch_all.mode, t.catch_all.cluster, t.telemetry.objects.size(), t.version.minor,
                      t.ipv4, t.ipv6, t.http10, t.access, t.plugins);
  }
};

ProxyTraits CollectTraits(mesh::View& view);
// The traits without the fields for connection managers, so that workloads with no other difference are
// equal.
ProxyTraits L4Traits(ProxyTraits traits);

// The addresses that stand for "all" and "this host" in a proxy's IP families, the primary first.
// Source: Istio's getWildcardsAndLocalHost.
std::vector<std::string> WildcardAddresses(const ProxyTraits& traits);
std::vector<std::string> LocalhostAddresses(const ProxyTraits& traits);

// The addresses of a listener in use: the first of two families, or both with dual stack.
std::span<const std::string> Served(const ProxyTraits& traits, std::span<const std::string> binds);

}  // namespace fairlead::gen::listener

#endif  // FAIRLEAD_GEN_LISTENER_TRAITS_H_
