#ifndef FAIRLEAD_CONFIG_KIND_H_
#define FAIRLEAD_CONFIG_KIND_H_

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace fairlead::config {

// Every kind of object that a mesh is made of; the table with groups, versions and payloads is kinds.inc.
enum class Kind : uint8_t {
#define FAIRLEAD_KIND(identifier, group, versions, plural, kind, namespaced, payload) identifier,
#include "config/kinds.inc"
#undef FAIRLEAD_KIND
};

// What a kind's payload is (see kinds.inc and ConfigObject::Spec).
enum class PayloadType : uint8_t { kProto, kStruct, kTree };

struct KindInfo {
  Kind kind;
  std::string_view group;                  // "" for the core group
  std::vector<std::string_view> versions;  // all that are read; the preferred one first
  std::string_view plural;
  std::string_view name;  // the `kind:` of a manifest
  bool namespaced;
  PayloadType payload;
  std::string_view message;  // full protobuf name of the spec, for kProto
};

// The whole table, in the order of the enumeration. Lives as long as the process.
const std::vector<KindInfo>& AllKinds();
const KindInfo& InfoOf(Kind kind);
inline constexpr size_t KindCount() {
  size_t n = 0;
#define FAIRLEAD_KIND(...) ++n;
#include "config/kinds.inc"
#undef FAIRLEAD_KIND
  return n;
}

// The kind of a manifest's `apiVersion` ("group/version" or "v1") and `kind`; nullptr where it is not one of
// ours.
const KindInfo* FindKind(std::string_view api_version, std::string_view kind);

}  // namespace fairlead::config

#endif  // FAIRLEAD_CONFIG_KIND_H_
