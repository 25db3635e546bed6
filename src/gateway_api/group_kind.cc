#include "gateway_api/group_kind.h"

namespace fairlead::gateway_api {

using config::Node;

GroupKind GroupKindOf(config::Kind kind) {
  const config::KindInfo& info = config::InfoOf(kind);
  return {std::string(info.group), std::string(info.name)};
}

GroupKind ReferredKind(Node reference, const GroupKind& fallback) {
  const Node group = reference.Find("group"), kind = reference.Find("kind");
  return {group.IsNull() ? fallback.group : std::string(group.text()),
          kind.IsNull() ? fallback.kind : std::string(kind.text())};
}

std::optional<config::Kind> KnownKind(const GroupKind& kind) {
  for (const config::KindInfo& info : config::AllKinds()) {
    if (info.group == kind.group && info.name == kind.kind) return info.kind;
  }
  return std::nullopt;
}

std::string_view ReferredNamespace(Node reference, std::string_view own) {
  const Node ns = reference.Find("namespace");
  return ns.IsNull() ? own : ns.text();
}

}  // namespace fairlead::gateway_api
