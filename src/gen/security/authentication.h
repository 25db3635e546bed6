#ifndef FAIRLEAD_GEN_SECURITY_AUTHENTICATION_H_
#define FAIRLEAD_GEN_SECURITY_AUTHENTICATION_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "config/object.h"
#include "model/key_sets.h"

namespace envoy::extensions::filters::network::http_connection_manager::v3 {
class HttpFilter;
}

namespace fairlead::mesh {
class View;
}

namespace fairlead::gen::security {

// The RequestAuthentications that hold for a workload, with the keys that they do not bring themselves. A
// plain value, comparable: part of the Inputs of listeners. Empty for a workload without such policies.
struct Authentication {
  std::vector<config::ConfigPtr> policies;
  // The key servers of proxies, one for each rule in the order of policies and rules: a cluster, or "" for
  // served keys. Empty: proxies fetch none.
  std::vector<std::string> clusters;
  // One for each rule that is served keys and has none inline, in that order. Null: not known.
  std::vector<model::KeySetPtr> keys;
  bool router = false;  // routes may be chosen by claims that come to light in the filter

  bool empty() const { return policies.empty(); }
  friend bool operator==(const Authentication&, const Authentication&) = default;
  template <typename H>
  friend H AbslHashValue(H h, const Authentication& a) {
    return H::combine(std::move(h), a.policies, a.clusters, a.keys, a.router);
  }
};

Authentication CollectAuthentication(mesh::View& view);

// The filter that verifies tokens: one provider for each rule, in the order of their issuers. A request
// without a token passes; one with a token that no provider accepts does not. nullopt: there are no rules.
// A rule whose keys are not known accepts no token. Pure. Source: Istio's convertToEnvoyJwtConfig; API:
// RequestAuthentication.
std::optional<envoy::extensions::filters::network::http_connection_manager::v3::HttpFilter> BuildTokenFilter(
    const Authentication& authentication);

}  // namespace fairlead::gen::security

#endif  // FAIRLEAD_GEN_SECURITY_AUTHENTICATION_H_
