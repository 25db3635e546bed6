#ifndef FAIRLEAD_GATEWAY_API_GROUP_KIND_H_
#define FAIRLEAD_GATEWAY_API_GROUP_KIND_H_

#include <optional>
#include <string>
#include <string_view>

#include "config/kind.h"
#include "config/tree.h"

namespace fairlead::gateway_api {

// What a reference names besides an object.
struct GroupKind {
  std::string group;  // "" for the core group
  std::string kind;
  friend auto operator<=>(const GroupKind&, const GroupKind&) = default;
};

GroupKind GroupKindOf(config::Kind kind);
// Of a reference ({group, kind, …}); what it leaves out is the fallback's.
GroupKind ReferredKind(config::Node reference, const GroupKind& fallback = {});
// One of ours; nothing where it is not.
std::optional<config::Kind> KnownKind(const GroupKind& kind);

// A reference's namespace, or that of the object that holds it.
std::string_view ReferredNamespace(config::Node reference, std::string_view own);

}  // namespace fairlead::gateway_api

#endif  // FAIRLEAD_GATEWAY_API_GROUP_KIND_H_
