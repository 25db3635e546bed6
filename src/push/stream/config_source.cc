#include "push/stream/config_source.h"

#include <google/protobuf/any.pb.h>
#include <google/protobuf/message.h>

#include <memory>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "base/percent.h"
#include "base/strings.h"
#include "envoy/config/core/v3/config_source.pb.h"
#include "proto/messages.h"

namespace fairlead::push {
namespace {

namespace core = envoy::config::core::v3;
using core::ConfigSource;
using Kind = model::ConfigSource::Kind;
using google::protobuf::Any;
using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

// The messages that hold a ConfigSource, the type that it is for, and the field that names the resource. An
// empty name is that of the message around.
struct Holder {
  std::string_view message;
  xds::TypeId type;
  const char* name_field;
};
constexpr Holder kHolders[] = {
    {"envoy.config.cluster.v3.Cluster.EdsClusterConfig", xds::TypeId::kEndpoint, "service_name"},
    {"envoy.extensions.filters.network.http_connection_manager.v3.Rds", xds::TypeId::kRoute,
     "route_config_name"},
    {"envoy.config.core.v3.ExtensionConfigSource", xds::TypeId::kExtension, nullptr},
    {"envoy.extensions.transport_sockets.tls.v3.SdsSecretConfig", xds::TypeId::kSecret, "name"},
};

constexpr size_t kLongestName = 200;  // of a file, in bytes

void SetRest(std::string_view cluster, core::ApiConfigSource* out) {
  out->set_api_type(core::ApiConfigSource::REST);
  out->add_cluster_names(std::string(cluster));
  out->mutable_refresh_delay()->set_seconds(1);
  out->mutable_request_timeout()->set_seconds(30);
}

void SetGrpc(std::string_view cluster, core::ApiConfigSource::ApiType type, core::ApiConfigSource* out) {
  out->set_api_type(type);
  out->set_set_node_on_first_message_only(true);
  out->add_grpc_services()->mutable_envoy_grpc()->set_cluster_name(std::string(cluster));
}

// The source of the resource of this type and name, as Envoy reads it. What says how long to wait stays as it
// is.
void SetSource(const model::ConfigSource& source, xds::TypeId type, std::string_view name,
               ConfigSource* out) {
  out->set_resource_api_version(core::V3);
  if (source.kind == Kind::kFiles)
    return out->mutable_path_config_source()->set_path(ResourcePath(source.where.str(), type, name));
  core::ApiConfigSource* api = out->mutable_api_config_source();
  api->set_transport_api_version(core::V3);
  if (source.kind == Kind::kRest) return SetRest(source.where.str(), api);
  SetGrpc(source.where.str(),
          source.kind == Kind::kGrpc ? core::ApiConfigSource::GRPC : core::ApiConfigSource::DELTA_GRPC, api);
}

const Holder* FindHolder(const Descriptor* message) {
  for (const Holder& holder : kHolders) {
    if (message->full_name() == holder.message) return &holder;
  }
  return nullptr;
}

std::string TextOf(const Message& message, const char* name) {
  const FieldDescriptor* field = message.GetDescriptor()->FindFieldByName(name);
  if (field == nullptr || field->cpp_type() != FieldDescriptor::CPPTYPE_STRING || field->is_repeated())
    return "";
  return message.GetReflection()->GetString(message, field);
}

// Walks a message and what is packed into it.
class Walk {
 public:
  explicit Walk(const model::ConfigSource& source) : source_(source) {}

  // `name`: that of the closest message around that has one. True where something was changed.
  bool Visit(Message* message, const std::string& name) {
    if (message->GetDescriptor() == Any::descriptor()) return Packed(static_cast<Any*>(message), name);
    if (const Holder* holder = FindHolder(message->GetDescriptor())) return Source(*holder, message, name);
    const std::string own = TextOf(*message, "name");
    const std::string& closest = own.empty() ? name : own;
    const Reflection* reflection = message->GetReflection();
    std::vector<const FieldDescriptor*> fields;
    reflection->ListFields(*message, &fields);
    bool changed = false;
    for (const FieldDescriptor* field : fields) {
      if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE || field->is_map()) continue;
      if (!field->is_repeated()) {
        changed |= Visit(reflection->MutableMessage(message, field), closest);
        continue;
      }
      for (int i = 0; i < reflection->FieldSize(*message, field); ++i)
        changed |= Visit(reflection->MutableRepeatedMessage(message, field, i), closest);
    }
    return changed;
  }

 private:
  bool Packed(Any* any, const std::string& name) {
    const std::string& url = any->type_url();
    const Descriptor* type = google::protobuf::DescriptorPool::generated_pool()->FindMessageTypeByName(
        url.substr(url.rfind('/') + 1));
    if (type == nullptr) return false;
    std::unique_ptr<Message> content(
        google::protobuf::MessageFactory::generated_factory()->GetPrototype(type)->New());
    if (!content->ParseFromString(any->value()) || !Visit(content.get(), name)) return false;
    any->set_value(proto::DeterministicBytes(*content));
    return true;
  }

  bool Source(const Holder& holder, Message* message, const std::string& around) {
    const Reflection* reflection = message->GetReflection();
    std::vector<const FieldDescriptor*> fields;
    reflection->ListFields(*message, &fields);
    for (const FieldDescriptor* field : fields) {
      if (field->message_type() != ConfigSource::descriptor()) continue;
      auto* source = static_cast<ConfigSource*>(reflection->MutableMessage(message, field));
      if (!source->has_ads()) continue;
      const std::string own = holder.name_field == nullptr ? "" : TextOf(*message, holder.name_field);
      SetSource(source_, holder.type, own.empty() ? around : own, source);
      return true;
    }
    return false;
  }

  const model::ConfigSource& source_;
};

}  // namespace

std::string FileNameOf(std::string_view name) {
  std::string out = PercentEncoded(name, "-_~.");
  if (out.starts_with('.')) out.replace(0, 1, "%2E");
  if (out.size() <= kLongestName) return out;
  return StrCat(std::string_view(out).substr(0, kLongestName), "%", ToHex(StableHash(name)));
}

std::string ResourcePath(std::string_view folder, xds::TypeId type, std::string_view name) {
  const std::string_view label = xds::InfoOf(type).metric;
  return name.empty() ? StrCat(folder, "/", label, ".json")
                      : StrCat(folder, "/", label, "/", FileNameOf(name), ".json");
}

xds::ResourcePtr ConfigSources::Make(const Key& key) {
  const cache::Resource& resource = *key.resource;
  Any any;
  if (!any.ParseFromString(resource.any.Unpacked()) || !Walk(key.source).Visit(&any, "")) return nullptr;
  auto changed = std::make_shared<cache::Resource>();
  changed->name = resource.name;
  const std::string bytes = any.SerializeAsString();
  changed->any = bytes;
  changed->hash = StableHash(bytes);
  changed->references = resource.references;
  changed->origins = resource.origins;
  return changed;
}

xds::ResourceListPtr ConfigSources::Apply(const model::ConfigSource& source,
                                          const xds::ResourceListPtr& list) {
  if (source.kind == Kind::kAds) return list;
  std::vector<xds::ResourcePtr> applied = list->resources();
  bool changed = false;
  for (xds::ResourcePtr& resource : applied) {
    if (const xds::ResourcePtr made = made_.GetOrBuild({resource, source}, &Make)) {
      resource = made;
      changed = true;
    }
  }
  return changed ? xds::ResourceList::Of(std::move(applied)) : list;
}

}  // namespace fairlead::push
