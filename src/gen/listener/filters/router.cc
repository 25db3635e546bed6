#include "envoy/extensions/filters/http/router/v3/router.pb.h"
#include "envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager.pb.h"
#include "gen/listener/filters/filter.h"
#include "istio/mesh/v1alpha1/proxy.pb.h"
#include "proto/messages.h"

namespace fairlead::gen::listener {

void AddRouter(const FilterRequest& request, HttpFilters* out) {
  envoy::extensions::filters::http::router::v3::Router config;
  config.set_suppress_envoy_headers(request.config.proxy_headers().envoy_debug_headers().disabled().value());
  auto* filter = out->Add();
  filter->set_name("envoy.filters.http.router");
  proto::Pack(config, filter->mutable_typed_config());
}

}  // namespace fairlead::gen::listener
