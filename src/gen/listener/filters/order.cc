#include "gen/listener/filters/filter.h"

namespace fairlead::gen::listener {
namespace {

// Place in the array is order in the proxy. Source: Istio's buildHTTPConnectionManager.
constexpr HttpFilterBuilder kOrder[] = {
    // First, so that whatever refuses a request below can already be told who sent it.
    AddMetadataExchange,
    AddCustomAccess,
    AddAuthnPlugins,
    AddRequestAuthentication,
    AddAuthzPlugins,
    AddLocalAccess,
    AddStatsPlugins,
    AddOtherPlugins,
    AddEndpointPicker,
    AddGrpcWeb,
    AddGrpcStats,
    AddAlpn,
    // Routes configure these two by typed_per_filter_config; without the filters it would not count.
    AddFault,
    AddCors,
    AddStats,
    AddSessions,
    AddServiceForwardProxy,
    AddCatchAllForwardProxy,
    AddRouter,
};

}  // namespace

std::span<const HttpFilterBuilder> HttpFilterOrder() { return kOrder; }

}  // namespace fairlead::gen::listener
