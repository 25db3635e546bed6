#include "tests/references/read_references.h"

#include <google/protobuf/message.h>

#include <algorithm>
#include <memory>
#include <string>

#include "envoy/config/cluster/v3/cluster.pb.h"
#include "envoy/config/core/v3/config_source.pb.h"
#include "envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager.pb.h"
#include "envoy/extensions/transport_sockets/tls/v3/secret.pb.h"

namespace fairlead {
namespace {

using cache::TypeId;
using envoy::config::cluster::v3::Cluster;
using envoy::config::core::v3::ExtensionConfigSource;
using envoy::config::route::v3::ScopedRouteConfiguration;
using envoy::extensions::filters::network::http_connection_manager::v3::Rds;
using envoy::extensions::transport_sockets::tls::v3::SdsSecretConfig;
using google::protobuf::Any;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

template <typename T>
const T* As(const Message& message) {
  return message.GetDescriptor() == T::descriptor() ? static_cast<const T*>(&message) : nullptr;
}

std::string NameField(const Message& message) {
  const FieldDescriptor* field = message.GetDescriptor()->FindFieldByName("name");
  if (field == nullptr || field->cpp_type() != FieldDescriptor::CPPTYPE_STRING || field->is_repeated())
    return "";
  return message.GetReflection()->GetString(message, field);
}

class Walk {
 public:
  std::vector<cache::Reference> references;

  // `name`: that of the closest message around that has one.
  void Visit(const Message& message, const std::string& name) {
    if (const Any* any = As<Any>(message)) return VisitPacked(*any, name);
    Note(message, name);
    const std::string own = NameField(message);
    std::vector<const FieldDescriptor*> fields;
    const auto* reflection = message.GetReflection();
    reflection->ListFields(message, &fields);
    for (const FieldDescriptor* field : fields) {
      if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) continue;
      const int count = field->is_repeated() ? reflection->FieldSize(message, field) : 1;
      for (int i = 0; i < count; ++i) {
        Visit(field->is_repeated() ? reflection->GetRepeatedMessage(message, field, i)
                                   : reflection->GetMessage(message, field),
              own.empty() ? name : own);
      }
    }
  }

 private:
  void VisitPacked(const Any& any, const std::string& name) {
    const std::string& url = any.type_url();
    const auto* type = google::protobuf::DescriptorPool::generated_pool()->FindMessageTypeByName(
        url.substr(url.rfind('/') + 1));
    if (type == nullptr) return;
    std::unique_ptr<Message> content(
        google::protobuf::MessageFactory::generated_factory()->GetPrototype(type)->New());
    if (content->ParseFromString(any.value())) Visit(*content, name);
  }

  void Note(const Message& message, const std::string& name) {
    if (const auto* cluster = As<Cluster>(message); cluster != nullptr && cluster->type() == Cluster::EDS) {
      const std::string& service = cluster->eds_cluster_config().service_name();
      Add(TypeId::kEndpoint, service.empty() ? cluster->name() : service);
    }
    if (const auto* rds = As<Rds>(message)) Add(TypeId::kRoute, rds->route_config_name());
    if (const auto* scope = As<ScopedRouteConfiguration>(message);
        scope != nullptr && !scope->route_configuration_name().empty())
      Add(TypeId::kRoute, scope->route_configuration_name());
    if (As<ExtensionConfigSource>(message) != nullptr) Add(TypeId::kExtension, name);
    if (const auto* secret = As<SdsSecretConfig>(message);
        secret != nullptr && secret->sds_config().has_ads())
      Add(TypeId::kSecret, secret->name());
  }

  void Add(TypeId type, const std::string& name) { references.push_back({type, Interned(name)}); }
};

}  // namespace

std::vector<cache::Reference> ReadReferences(const Any& resource) {
  Walk walk;
  walk.Visit(resource, "");
  std::sort(walk.references.begin(), walk.references.end());
  const auto end = std::unique(walk.references.begin(), walk.references.end());
  walk.references.erase(end, walk.references.end());
  return walk.references;
}

}  // namespace fairlead
