#include "envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager.pb.h"
#include "gen/listener/filters/filter.h"
#include "proto/messages.h"

namespace fairlead::gen::listener {

void AddFault(const FilterRequest&, HttpFilters* out) {
  auto* filter = out->Add();
  filter->set_name("envoy.filters.http.fault");
  proto::PackEmpty("envoy.extensions.filters.http.fault.v3.HTTPFault", filter->mutable_typed_config());
}

}  // namespace fairlead::gen::listener
