#ifndef FAIRLEAD_GEN_SECURITY_ACCESS_FILTERS_H_
#define FAIRLEAD_GEN_SECURITY_ACCESS_FILTERS_H_

#include <vector>

#include "gen/security/authorization.h"

namespace envoy::config::listener::v3 {
class Filter;
}
namespace envoy::extensions::filters::network::http_connection_manager::v3 {
class HttpFilter;
}

namespace fairlead::gen::security {

// The filters of one place in a chain.
struct AccessChain {
  // Filters of CUSTOM policies stand before authentication. Filters of AUDIT, DENY and ALLOW stand behind it,
  // in that order.
  bool custom = false;
  bool tcp_rules = false;             // of HTTP filters: rules as a TCP chain has them
  bool peer_in_filter_state = false;  // see AccessForm
};

// The filters that enforce the policies in a connection manager, and in a chain of network filters. Pure.
// Source: Istio's authz builder.
std::vector<envoy::extensions::filters::network::http_connection_manager::v3::HttpFilter> BuildHttpAccess(
    const Authorization& authorization, const AccessChain& chain);
std::vector<envoy::config::listener::v3::Filter> BuildNetworkAccess(const Authorization& authorization,
                                                                    const AccessChain& chain);

}  // namespace fairlead::gen::security

#endif  // FAIRLEAD_GEN_SECURITY_ACCESS_FILTERS_H_
