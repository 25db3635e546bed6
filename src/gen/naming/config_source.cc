#include "gen/naming/config_source.h"

#include "envoy/config/core/v3/config_source.pb.h"

namespace fairlead::gen {
namespace {

namespace core = envoy::config::core::v3;
using Kind = model::ConfigSource::Kind;

void SetRest(const model::ConfigSource& source, core::ApiConfigSource* out) {
  out->set_api_type(core::ApiConfigSource::REST);
  out->add_cluster_names(source.cluster.str());
  out->mutable_refresh_delay()->set_seconds(1);
  out->mutable_request_timeout()->set_seconds(30);
}

void SetGrpc(const model::ConfigSource& source, core::ApiConfigSource* out) {
  out->set_api_type(source.kind == Kind::kGrpc ? core::ApiConfigSource::GRPC
                                               : core::ApiConfigSource::DELTA_GRPC);
  out->set_set_node_on_first_message_only(true);
  out->add_grpc_services()->mutable_envoy_grpc()->set_cluster_name(source.cluster.str());
}

}  // namespace

void SetConfigSource(const model::ConfigSource& source, core::ConfigSource* out) {
  out->set_resource_api_version(core::V3);
  if (source.kind == Kind::kAds) {
    out->mutable_ads();
    return;
  }
  core::ApiConfigSource* api = out->mutable_api_config_source();
  api->set_transport_api_version(core::V3);
  source.kind == Kind::kRest ? SetRest(source, api) : SetGrpc(source, api);
}

}  // namespace fairlead::gen
