#include "source/mcp/mcp_messages.h"

#include <google/protobuf/struct.pb.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "base/json.h"
#include "base/strings.h"
#include "config/diagnostic.h"
#include "envoy/service/discovery/v3/discovery.pb.h"
#include "istio/mcp/v1alpha1/resource.pb.h"
#include "proto/json.h"
#include "source/mcp/plain_numbers.h"

namespace fairlead::source {
namespace {

using envoy::service::discovery::v3::DeltaDiscoveryRequest;
using envoy::service::discovery::v3::DeltaDiscoveryResponse;
using envoy::service::discovery::v3::DiscoveryRequest;
using envoy::service::discovery::v3::DiscoveryResponse;
using istio::mcp::v1alpha1::Resource;

constexpr char kStructType[] = "google.protobuf.Struct";
constexpr int kInvalidArgument = 3;  // google.rpc.Code

// Of both forms of requests.
template <typename Request>
void SetCommon(const McpRequest& request, Request* out) {
  out->set_type_url(request.type_url);
  out->set_response_nonce(request.nonce);
  if (!request.node.empty()) {
    out->mutable_node()->set_id(request.node);
    (*out->mutable_node()->mutable_metadata()->mutable_fields())["GENERATOR"].set_string_value("api");
  }
  if (!request.error.empty()) {
    out->mutable_error_detail()->set_code(kInvalidArgument);
    out->mutable_error_detail()->set_message(request.error);
  }
}

McpResource ResourceOf(const google::protobuf::Any& any) {
  Resource resource;
  if (!any.Is<Resource>() || !any.UnpackTo(&resource)) return {};
  return {resource.metadata().name(), "", any.value()};
}

std::string_view TypeOf(const google::protobuf::Any& any) {
  const std::string_view url = any.type_url();
  return url.substr(url.rfind('/') + 1);
}

template <typename Map>
nlohmann::ordered_json TextsOf(const Map& texts) {
  nlohmann::ordered_json out = nlohmann::ordered_json::object();
  for (const auto& [key, value] : texts) out[key] = value;
  return out;
}

nlohmann::ordered_json MetadataOf(const istio::mcp::v1alpha1::Metadata& metadata,
                                  const McpManifest& manifest) {
  nlohmann::ordered_json out;
  out["name"] = manifest.name;
  if (!manifest.ns.empty()) out["namespace"] = manifest.ns;
  if (!metadata.version().empty()) out["resourceVersion"] = metadata.version();
  if (!metadata.labels().empty()) out["labels"] = TextsOf(metadata.labels());
  if (!metadata.annotations().empty()) out["annotations"] = TextsOf(metadata.annotations());
  if (metadata.has_create_time())
    out["creationTimestamp"] = config::UtcText(metadata.create_time().seconds());
  return out;
}

}  // namespace

std::string EncodeMcpRequest(const McpRequest& request, bool delta) {
  if (!delta) {
    DiscoveryRequest out;
    SetCommon(request, &out);
    out.set_version_info(request.version);
    return out.SerializeAsString();
  }
  DeltaDiscoveryRequest out;
  SetCommon(request, &out);
  for (const auto& [name, version] : request.initial_versions)
    (*out.mutable_initial_resource_versions())[name] = version;
  return out.SerializeAsString();
}

std::optional<McpResponse> DecodeMcpResponse(std::string_view bytes, bool delta) {
  McpResponse out;
  if (!delta) {
    DiscoveryResponse response;
    if (!response.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return std::nullopt;
    out.type_url = response.type_url();
    out.version = response.version_info();
    out.nonce = response.nonce();
    for (const google::protobuf::Any& any : response.resources()) out.resources.push_back(ResourceOf(any));
    return out;
  }
  DeltaDiscoveryResponse response;
  if (!response.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return std::nullopt;
  out.type_url = response.type_url();
  out.version = response.system_version_info();
  out.nonce = response.nonce();
  for (const auto& one : response.resources()) {
    McpResource resource = ResourceOf(one.resource());
    resource.version = one.version();
    out.resources.push_back(std::move(resource));
  }
  for (const std::string& name : response.removed_resources()) out.removed.push_back(name);
  return out;
}

absl::StatusOr<McpManifest> ManifestOf(const config::KindInfo& kind, std::string_view bytes) {
  Resource resource;
  if (!resource.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    return absl::InvalidArgumentError("the resource is malformed");
  McpManifest manifest;
  const std::string_view name = resource.metadata().name();
  const size_t slash = name.find('/');
  if (slash == std::string_view::npos || slash + 1 == name.size() || (slash == 0) == kind.namespaced)
    return absl::InvalidArgumentError("the name is not NAMESPACE/NAME");
  manifest.ns = name.substr(0, slash);
  manifest.name = name.substr(slash + 1);
  const bool typed = kind.payload == config::PayloadType::kProto;
  const std::string_view wanted = typed ? kind.message : kStructType;
  if (TypeOf(resource.body()) != wanted)
    return absl::InvalidArgumentError(
        ToAbsl(StrCat("the body is a ", TypeOf(resource.body()), ", not a ", wanted)));
  const absl::StatusOr<std::string> spec = proto::ToJson(wanted, resource.body().value());
  if (!spec.ok()) return spec.status();
  nlohmann::ordered_json document;
  document["apiVersion"] = StrCat(kind.group, "/", kind.versions.front());
  document["kind"] = kind.name;
  document["metadata"] = MetadataOf(resource.metadata(), manifest);
  nlohmann::ordered_json& fields = document["spec"];
  fields = ParseOrderedJson(*spec).value_or(nlohmann::ordered_json::object());
  if (typed) UnquoteNumbers(kind.message, &fields);
  manifest.text = JsonText(document);
  return manifest;
}

}  // namespace fairlead::source
