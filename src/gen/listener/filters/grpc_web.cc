#include "envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager.pb.h"
#include "gen/listener/filters/filter.h"
#include "proto/messages.h"

namespace fairlead::gen::listener {

// The connection manager is shared by all services of a port: the first one's protocol decides.
void AddGrpcWeb(const FilterRequest& request, HttpFilters* out) {
  if (request.options.protocol != model::Protocol::kGrpcWeb) return;
  auto* filter = out->Add();
  filter->set_name("envoy.filters.http.grpc_web");
  proto::PackEmpty("envoy.extensions.filters.http.grpc_web.v3.GrpcWeb", filter->mutable_typed_config());
}

}  // namespace fairlead::gen::listener
