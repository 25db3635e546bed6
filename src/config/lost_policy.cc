#include "config/lost_policy.h"

#include <algorithm>
#include <utility>

#include "base/closest_name.h"
#include "base/hash.h"
#include "base/strings.h"
#include "config/quoting.h"
#include "config/read/manifests.h"
#include "config/report.h"
#include "config/tree_builder.h"

namespace fairlead::config {
namespace {

constexpr std::string_view kGroup = "security.istio.io";
constexpr std::string_view kDenialPrefix = "unreadable~";
constexpr size_t kMostEdits = 3;

bool IsNear(std::string_view written, std::string_view meant) {
  constexpr size_t kLongest = 64;
  return written.size() <= kLongest && EditDistance(written, meant, Swap::kOneEdit) <= kMostEdits;
}

std::string_view GroupOf(std::string_view api_version) {
  const size_t slash = api_version.find('/');
  return slash == std::string_view::npos ? "" : api_version.substr(0, slash);
}

bool IsPolicyName(std::string_view kind) {
  return std::any_of(PolicyKinds().begin(), PolicyKinds().end(),
                     [kind](Kind one) { return IsNear(kind, InfoOf(one).name); });
}

bool IsNameChar(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

// The plain value behind a key that begins at `at`, as in "kind: X" and "\"kind\": \"X\""; "" where none is.
std::string_view ValueAt(std::string_view text, size_t at, std::string_view key) {
  if (text.substr(at, key.size()) != key || (at > 0 && IsNameChar(text[at - 1]))) return "";
  std::string_view rest = text.substr(at + key.size());
  if (rest.starts_with('"') || rest.starts_with('\'')) rest.remove_prefix(1);
  if (!rest.starts_with(':')) return "";
  rest.remove_prefix(1);
  while (rest.starts_with(' ') || rest.starts_with('"') || rest.starts_with('\'')) rest.remove_prefix(1);
  const auto end = std::find_if_not(rest.begin(), rest.end(),
                                    [](char c) { return IsNameChar(c) || c == '.' || c == '/'; });
  return rest.substr(0, static_cast<size_t>(end - rest.begin()));
}

std::vector<std::string_view> ValuesOf(std::string_view text, std::string_view key) {
  constexpr size_t kMost = 1000;
  std::vector<std::string_view> values;
  for (size_t at = text.find(key); at != std::string_view::npos && values.size() < kMost;
       at = text.find(key, at + 1)) {
    if (const std::string_view value = ValueAt(text, at, key); !value.empty()) values.push_back(value);
  }
  return values;
}

bool IsPolicyText(std::string_view text) {
  const std::vector<std::string_view> kinds = ValuesOf(text, "kind"), versions = ValuesOf(text, "apiVersion");
  for (const std::string_view version : versions) {
    if (IsPolicyLike(version, "")) return true;
  }
  return std::any_of(kinds.begin(), kinds.end(), [&versions](std::string_view kind) {
    return IsPolicyLike(versions.empty() ? "" : versions.front(), kind);
  });
}

// Whom a policy is about, where that can be read at all.
struct Place {
  std::string ns, name;
  int line = 0;
  Interned file;
  Node spec;  // may be absent
};

void AddText(TreeBuilder& builder, std::string_view key, std::string_view text, int line) {
  builder.Key(key, line);
  builder.Scalar(NodeType::kString, text, line);
}

// An AuthorizationPolicy that denies everything; of the spec's workloads alone where `narrow`.
Tree DenialTree(const Place& place, bool narrow) {
  TreeBuilder builder;
  builder.BeginMapping(place.line);
  AddText(builder, "apiVersion", StrCat(kGroup, "/v1"), place.line);
  AddText(builder, "kind", "AuthorizationPolicy", place.line);
  builder.Key("metadata", place.line);
  builder.BeginMapping(place.line);
  builder.End();
  builder.Key("spec", place.line);
  builder.BeginMapping(place.line);
  for (const std::string_view field : {"selector", "targetRef", "targetRefs"}) {
    const Node node = place.spec.Find(field);
    if (!narrow || node.IsNull()) continue;
    builder.Key(field, node.line());
    builder.Copy(node);
  }
  AddText(builder, "action", "DENY", place.line);
  builder.Key("rules", place.line);
  builder.BeginSequence(place.line);
  builder.BeginMapping(place.line);
  builder.End();
  builder.End();
  builder.End();
  builder.End();
  return builder.Build();
}

bool SaysWhichWorkloads(Node spec) {
  return !spec.Find("selector").IsNull() || !spec.Find("targetRef").IsNull() ||
         !spec.Find("targetRefs").IsNull();
}

void Deny(const Place& place, LostPolicy* lost) {
  const KindInfo& kind = InfoOf(Kind::kAuthorizationPolicy);
  const std::string file = place.file.str();
  // Several of one name may be lost: of other kinds, or in other files.
  const std::string place_hash = ToHex(StableHash(StrCat(file, ":", place.line))).substr(0, 8);
  const std::string who = place.name.empty() ? file.substr(file.rfind('/') + 1) : place.name;
  const ObjectKey key{kind.kind, place.ns, Interned(StrCat(kDenialPrefix, who, "~", place_hash))};
  Tree tree = DenialTree(place, true);
  Report trial(place.file), report(place.file);
  lost->narrow = SaysWhichWorkloads(place.spec) &&
                 AdmitObject(kind, {kind.kind, place.ns, "trial"}, tree.root(), trial) != nullptr;
  if (!lost->narrow) tree = DenialTree(place, false);
  lost->denial = ParseObject(kind, key, tree.root(), report);
}

LostPolicy Lose(Place place) {
  const ObjectKey named{Kind::kAuthorizationPolicy, "default", Interned(place.name)};
  if (!IsProperName(named)) place.name.clear();
  const ObjectKey spaced{Kind::kAuthorizationPolicy, Interned(place.ns), "policy"};
  if (place.ns.empty() || !IsProperName(spaced)) place.ns = "default";
  LostPolicy lost{place.ns, place.name, place.line, false, false, nullptr};
  Deny(place, &lost);
  return lost;
}

}  // namespace

const std::vector<Kind>& PolicyKinds() {
  static const auto* kinds = new std::vector<Kind>{Kind::kAuthorizationPolicy, Kind::kPeerAuthentication,
                                                   Kind::kRequestAuthentication};
  return *kinds;
}

bool IsPolicyKind(Kind kind) {
  return std::find(PolicyKinds().begin(), PolicyKinds().end(), kind) != PolicyKinds().end();
}

bool IsPolicyLike(std::string_view api_version, std::string_view kind) {
  const std::string_view group = GroupOf(api_version);
  if (IsNear(group, kGroup)) return true;
  if (!IsPolicyName(kind)) return false;
  // Another mesh's policies have such kinds, too.
  return group.find('.') == std::string_view::npos || group.ends_with(".k8s.io") ||
         group.find("istio") != std::string_view::npos;
}

std::optional<LostPolicy> LostPolicyOf(Node document, const Interned& file) {
  const Node metadata = document.Find("metadata");
  if (metadata.Find("annotations").Find("istio.io/dry-run").text() == "true") return std::nullopt;
  return Lose({std::string(metadata.Find("namespace").text()), std::string(metadata.Find("name").text()),
               document.line(), file, document.Find("spec")});
}

std::optional<LostPolicy> LostPolicyOfText(std::string_view text, int line, const Interned& file) {
  if (!IsPolicyText(text)) return std::nullopt;
  const auto first = [text](std::string_view key) {
    const std::vector<std::string_view> values = ValuesOf(text, key);
    return std::string(values.empty() ? "" : values.front());
  };
  LostPolicy lost = Lose({first("namespace"), first("name"), line, file, Node()});
  lost.guessed = true;
  return lost;
}

bool IsDenialOfLost(const ObjectKey& key) {
  return key.kind == Kind::kAuthorizationPolicy && key.name.str().starts_with(kDenialPrefix);
}

}  // namespace fairlead::config
