#include <google/protobuf/any.pb.h>

#include "envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager.pb.h"
#include "gen/listener/filters/filter.h"
#include "gen/telemetry/metrics.h"

namespace fairlead::gen::listener {

void AddStats(const FilterRequest& request, HttpFilters* out) {
  for (const google::protobuf::Any& config :
       telemetry::StatsConfigs(request.traits, request.options.traffic)) {
    auto* filter = out->Add();
    filter->set_name(std::string(telemetry::kStatsFilter));
    *filter->mutable_typed_config() = config;
  }
}

}  // namespace fairlead::gen::listener
