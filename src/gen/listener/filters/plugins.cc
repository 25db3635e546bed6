#include "gen/extension/plugins.h"

#include "envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager.pb.h"
#include "gen/listener/filters/filter.h"

namespace fairlead::gen::listener {
namespace {

using extension::Phase;

void AddPlugins(const FilterRequest& request, Phase phase, HttpFilters* out) {
  const bool server = request.options.traffic == TrafficClass::kInbound;
  extension::AddHttpPlugins(request.traits.plugins, phase, {server, request.options.port},
                            request.traits.HasExtension(extension::kHttpWasm), out);
}

}  // namespace

void AddAuthnPlugins(const FilterRequest& request, HttpFilters* out) {
  AddPlugins(request, Phase::kAuthn, out);
}
void AddAuthzPlugins(const FilterRequest& request, HttpFilters* out) {
  AddPlugins(request, Phase::kAuthz, out);
}
void AddStatsPlugins(const FilterRequest& request, HttpFilters* out) {
  AddPlugins(request, Phase::kStats, out);
}
void AddOtherPlugins(const FilterRequest& request, HttpFilters* out) {
  AddPlugins(request, Phase::kUnspecified, out);
}

}  // namespace fairlead::gen::listener
