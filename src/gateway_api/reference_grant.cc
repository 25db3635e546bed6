#include "gateway_api/reference_grant.h"

#include <algorithm>

#include "config/tree.h"
#include "gateway_api/names.h"

namespace fairlead::gateway_api {
namespace {

using config::Kind;
using config::Node;

bool MayBeGranted(const GroupKind& to) {
  if (to == GroupKind{std::string(kExperimentalGroup), "XBackend"}) return true;
  constexpr Kind kKinds[] = {Kind::kConfigMap, Kind::kSecret, Kind::kService, Kind::kInferencePool};
  return std::any_of(std::begin(kKinds), std::end(kKinds),
                     [&to](Kind kind) { return to == GroupKindOf(kind); });
}

bool Grants(Node spec, const GroupKind& from, std::string_view from_ns, const GroupKind& to,
            std::string_view to_name) {
  bool from_matches = false;
  for (Node one : spec.Find("from").elements())
    from_matches = from_matches || (ReferredKind(one) == from && one.Find("namespace").text() == from_ns);
  if (!from_matches) return false;
  for (Node one : spec.Find("to").elements()) {
    const Node name = one.Find("name");
    if (ReferredKind(one) == to && (name.IsNull() || name.text() == to_name)) return true;
  }
  return false;
}

}  // namespace

bool IsGranted(Kind from, std::string_view from_ns, const GroupKind& to, std::string_view to_ns,
               std::string_view to_name, Lookups& lookups) {
  if (!MayBeGranted(to)) return false;
  const GroupKind from_kind = GroupKindOf(from);
  for (const config::ConfigPtr& grant : lookups.In(Kind::kReferenceGrant, to_ns)) {
    if (Grants(grant->Spec<config::Tree>().Find("spec"), from_kind, from_ns, to, to_name)) return true;
  }
  return false;
}

}  // namespace fairlead::gateway_api
