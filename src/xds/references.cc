#include "xds/references.h"

#include "xds/wire.h"

namespace fairlead::xds {
namespace {

constexpr std::string_view kConnectionManager =
    "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager";

struct AnyParts {
  std::string_view type_url, value;
};

AnyParts ReadAny(std::string_view bytes) {
  AnyParts any;
  for (FieldReader field(bytes); field.Next();) {
    if (field.number() == 1) any.type_url = field.bytes();
    if (field.number() == 2) any.value = field.bytes();
  }
  return any;
}

// The last occurrence of a length-delimited field; "" where there is none.
std::string_view FieldOf(std::string_view bytes, uint32_t number) {
  std::string_view found;
  for (FieldReader field(bytes); field.Next();) {
    if (field.number() == number) found = field.bytes();
  }
  return found;
}

void ReadCluster(std::string_view bytes, std::vector<Reference>* out) {
  constexpr uint64_t kEds = 3;  // Cluster.DiscoveryType
  std::string_view name, service_name;
  bool eds = false;
  for (FieldReader field(bytes); field.Next();) {
    if (field.number() == 1) name = field.bytes();
    if (field.number() == 2) eds = field.varint() == kEds;
    if (field.number() == 3) service_name = FieldOf(field.bytes(), 2);  // eds_cluster_config
  }
  if (eds) out->push_back({TypeId::kEndpoint, service_name.empty() ? name : service_name});
}

// A network filter or an HTTP filter: both have name = 1 and config_discovery = 5.
struct Filter {
  std::string_view name, typed_config;
  bool discovered = false;
};

Filter ReadFilter(std::string_view bytes) {
  Filter filter;
  for (FieldReader field(bytes); field.Next();) {
    if (field.number() == 1) filter.name = field.bytes();
    if (field.number() == 4) filter.typed_config = field.bytes();
    if (field.number() == 5) filter.discovered = true;
  }
  return filter;
}

void ReadConnectionManager(std::string_view bytes, std::vector<Reference>* out) {
  for (FieldReader field(bytes); field.Next();) {
    if (field.number() == 3)
      out->push_back({TypeId::kRoute, FieldOf(field.bytes(), 2)});  // rds.route_config_name
    if (field.number() != 5) continue;                              // http_filters
    const Filter filter = ReadFilter(field.bytes());
    if (filter.discovered) out->push_back({TypeId::kExtension, filter.name});
  }
}

void ReadFilterChain(std::string_view bytes, std::vector<Reference>* out) {
  for (FieldReader field(bytes); field.Next();) {
    if (field.number() != 3) continue;  // filters
    const Filter filter = ReadFilter(field.bytes());
    if (filter.discovered) out->push_back({TypeId::kExtension, filter.name});
    const AnyParts config = ReadAny(filter.typed_config);
    if (config.type_url == kConnectionManager) ReadConnectionManager(config.value, out);
  }
}

void ReadListener(std::string_view bytes, std::vector<Reference>* out) {
  for (FieldReader field(bytes); field.Next();) {
    if (field.number() == 19) {  // api_listener.api_listener: what gRPC reads
      const AnyParts config = ReadAny(FieldOf(field.bytes(), 1));
      if (config.type_url == kConnectionManager) ReadConnectionManager(config.value, out);
    }
    if (field.number() == 3 || field.number() == 25)
      ReadFilterChain(field.bytes(), out);  // and the default one
  }
}

}  // namespace

std::vector<Reference> ReferencesOf(TypeId type, std::string_view any) {
  std::vector<Reference> references;
  if (type == TypeId::kCluster) ReadCluster(ReadAny(any).value, &references);
  if (type == TypeId::kListener) ReadListener(ReadAny(any).value, &references);
  return references;
}

}  // namespace fairlead::xds
