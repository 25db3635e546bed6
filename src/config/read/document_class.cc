#include "config/read/document_class.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/closest_name.h"
#include "base/strings.h"
#include "config/lost_policy.h"
#include "config/quoting.h"
#include "config/read/kubernetes_schema.h"
#include "config/report.h"

namespace fairlead::config {
namespace {

using Type = DocumentClass::Type;

std::string_view GroupOf(std::string_view api_version) {
  const size_t slash = api_version.find('/');
  return slash == std::string_view::npos ? "" : api_version.substr(0, slash);
}

DocumentClass Mistake(std::string_view code, std::string_view path, std::string message) {
  return {.type = Type::kMistake, .code = code, .path = path, .message = std::move(message)};
}

DocumentClass Foreign(std::string message) {
  return {.type = Type::kForeign, .code = "unknown-kind", .message = std::move(message)};
}

// Helm describes a chart with an apiVersion and without a kind.
bool IsChart(Node document) {
  const std::string_view version = document.Find("apiVersion").String();
  return (version == "v1" || version == "v2") && document.Find("name") && document.Find("version");
}

bool IsKubernetesGroup(std::string_view group) {
  return group.find('.') == std::string_view::npos || group.ends_with(".k8s.io");
}

// A group that is one's own, but for a letter or two. The Gateway API's experiments have groups of their own.
bool IsNearGroup(std::string_view group, std::string_view own) {
  constexpr size_t kLongest = 64, kMostEdits = 2;
  return group.size() <= kLongest && !group.ends_with("x-k8s.io") &&
         EditDistance(group, own, Swap::kOneEdit) <= kMostEdits;
}

// A kind that is read, in a group that has no kind of that name and is nobody else's.
const KindInfo* KindOfOtherGroup(std::string_view group, std::string_view kind) {
  for (const KindInfo& info : AllKinds()) {
    if (info.name == kind && (IsKubernetesGroup(group) || IsNearGroup(group, info.group))) return &info;
  }
  return nullptr;
}

DocumentClass WithoutType(Node document, std::string_view api_version, std::string_view kind) {
  if (!kind.empty()) return Mistake("missing-field", "apiVersion", "apiVersion is missing");
  if (IsChart(document)) return Foreign("a Helm chart's description is not read");
  if (!api_version.empty()) return Mistake("missing-field", "kind", "kind is missing");
  return Foreign("no manifest: it has neither apiVersion nor kind");
}

// A kind that is not read, in a group that has others which are, is somebody's mistake.
DocumentClass UnknownKind(std::string_view api_version, std::string_view kind) {
  if (IsKubernetesKind(api_version, kind)) return {.type = Type::kKubernetes};
  const std::string_view group = GroupOf(api_version);
  std::vector<std::string_view> names;
  for (const KindInfo& info : AllKinds()) {
    if (info.group == group && info.name == kind) {
      return Mistake("unknown-version", "apiVersion",
                     StrCat(kind, " has no version ", ShownApiVersion(api_version),
                            " (known: ", Join(info.versions, ", "), ")"));
    }
    names.push_back(info.name);
  }
  const std::string suggestion = Suggestion(kind, names);
  const std::string_view version = ShownApiVersion(api_version), shown = ShownKind(kind);
  const bool ours = std::any_of(AllKinds().begin(), AllKinds().end(),
                                [&](const KindInfo& info) { return info.group == group; });
  if (const KindInfo* info = KindOfOtherGroup(group, kind); info != nullptr && (!ours || group.empty())) {
    return Mistake("unknown-kind", "apiVersion",
                   StrCat(version, " has no kind ", shown, "; did you mean \"", info->group,
                          info->group.empty() ? "" : "/", info->versions.front(), "\"?"));
  }
  // What has a group like Istio's is meant for Istio, but for the installer's.
  const bool istios = group.ends_with(".istio.io") && group != "install.istio.io";
  if (ours || istios || IsPolicyLike(api_version, kind))
    return Mistake("unknown-kind", "kind", StrCat(version, " has no kind ", shown, suggestion));
  return Foreign(StrCat(version, " ", shown, " is not read", suggestion));
}

}  // namespace

DocumentClass Classify(Node document, std::string_view item_kind) {
  if (!document.IsMapping()) return Mistake("wrong-type", "", "a manifest is a mapping");
  const std::string_view api_version = document.Find("apiVersion").String();
  const std::string_view kind = document.Find("kind").String(item_kind);
  if (const KindInfo* info = FindKind(api_version, kind)) return {.kind = info};
  DocumentClass type = api_version.empty() || kind.empty() ? WithoutType(document, api_version, kind)
                                                           : UnknownKind(api_version, kind);
  type.policy = IsPolicyLike(api_version, kind);
  return type;
}

}  // namespace fairlead::config
