#include "envoy/extensions/filters/http/ext_proc/v3/ext_proc.pb.h"
#include "envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager.pb.h"
#include "gen/listener/filters/filter.h"
#include "gen/naming/inference_pool.h"
#include "proto/messages.h"

namespace fairlead::gen::listener {
namespace {

namespace ext_proc = envoy::extensions::filters::http::ext_proc::v3;

constexpr int64_t kCallSeconds = 10;
constexpr int64_t kMessageSeconds = 1000;

}  // namespace

// Does nothing where a route does not say otherwise, and its cluster is nobody's. Source: Istio's
// InferencePoolExtProc.
void AddEndpointPicker(const FilterRequest& request, HttpFilters* out) {
  if (!request.traits.picks_endpoints) return;
  ext_proc::ExternalProcessor config;
  config.mutable_grpc_service()->mutable_envoy_grpc()->set_cluster_name("dummy");
  config.mutable_grpc_service()->mutable_timeout()->set_seconds(kCallSeconds);
  config.set_failure_mode_allow(true);
  config.mutable_processing_mode()->set_request_header_mode(ext_proc::ProcessingMode::SKIP);
  config.mutable_processing_mode()->set_response_header_mode(ext_proc::ProcessingMode::SKIP);
  config.mutable_message_timeout()->set_seconds(kMessageSeconds);
  auto* metadata = config.mutable_metadata_options();
  metadata->mutable_receiving_namespaces()->add_untyped(std::string(kPickedNamespace));
  metadata->mutable_forwarding_namespaces()->add_untyped(std::string(kPickedNamespace));
  auto* filter = out->Add();
  filter->set_name(std::string(kEndpointPickerFilter));
  proto::Pack(config, filter->mutable_typed_config());
}

}  // namespace fairlead::gen::listener
