#include "gen/patch/patch.h"

#include <google/protobuf/message.h>
#include <re2/re2.h>

#include <utility>

#include "absl/status/statusor.h"
#include "base/strings.h"
#include "config/read/lua.h"
#include "gen/resource/warn_once.h"
#include "istio/networking/v1alpha3/envoy_filter.pb.h"
#include "proto/json.h"

namespace fairlead::gen::patch {
namespace {

using istio::networking::v1alpha3::EnvoyFilter;

LogScope patch_log("envoyfilter");
using Spec = istio::networking::v1alpha3::EnvoyFilter_EnvoyConfigObjectPatch;

// Longer expressions match nothing, as in Istio: it takes too long to compile them.
constexpr size_t kLongestVersion = 1024;

// Envoy's message that a patch changes; null where there is none.
const char* TypeOf(ApplyTo apply_to) {
  switch (apply_to) {
    case EnvoyFilter::LISTENER:
      return "envoy.config.listener.v3.Listener";
    case EnvoyFilter::FILTER_CHAIN:
      return "envoy.config.listener.v3.FilterChain";
    case EnvoyFilter::NETWORK_FILTER:
      return "envoy.config.listener.v3.Filter";
    case EnvoyFilter::LISTENER_FILTER:
      return "envoy.config.listener.v3.ListenerFilter";
    case EnvoyFilter::HTTP_FILTER:
      return "envoy.extensions.filters.network.http_connection_manager.v3.HttpFilter";
    case EnvoyFilter::ROUTE_CONFIGURATION:
      return "envoy.config.route.v3.RouteConfiguration";
    case EnvoyFilter::VIRTUAL_HOST:
      return "envoy.config.route.v3.VirtualHost";
    case EnvoyFilter::HTTP_ROUTE:
      return "envoy.config.route.v3.Route";
    case EnvoyFilter::CLUSTER:
      return "envoy.config.cluster.v3.Cluster";
    case EnvoyFilter::EXTENSION_CONFIG:
      return "envoy.config.core.v3.TypedExtensionConfig";
    default:
      return nullptr;
  }
}

bool IsInsertion(Operation operation) {
  return operation == EnvoyFilter::Patch::INSERT_BEFORE || operation == EnvoyFilter::Patch::INSERT_AFTER ||
         operation == EnvoyFilter::Patch::INSERT_FIRST;
}

Operation OperationOf(const Spec& spec) {
  const Operation written = spec.patch().operation();
  switch (spec.apply_to()) {
    case EnvoyFilter::HTTP_FILTER:
    case EnvoyFilter::NETWORK_FILTER:
    case EnvoyFilter::HTTP_ROUTE:
    case EnvoyFilter::LISTENER_FILTER:
      return written;
    default:
      return IsInsertion(written) ? EnvoyFilter::Patch::ADD : written;
  }
}

// Null, with the reason in `why`, where the value is no message of the type. Fields that the type does not
// have are passed over: they may be of another version of Envoy's API.
std::shared_ptr<const google::protobuf::Message> ReadValue(const Spec& spec, const char* type,
                                                           std::string* why) {
  using google::protobuf::DescriptorPool;
  using google::protobuf::MessageFactory;
  const auto json = proto::ToJson("google.protobuf.Struct", spec.patch().value().SerializeAsString());
  const auto bytes = json.ok() ? proto::FromJson(type, *json) : json;
  if (!bytes.ok()) {
    *why = std::string(bytes.status().message());
    return nullptr;
  }
  const auto* descriptor = DescriptorPool::generated_pool()->FindMessageTypeByName(type);
  std::shared_ptr<google::protobuf::Message> message(
      MessageFactory::generated_factory()->GetPrototype(descriptor)->New());
  if (message->ParseFromString(*bytes)) return message;
  *why = "not the encoding of its type";
  return nullptr;
}

void SetProxyVersion(const std::string& version, Patch* out) {
  if (version.empty()) return;
  out->for_no_proxy = version.size() > kLongestVersion;
  if (!out->for_no_proxy) out->proxy_version = std::make_shared<const re2::RE2>(version, RE2::Quiet);
  // As in Istio, whose validation lets no such expression through, it matches everybody.
  if (out->proxy_version != nullptr && !out->proxy_version->ok()) out->proxy_version = nullptr;
}

// False where the patch cannot be read.
bool Read(const Spec& spec, Patch* out, std::string* why) {
  const char* type = TypeOf(spec.apply_to());
  if (type == nullptr) return false;
  out->spec = &spec;
  out->apply_to = spec.apply_to();
  out->operation = OperationOf(spec);
  SetProxyVersion(spec.match().proxy().proxy_version(), out);
  if (spec.patch().has_value()) {
    if (!config::FindLuaMistakes(spec.patch().value()).empty()) return false;  // a diagnostic says so
    out->value = ReadValue(spec, type, why);
    return out->value != nullptr;
  }
  if (out->Removes()) return true;
  *why = "it has no value";
  return false;
}

bool Renames(const Patch& patch) {
  if (!patch.Merges() && patch.operation != EnvoyFilter::Patch::REPLACE) return false;
  const auto* descriptor = patch.value->GetDescriptor();
  const auto* reflection = patch.value->GetReflection();
  for (const char* field : {"name", "address"}) {
    const auto* found = descriptor->FindFieldByName(field);
    if (found != nullptr && reflection->HasField(*patch.value, found)) return true;
  }
  return false;
}

bool NamesWhatIsMade(ApplyTo apply_to) {
  return apply_to == EnvoyFilter::LISTENER || apply_to == EnvoyFilter::CLUSTER ||
         apply_to == EnvoyFilter::ROUTE_CONFIGURATION;
}

}  // namespace

const Match& Patch::match() const { return spec->match(); }
bool Patch::Adds() const { return operation == EnvoyFilter::Patch::ADD; }
bool Patch::Removes() const { return operation == EnvoyFilter::Patch::REMOVE; }
bool Patch::Merges() const {
  return operation == EnvoyFilter::Patch::MERGE || operation == EnvoyFilter::Patch::MERGE_AND_REPLACE_LIST;
}

bool Patch::ReplacesLists() const { return operation == EnvoyFilter::Patch::MERGE_AND_REPLACE_LIST; }

bool Patch::IsFor(Side side) const {
  switch (spec->match().context()) {
    case EnvoyFilter::ANY: {
      const bool whole = apply_to == EnvoyFilter::LISTENER || apply_to == EnvoyFilter::CLUSTER;
      return !(whole && Adds() && side == Side::kInbound);
    }
    case EnvoyFilter::SIDECAR_INBOUND:
      return side == Side::kInbound;
    case EnvoyFilter::SIDECAR_OUTBOUND:
      return side == Side::kOutbound;
    case EnvoyFilter::GATEWAY:
      return side == Side::kGateway;
    default:
      return false;
  }
}

PatchList ReadPatches(const config::ConfigPtr& object) {
  const auto& filter = object->Spec<EnvoyFilter>();
  PatchList patches;
  for (int i = 0; i < filter.config_patches_size(); ++i) {
    auto patch = std::make_shared<Patch>();
    patch->object = object;
    std::string why;
    if (Read(filter.config_patches(i), patch.get(), &why)) {
      patches.push_back(std::move(patch));
    } else if (!why.empty()) {
      WarnOnce(patch_log, StrCat("EnvoyFilter ", object->ns().str(), "/", object->name().str(),
                                 ": spec.configPatches[", i, "].patch.value is left out: ", why));
    }
  }
  return patches;
}

PatchSet::PatchSet(Side side, PatchList all) : side_(side), all_(std::move(all)) {
  for (const PatchPtr& patch : all_) {
    by_apply_to_[static_cast<size_t>(patch->apply_to)].push_back(patch.get());
    renames_ |= NamesWhatIsMade(patch->apply_to) && Renames(*patch);
  }
}

void AddOrigins(const PatchSet& patches, OriginList* out) {
  for (const PatchPtr& patch : patches.all()) out->Add(patch->object);
}

}  // namespace fairlead::gen::patch
