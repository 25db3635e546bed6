#include <google/protobuf/struct.pb.h>

#include "envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager.pb.h"
#include "gen/listener/filters/filter.h"
#include "gen/naming/metadata.h"
#include "istio/mesh/v1alpha1/proxy.pb.h"
#include "proto/messages.h"

namespace fairlead::gen::listener {
namespace {

using google::protobuf::ListValue;
using google::protobuf::Struct;
using istio::mesh::v1alpha1::ProxyConfig;

constexpr std::string_view kConfigType = "type.googleapis.com/io.istio.http.peer_metadata.Config";

Struct* AddMethod(const char* method, ListValue* list) {
  Struct* entry = list->add_values()->mutable_struct_value();
  return (*entry->mutable_fields())[method].mutable_struct_value();
}

ListValue* MutableList(const char* key, Struct* out) {
  return (*out->mutable_fields())[key].mutable_list_value();
}

// Peers are told by headers, and found by address where they send none.
Struct Inbound() {
  Struct config;
  ListValue* discovery = MutableList("downstream_discovery", &config);
  AddMethod("istio_headers", discovery);
  AddMethod("workload_discovery", discovery);
  AddMethod("istio_headers", MutableList("downstream_propagation", &config));
  return config;
}

Struct Outbound(bool in_mesh_only) {
  Struct config;
  ListValue* discovery = MutableList("upstream_discovery", &config);
  AddMethod("istio_headers", discovery);
  AddMethod("workload_discovery", discovery);
  Struct* headers = AddMethod("istio_headers", MutableList("upstream_propagation", &config));
  if (in_mesh_only) proto::SetBool("skip_external_clusters", true, headers);
  return config;
}

}  // namespace

void AddMetadataExchange(const FilterRequest& request, HttpFilters* out) {
  constexpr std::string_view kName = "istio.metadata_exchange";
  const model::Features& features = request.traits.settings->features;
  if (!features.metadata_exchange || !request.traits.HasExtension(kName)) return;
  auto* filter = out->Add();
  filter->set_name(std::string(kName));
  const bool in_mesh_only = request.config.proxy_headers().metadata_exchange_headers().mode() ==
                                ProxyConfig::ProxyHeaders::IN_MESH &&
                            !request.options.forward_proxy_port;
  Struct config = request.options.traffic == TrafficClass::kInbound ? Inbound() : Outbound(in_mesh_only);
  AddExchangeLabels(features, &config);
  proto::PackTypedStruct(kConfigType, config, filter->mutable_typed_config());
}

}  // namespace fairlead::gen::listener
