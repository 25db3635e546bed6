#include "push/config_source.h"

#include <google/protobuf/any.pb.h>
#include <google/protobuf/message.h>

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "envoy/config/core/v3/config_source.pb.h"
#include "gen/naming/config_source.h"
#include "proto/messages.h"

namespace fairlead::push {
namespace {

using envoy::config::core::v3::ConfigSource;
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
  explicit Walk(const SourceOf& source_of) : source_of_(source_of) {}

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
      source_of_(holder.type, own.empty() ? around : own, source);
      return true;
    }
    return false;
  }

  const SourceOf& source_of_;
};

}  // namespace

xds::ResourcePtr SourceRewriter::Rewritten(const xds::ResourcePtr& resource) const {
  Any any;
  if (!any.ParseFromString(resource->any.Unpacked()) || !Walk(source_of_).Visit(&any, "")) return resource;
  auto changed = std::make_shared<cache::Resource>();
  changed->name = resource->name;
  const std::string bytes = any.SerializeAsString();
  changed->any = bytes;
  changed->hash = StableHash(bytes);
  changed->references = resource->references;
  changed->origins = resource->origins;
  return changed;
}

xds::ResourceSetPtr SourceRewriter::Rewrite(const xds::ResourceSetPtr& resources) {
  // Calls for the types alternate: what was made for the others is kept for a round.
  if (known_.size() > 2 * (before_.size() + resources->size())) before_ = std::exchange(known_, {});
  std::vector<xds::ResourceListPtr> parts;
  for (const xds::ResourceListPtr& part : resources->parts()) {
    std::vector<xds::ResourcePtr> list;
    for (const xds::ResourcePtr& resource : part->resources()) {
      xds::ResourcePtr& made = known_[resource];
      if (made == nullptr) {
        const auto earlier = before_.find(resource);
        made = earlier == before_.end() ? Rewritten(resource) : earlier->second;
      }
      list.push_back(made);
    }
    parts.push_back(xds::ResourceList::Of(std::move(list)));
  }
  return std::make_shared<xds::ResourceSet>(std::move(parts));
}

SourceOf SourceThrough(std::string_view cluster, Transport transport) {
  const model::ConfigSource source{transport, cluster};
  return [source](xds::TypeId, std::string_view, ConfigSource* out) { gen::SetConfigSource(source, out); };
}

}  // namespace fairlead::push
