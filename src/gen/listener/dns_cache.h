#ifndef FAIRLEAD_GEN_LISTENER_DNS_CACHE_H_
#define FAIRLEAD_GEN_LISTENER_DNS_CACHE_H_

#include <string_view>

namespace envoy::extensions::common::dynamic_forward_proxy::v3 {
class DnsCacheConfig;
}

namespace fairlead::gen::listener {

struct ProxyTraits;

// The DNS caches of dynamic forward proxies. Filters and cluster share a cache by name, and Envoy refuses two
// configurations of one name. These must equal the cluster generator's. Pure.

// For a wildcard service with resolution DYNAMIC_DNS.
void SetServiceDnsCache(const ProxyTraits& traits, std::string_view host,
                        envoy::extensions::common::dynamic_forward_proxy::v3::DnsCacheConfig* out);
// For the outbound traffic policy ALLOW_ANY_DYNAMIC_DNS. Asks the agent's DNS proxy where the proxy captures
// DNS.
void SetCatchAllDnsCache(const ProxyTraits& traits,
                         envoy::extensions::common::dynamic_forward_proxy::v3::DnsCacheConfig* out);

}  // namespace fairlead::gen::listener

#endif  // FAIRLEAD_GEN_LISTENER_DNS_CACHE_H_
