#include "envoy/extensions/filters/http/dynamic_forward_proxy/v3/dynamic_forward_proxy.pb.h"
#include "envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager.pb.h"
#include "gen/listener/dns_cache.h"
#include "gen/listener/filters/filter.h"
#include "proto/messages.h"

namespace fairlead::gen::listener {
namespace {

using ForwardProxy = envoy::extensions::filters::http::dynamic_forward_proxy::v3::FilterConfig;

void Add(const ForwardProxy& config, HttpFilters* out) {
  auto* filter = out->Add();
  filter->set_name("envoy.filters.http.dynamic_forward_proxy");
  proto::Pack(config, filter->mutable_typed_config());
}

}  // namespace

// For a wildcard ServiceEntry of resolution DYNAMIC_DNS: its cluster finds hosts in the same cache.
void AddServiceForwardProxy(const FilterRequest& request, HttpFilters* out) {
  if (request.options.dynamic_dns_host.empty()) return;
  ForwardProxy config;
  SetServiceDnsCache(request.traits, request.options.dynamic_dns_host, config.mutable_dns_cache_config());
  Add(config, out);
}

// On every outbound connection manager, since each one's routes end in the catch-all virtual host.
void AddCatchAllForwardProxy(const FilterRequest& request, HttpFilters* out) {
  if (request.options.traffic != TrafficClass::kOutbound) return;
  if (request.traits.catch_all.mode != route::CatchAllMode::kDynamicDns) return;
  ForwardProxy config;
  SetCatchAllDnsCache(request.traits, config.mutable_dns_cache_config());
  Add(config, out);
}

}  // namespace fairlead::gen::listener
