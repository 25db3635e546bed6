#include "gen/object/build.h"

#include <google/protobuf/struct.pb.h>

#include <limits>

#include "base/hash.h"
#include "base/json.h"
#include "base/strings.h"
#include "config/kind.h"
#include "config/read/tree_json.h"
#include "config/tree.h"
#include "istio/mcp/v1alpha1/resource.pb.h"
#include "istio/networking/v1alpha3/service_entry.pb.h"
#include "model/protocol.h"
#include "proto/json.h"
#include "proto/messages.h"

namespace fairlead::gen::object {
namespace {

using istio::mcp::v1alpha1::Metadata;
using istio::mcp::v1alpha1::Resource;
using istio::networking::v1alpha3::ServiceEntry;

void SetCreateTime(int64_t unix_seconds, Metadata* out) {
  using Limits = std::numeric_limits<int64_t>;
  if (unix_seconds != Limits::max() && unix_seconds != Limits::min())
    out->mutable_create_time()->set_seconds(unix_seconds);
}

template <typename Map>
void SetLabels(const LabelMap& labels, Map* out) {
  for (const auto& [key, value] : labels) (*out)[key] = value;
}

// A document's specification as a google.protobuf.Struct; empty where JSON cannot be made of it.
google::protobuf::Struct StructOf(config::Node spec) {
  google::protobuf::Struct out;
  const auto bytes = proto::FromJson("google.protobuf.Struct", JsonText(config::ToJson(spec)));
  if (bytes.ok()) out.ParseFromString(*bytes);
  return out;
}

void BuildObject(const config::ConfigObject& object, Resource* out) {
  const config::ObjectMeta& meta = object.meta();
  Metadata& metadata = *out->mutable_metadata();
  metadata.set_name(NameOf(object));
  metadata.set_version(meta.resource_version.empty() ? ToHex(object.content_hash()) : meta.resource_version);
  SetCreateTime(meta.creation_time, &metadata);
  SetLabels(meta.labels, metadata.mutable_labels());
  SetLabels(meta.annotations, metadata.mutable_annotations());
  if (config::InfoOf(object.kind()).payload == config::PayloadType::kProto) {
    proto::Pack(object.Spec<google::protobuf::Message>(), out->mutable_body());
  } else {
    proto::Pack(StructOf(object.Spec<config::Tree>().Find("spec")), out->mutable_body());
  }
}

ServiceEntry::Resolution ResolutionOf(model::Resolution resolution) {
  switch (resolution) {
    case model::Resolution::kClientSideLb:
      return ServiceEntry::STATIC;
    case model::Resolution::kDnsLb:
      return ServiceEntry::DNS;
    case model::Resolution::kDnsRoundRobinLb:
      return ServiceEntry::DNS_ROUND_ROBIN;
    case model::Resolution::kDynamicDns:
      return ServiceEntry::DYNAMIC_DNS;
    case model::Resolution::kPassthrough:
    case model::Resolution::kAlias:
      return ServiceEntry::NONE;
  }
  return ServiceEntry::NONE;
}

ServiceEntry EntryOf(const model::Service& service, const std::vector<std::string>& addresses) {
  ServiceEntry entry;
  entry.add_hosts(service.hostname.str());
  for (const std::string& address : addresses) entry.add_addresses(address);
  for (const std::string& account : service.service_accounts) entry.add_subject_alt_names(account);
  if (!service.selector.empty())
    SetLabels(service.selector, entry.mutable_workload_selector()->mutable_labels());
  if (service.visibility.everywhere) entry.add_export_to("*");
  for (const std::string& ns : service.visibility.namespaces) entry.add_export_to(ns);
  entry.set_location(service.mesh_external ? ServiceEntry::MESH_EXTERNAL : ServiceEntry::MESH_INTERNAL);
  entry.set_resolution(ResolutionOf(service.resolution));
  for (const model::ServicePort& port : service.ports) {
    auto& out = *entry.add_ports();
    out.set_number(port.port);
    out.set_name(port.name);
    out.set_protocol(std::string(model::ToString(port.protocol)));
  }
  return entry;
}

void BuildService(const ObjectInputs& inputs, Resource* out) {
  const model::Service& service = *inputs.service;
  const ServiceEntry entry = EntryOf(service, inputs.addresses);
  proto::Pack(entry, out->mutable_body());
  Metadata& metadata = *out->mutable_metadata();
  metadata.set_name(SyntheticNameOf(service));
  SetCreateTime(service.creation_time, &metadata);
  const std::string version = service.source == nullptr ? "" : service.source->meta().resource_version;
  metadata.set_version(version.empty() ? ToHex(StableHash(out->body().value())) : version);
}

}  // namespace

std::string NameOf(const config::ConfigObject& object) {
  return StrCat(object.ns().str(), "/", object.name().str());
}

std::string SyntheticNameOf(const model::Service& service) {
  return StrCat(service.ns.str(), "/synthetic-", service.name);
}

void BuildResource(const ObjectInputs& inputs, Resource* out) {
  inputs.object != nullptr ? BuildObject(*inputs.object, out) : BuildService(inputs, out);
}

}  // namespace fairlead::gen::object
