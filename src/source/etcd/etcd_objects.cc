#include "source/etcd/etcd_objects.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "config/lost_policy.h"
#include "config/read/manifests.h"

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

config::Diagnostic KeyDiagnostic(const std::string& file, std::string code, std::string message) {
  config::Diagnostic diagnostic;
  diagnostic.code = std::move(code);
  diagnostic.file = file;
  diagnostic.message = std::move(message);
  return diagnostic;
}

config::Diagnostic LostDiagnostic(const config::ObjectKey& key, bool denied) {
  config::Diagnostic diagnostic;
  diagnostic.code = config::kUnreadablePolicyCode;
  diagnostic.object = key;
  diagnostic.message = StrCat("the policy cannot be read and has no earlier version: ",
                              denied ? "requests are denied until it is mended" : "it is not in force");
  return diagnostic;
}

bool HasError(const PlatformPart& part) {
  return std::any_of(part.diagnostics.begin(), part.diagnostics.end(),
                     [](const config::Diagnostic& one) { return one.severity == config::Severity::kError; });
}

bool IsDenial(const PlatformPart& part) {
  return part.objects.size() == 1 && config::IsDenialOfLost(config::KeyOf(*part.objects.front()));
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
  PlatformPart part;
  const auto fail = [&](std::string code, std::string message) {
    part.diagnostics.push_back(KeyDiagnostic(file, std::move(code), std::move(message)));
  };
  const std::optional<config::ObjectKey> wanted = ObjectOfEtcdKey(key, prefix);
  if (!wanted) {
    fail("wrong-key", StrCat("the key is no ", prefix, "KIND/NAMESPACE/NAME of a known kind"));
    return part;
  }
  if (value.size() > kMostEtcdValue) {
    fail("too-large", StrCat("the value has more than ", kMostEtcdValue >> 20, " MiB"));
  } else {
    config::ParseResult result = config::ParseManifests(value, file);
    part.diagnostics = std::move(result.diagnostics);
    part.text = value;
    if (result.objects.size() == 1 && config::KeyOf(*result.objects.front()) == *wanted &&
        result.broken.empty() && !result.unreadable) {
      part.objects = std::move(result.objects);
      return part;
    }
    if (!HasError(part))
      fail("wrong-value", StrCat("the value is not one ", config::Describe(*wanted), ", as the key says"));
    if (!result.lost_policies.empty() &&
        (before == nullptr || before->objects.empty() || IsDenial(*before))) {
      part.diagnostics.push_back(LostDiagnostic(*wanted, deny_lost));
      part.diagnostics.back().file = file;
      if (deny_lost && result.lost_policies.front().denial != nullptr)
        part.objects.push_back(result.lost_policies.front().denial);
      part.text.clear();
      return part;
    }
  }
  part.text.clear();
  if (before == nullptr || before->objects.empty()) return part;
  part.objects = before->objects;
  part.text = before->text;
  config::Diagnostic earlier = config::ServingEarlier(file, 0);
  earlier.object = *wanted;
  part.diagnostics.push_back(std::move(earlier));
  return part;
}

}  // namespace fairlead::source
