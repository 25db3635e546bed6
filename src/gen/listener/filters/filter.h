#ifndef FAIRLEAD_GEN_LISTENER_FILTERS_FILTER_H_
#define FAIRLEAD_GEN_LISTENER_FILTERS_FILTER_H_

#include <google/protobuf/repeated_ptr_field.h>

#include <span>
#include <string_view>

#include "gen/listener/connection_manager.h"
#include "gen/listener/traits.h"

namespace envoy::extensions::filters::network::http_connection_manager::v3 {
class HttpFilter;
}
namespace istio::mesh::v1alpha1 {
class ProxyConfig;
}

// The HTTP filters of Istio's connection managers: one file a filter, and order.cc for their order.
namespace fairlead::gen::listener {

using HttpFilters = google::protobuf::RepeatedPtrField<
    envoy::extensions::filters::network::http_connection_manager::v3::HttpFilter>;

// The inputs of one connection manager's filters.
struct FilterRequest {
  const ProxyTraits& traits;
  const istio::mesh::v1alpha1::ProxyConfig& config;  // traits.proxy_config, decoded
  const HttpOptions& options;
};

// Appends its filters, or none. Pure.
using HttpFilterBuilder = void (*)(const FilterRequest&, HttpFilters*);

// The builders in the order in which requests pass through what they add.
std::span<const HttpFilterBuilder> HttpFilterOrder();

void AddMetadataExchange(const FilterRequest& request, HttpFilters* out);
// Filters of CUSTOM policies.
void AddCustomAccess(const FilterRequest& request, HttpFilters* out);
void AddRequestAuthentication(const FilterRequest& request, HttpFilters* out);
// Filters of AUDIT, DENY and ALLOW policies.
void AddLocalAccess(const FilterRequest& request, HttpFilters* out);
// Filters of WasmPlugins and TrafficExtensions, by phase.
void AddAuthnPlugins(const FilterRequest& request, HttpFilters* out);
void AddAuthzPlugins(const FilterRequest& request, HttpFilters* out);
void AddStatsPlugins(const FilterRequest& request, HttpFilters* out);
void AddOtherPlugins(const FilterRequest& request, HttpFilters* out);
// Asks the endpoint pickers of InferencePools; routes name them.
void AddEndpointPicker(const FilterRequest& request, HttpFilters* out);
void AddGrpcWeb(const FilterRequest& request, HttpFilters* out);
void AddGrpcStats(const FilterRequest& request, HttpFilters* out);
void AddAlpn(const FilterRequest& request, HttpFilters* out);
void AddFault(const FilterRequest& request, HttpFilters* out);
void AddCors(const FilterRequest& request, HttpFilters* out);
void AddStats(const FilterRequest& request, HttpFilters* out);
// For services with persistent sessions.
void AddSessions(const FilterRequest& request, HttpFilters* out);
void AddServiceForwardProxy(const FilterRequest& request, HttpFilters* out);
void AddCatchAllForwardProxy(const FilterRequest& request, HttpFilters* out);
void AddRouter(const FilterRequest& request, HttpFilters* out);

}  // namespace fairlead::gen::listener

#endif  // FAIRLEAD_GEN_LISTENER_FILTERS_FILTER_H_
