#ifndef FAIRLEAD_CONFIG_CONTENT_HASH_H_
#define FAIRLEAD_CONFIG_CONTENT_HASH_H_

#include <concepts>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "base/interned.h"
#include "config/kubernetes_types.h"
#include "config/object.h"

namespace fairlead::config {

// A hash of plain values that is the same in every process and on every machine (XXH3), unlike absl::Hash,
// and wide enough to stand for them: each value is told apart by its size.
class ContentHash {
 public:
  Hash128 value() const { return StableHash(bytes_); }

  ContentHash& Add(std::string_view text);
  ContentHash& Add(const Hash128& hash) { return AddNumber(hash.high).AddNumber(hash.low); }
  ContentHash& Add(const Interned& text) { return Add(std::string_view(text)); }
  ContentHash& Add(const std::string& text) { return Add(std::string_view(text)); }
  ContentHash& Add(std::integral auto number) { return AddNumber(static_cast<uint64_t>(number)); }
  template <typename T>
  ContentHash& Add(const std::optional<T>& value) {
    AddNumber(value ? 1 : 0);
    return value ? Add(*value) : *this;
  }
  template <typename T>
  ContentHash& Add(const std::vector<T>& values) {
    AddNumber(values.size());
    for (const T& value : values) Add(value);
    return *this;
  }
  template <typename Less>
  ContentHash& Add(const std::map<std::string, std::string, Less>& values) {
    AddNumber(values.size());
    for (const auto& [key, value] : values) Add(key).Add(value);
    return *this;
  }
  // Of everything but the resource version, which changes with every write to an API server, with those too
  // that change nothing else.
  ContentHash& Add(const ObjectMeta& meta);
  ContentHash& Add(const OwnerReference& owner);
  ContentHash& Add(const ObjectStatus& status);
  ContentHash& Add(const ObjectStatus::Address& address);
  ContentHash& Add(const ObjectStatus::Condition& condition);

  ContentHash& Add(const ServiceSpec& spec);
  ContentHash& Add(const ServicePortSpec& port);
  ContentHash& Add(const PortReference& reference);
  ContentHash& Add(const LoadBalancerIngress& ingress);
  ContentHash& Add(const EndpointSliceSpec& spec);
  ContentHash& Add(const SliceEndpoint& endpoint);
  ContentHash& Add(const SlicePort& port);
  ContentHash& Add(const TargetReference& target);
  ContentHash& Add(const PodSpec& spec);
  ContentHash& Add(const ContainerPortSpec& port);
  ContentHash& Add(const NodeSpec& spec);
  ContentHash& Add(const NodeAddress& address);
  ContentHash& Add(const NamespaceSpec&) { return *this; }
  ContentHash& Add(const ServiceAccountSpec&) { return *this; }
  ContentHash& Add(const ServiceExportSpec&) { return *this; }
  ContentHash& Add(const ServiceImportSpec& spec) { return Add(spec.ips); }
  ContentHash& Add(const SecretSpec& spec);
  ContentHash& Add(const ConfigMapSpec& spec);

 private:
  ContentHash& AddNumber(uint64_t number);
  template <typename... Fields>
  ContentHash& AddAll(const Fields&... fields) {
    (Add(fields), ...);
    return *this;
  }
  std::string bytes_;
};

}  // namespace fairlead::config

#endif  // FAIRLEAD_CONFIG_CONTENT_HASH_H_
