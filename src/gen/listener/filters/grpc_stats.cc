#include "envoy/extensions/filters/http/grpc_stats/v3/config.pb.h"
#include "envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager.pb.h"
#include "gen/listener/filters/filter.h"
#include "proto/messages.h"

namespace fairlead::gen::listener {

// Counts messages for Istio's own statistics (through filter state), not a statistic for each method.
void AddGrpcStats(const FilterRequest&, HttpFilters* out) {
  envoy::extensions::filters::http::grpc_stats::v3::FilterConfig config;
  config.set_emit_filter_state(true);
  config.mutable_stats_for_all_methods()->set_value(false);
  auto* filter = out->Add();
  filter->set_name("envoy.filters.http.grpc_stats");
  proto::Pack(config, filter->mutable_typed_config());
}

}  // namespace fairlead::gen::listener
