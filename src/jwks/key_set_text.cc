#include "jwks/key_set_text.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "base/json.h"
#include "base/strings.h"

namespace fairlead::jwks {
namespace {

using nlohmann::json;

// Comparing values takes stack for each level of theirs.
constexpr int kDeepest = 16;

// Whether no value in the text has more levels than that. Nothing is said of a text that is no JSON.
bool IsShallow(std::string_view text) {
  int depth = 0;
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '\\') ++i;
      quoted = c != '"';
    } else if (c == '"') {
      quoted = true;
    } else if (c == '[' || c == '{') {
      if (++depth > kDeepest) return false;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return true;
}

// The keys in an order that does not depend on how they are written.
std::vector<json> SortedKeys(std::string_view text) {
  std::vector<json> keys;
  if (const std::optional<json> set = ParseJson(text); set && set->is_object() && set->contains("keys")) {
    keys.assign((*set)["keys"].begin(), (*set)["keys"].end());
  }
  std::sort(keys.begin(), keys.end());
  return keys;
}

}  // namespace

absl::Status CheckKeySet(std::string_view text) {
  if (!IsShallow(text)) return absl::InvalidArgumentError("it is nested too deeply");
  const std::optional<json> set = ParseJson(text);
  if (!set) return absl::InvalidArgumentError("it is no JSON");
  if (!set->is_object() || !set->contains("keys")) return absl::InvalidArgumentError("it has no \"keys\"");
  const json& keys = (*set)["keys"];
  if (!keys.is_array()) return absl::InvalidArgumentError("\"keys\" is no list");
  if (!std::all_of(keys.begin(), keys.end(), [](const json& key) { return key.is_object(); })) {
    return absl::InvalidArgumentError("a key is no object");
  }
  return absl::OkStatus();
}

bool SameKeys(std::string_view a, std::string_view b) { return a == b || SortedKeys(a) == SortedKeys(b); }

std::string DiscoveryUri(std::string_view issuer) {
  if (issuer.ends_with('/')) issuer.remove_suffix(1);
  return StrCat(issuer, "/.well-known/openid-configuration");
}

absl::StatusOr<std::string> KeySetUri(std::string_view document) {
  if (!IsShallow(document)) return absl::InvalidArgumentError("the discovery document is nested too deeply");
  const std::optional<json> parsed = ParseJson(document);
  if (!parsed) return absl::InvalidArgumentError("the discovery document is no JSON");
  std::string uri = parsed->is_object() ? JsonString(*parsed, "jwks_uri") : "";
  if (uri.empty()) return absl::InvalidArgumentError("the discovery document has no \"jwks_uri\"");
  return uri;
}

}  // namespace fairlead::jwks
