#include "gen/listener/dns_cache.h"

#include <charconv>
#include <string>

#include "envoy/extensions/common/dynamic_forward_proxy/v3/dns_cache.pb.h"
#include "envoy/extensions/network/dns_resolver/cares/v3/cares_dns_resolver.pb.h"
#include "gen/listener/traits.h"
#include "gen/naming/cluster_name.h"
#include "gen/naming/lookup_family.h"
#include "proto/messages.h"

namespace fairlead::gen::listener {
namespace {

using envoy::config::cluster::v3::Cluster;
using envoy::extensions::common::dynamic_forward_proxy::v3::DnsCacheConfig;

Cluster::DnsLookupFamily FamilyOf(const ProxyTraits& traits) {
  return LookupFamily(traits.settings->features, traits.ipv4, traits.ipv6);
}

struct HostPort {
  std::string host = "127.0.0.1";
  uint32_t port = 15053;
};

// "host:port", "[host]:port"; the agent's default address where it cannot be read.
HostPort ParseHostPort(std::string_view text) {
  HostPort result;
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return result;
  std::string_view host = text.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) {
    host = host.substr(1, host.size() - 2);
  } else if (host.find(':') != std::string_view::npos) {
    return result;
  }
  result.host = host == "localhost" ? "127.0.0.1" : std::string(host);
  const std::string_view port = text.substr(colon + 1);
  uint32_t number = 0;
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), number);
  if (error == std::errc() && end == port.data() + port.size()) result.port = number;
  return result;
}

}  // namespace

void SetServiceDnsCache(const ProxyTraits& traits, std::string_view host, DnsCacheConfig* out) {
  out->set_name(DnsCacheName(host));
  out->set_dns_lookup_family(FamilyOf(traits));
}

void SetCatchAllDnsCache(const ProxyTraits& traits, DnsCacheConfig* out) {
  out->set_name(std::string(kAllowAnyDnsCache));
  out->set_dns_lookup_family(FamilyOf(traits));
  out->mutable_max_hosts()->set_value(static_cast<uint32_t>(traits.settings->features.dynamic_dns_hosts));
  if (traits.dns_proxy.empty()) return;
  const HostPort resolver = ParseHostPort(traits.dns_proxy);
  envoy::extensions::network::dns_resolver::cares::v3::CaresDnsResolverConfig config;
  proto::SetSocketAddress(resolver.host, resolver.port, config.add_resolvers()->mutable_socket_address());
  out->mutable_typed_dns_resolver_config()->set_name("envoy.network.dns_resolver.cares");
  proto::Pack(config, out->mutable_typed_dns_resolver_config()->mutable_typed_config());
}

}  // namespace fairlead::gen::listener
