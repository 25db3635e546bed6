#include "source/etcd/etcd_objects.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "source/platform/one_object.h"

namespace fairlead::source {
namespace {

using config::KindInfo;

constexpr std::string_view kIstioGroup = "networking.istio.io";

bool IsOnlyOfName(const KindInfo& kind) {
  const auto& all = config::AllKinds();
  return std::count_if(all.begin(), all.end(), [&](const KindInfo& one) { return one.name == kind.name; }) ==
         1;
}

// Without a group the one that EtcdKeyOf writes without.
const KindInfo* KindOf(std::string_view text) {
  const size_t dot = text.find('.');
  const std::string_view name = text.substr(0, dot);
  for (const KindInfo& kind : config::AllKinds()) {
    if (kind.name != name) continue;
    if (dot == std::string_view::npos ? IsOnlyOfName(kind) || kind.group == kIstioGroup
                                      : kind.group == text.substr(dot + 1))
      return &kind;
  }
  return nullptr;
}

}  // namespace

std::optional<config::ObjectKey> ObjectOfEtcdKey(std::string_view key, std::string_view prefix) {
  if (!key.starts_with(prefix)) return std::nullopt;
  const std::vector<std::string_view> pieces = Split(key.substr(prefix.size()), '/');
  const KindInfo* kind = KindOf(pieces.front());
  if (kind == nullptr || pieces.size() != (kind->namespaced ? 3u : 2u)) return std::nullopt;
  if (pieces.back().empty() || (kind->namespaced && pieces[1].empty())) return std::nullopt;
  return config::ObjectKey{kind->kind, kind->namespaced ? Interned(pieces[1]) : Interned(),
                           Interned(pieces.back())};
}

std::string EtcdKeyOf(const config::ObjectKey& object, std::string_view prefix) {
  const KindInfo& kind = config::InfoOf(object.kind);
  const bool with_group = !IsOnlyOfName(kind) && kind.group != kIstioGroup && !kind.group.empty();
  std::string key = StrCat(prefix, kind.name, with_group ? "." : "", with_group ? kind.group : "", "/");
  if (kind.namespaced) StrAppend(&key, object.ns.str(), "/");
  return key + object.name.str();
}

PlatformPart ReadEtcdValue(const std::string& origin, std::string_view prefix, std::string_view key,
                           std::string_view value, const PlatformPart* before, bool deny_lost) {
  const std::string file = StrCat(origin, key);
  const std::optional<config::ObjectKey> wanted = ObjectOfEtcdKey(key, prefix);
  if (wanted) return ReadOneObject(file, value, *wanted, before, deny_lost);
  PlatformPart part;
  part.diagnostics.push_back(DocumentDiagnostic(
      file, "wrong-key", StrCat("the key is no ", prefix, "KIND/NAMESPACE/NAME of a known kind")));
  return part;
}

}  // namespace fairlead::source
