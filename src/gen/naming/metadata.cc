#include "gen/naming/metadata.h"

#include <google/protobuf/struct.pb.h>

#include "base/strings.h"
#include "config/kind.h"
#include "envoy/config/core/v3/base.pb.h"
#include "proto/messages.h"

namespace fairlead::gen {
namespace {

bool IsUpper(char c) { return c >= 'A' && c <= 'Z'; }

// "VirtualService" -> "virtual-service", "HTTPRoute" -> "http-route": a new word starts at a capital that
// follows a small letter or precedes one.
std::string KebabCase(std::string_view kind) {
  std::string out;
  for (size_t i = 0; i < kind.size(); ++i) {
    const bool starts_word = i > 0 && IsUpper(kind[i]) &&
                             (!IsUpper(kind[i - 1]) || (i + 1 < kind.size() && !IsUpper(kind[i + 1])));
    if (starts_word) out.push_back('-');
    out.push_back(IsUpper(kind[i]) ? static_cast<char>(kind[i] - 'A' + 'a') : kind[i]);
  }
  return out;
}

}  // namespace

google::protobuf::Struct* IstioMetadata(envoy::config::core::v3::Metadata* metadata) {
  return &(*metadata->mutable_filter_metadata())[std::string(kIstioMetadata)];
}

std::string ConfigPath(const config::ConfigObject& object) {
  const config::KindInfo& info = config::InfoOf(object.kind());
  return StrCat("/apis/", info.group, "/", info.versions.front(), "/namespaces/", object.ns().str(), "/",
                KebabCase(info.name), "/", object.name().str());
}

void AddConfigMetadata(const config::ConfigObject& object, envoy::config::core::v3::Metadata* metadata) {
  proto::SetString("config", ConfigPath(object), IstioMetadata(metadata));
}

void AddExchangeLabels(const model::Features& features, google::protobuf::Struct* out) {
  if (features.exchange_labels.empty()) return;
  auto* labels = (*out->mutable_fields())["additional_labels"].mutable_list_value();
  for (const std::string& label : features.exchange_labels) labels->add_values()->set_string_value(label);
}

void PackTcpMetadataExchange(const model::Features& features, google::protobuf::Any* out) {
  google::protobuf::Struct config;
  proto::SetString("protocol", "istio-peer-exchange", &config);
  proto::SetBool("enable_discovery", true, &config);
  AddExchangeLabels(features, &config);
  proto::PackTypedStruct("type.googleapis.com/envoy.tcp.metadataexchange.config.MetadataExchange", config,
                         out);
}

void AddServiceMetadata(const model::Service& service, envoy::config::core::v3::Metadata* metadata) {
  auto& services = (*IstioMetadata(metadata)->mutable_fields())["services"];
  auto* entry = services.mutable_list_value()->add_values()->mutable_struct_value();
  proto::SetString("host", service.hostname.str(), entry);
  proto::SetString("name", service.name, entry);
  proto::SetString("namespace", service.ns.str(), entry);
}

}  // namespace fairlead::gen
