#include "envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager.pb.h"
#include "gen/listener/filters/filter.h"
#include "proto/messages.h"

namespace fairlead::gen::listener {

void AddCors(const FilterRequest&, HttpFilters* out) {
  auto* filter = out->Add();
  filter->set_name("envoy.filters.http.cors");
  proto::PackEmpty("envoy.extensions.filters.http.cors.v3.Cors", filter->mutable_typed_config());
}

}  // namespace fairlead::gen::listener
