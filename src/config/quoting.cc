#include "config/quoting.h"

#include <algorithm>

#include "config/check/names.h"

namespace fairlead::config {
namespace {

constexpr size_t kLongestKind = 40;
constexpr size_t kMostDigitsOfKind = 4;
constexpr size_t kLongestApiVersion = 100;

// Fields of a Secret and of every object's metadata, and the keys of Secrets that somebody reads.
constexpr std::string_view kShownNames[] = {"apiVersion",
                                            "kind",
                                            "metadata",
                                            "name",
                                            "namespace",
                                            "labels",
                                            "spec",
                                            "uid",
                                            "annotations",
                                            "creationTimestamp",
                                            "deletionTimestamp",
                                            "finalizers",
                                            "data",
                                            "generation",
                                            "generateName",
                                            "ownerReferences",
                                            "stringData",
                                            "immutable",
                                            "type",
                                            "resourceVersion",
                                            "managedFields",
                                            "items",
                                            "tls.crt",
                                            "tls.key",
                                            "tls.ocsp-staple",
                                            "ca.crt",
                                            "ca.crl",
                                            "cert",
                                            "key",
                                            "cacert",
                                            "crl",
                                            "token",
                                            ".dockercfg",
                                            ".dockerconfigjson"};

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsLower(char c) { return c >= 'a' && c <= 'z'; }
bool IsUpper(char c) { return c >= 'A' && c <= 'Z'; }

bool IsShownName(std::string_view name) {
  return std::find(std::begin(kShownNames), std::end(kShownNames), name) != std::end(kShownNames);
}

// The length of the first step of a path, ".name", "name", "[key]" or "[2]"; 0 where it must not be shown.
size_t FirstStep(std::string_view path) {
  if (path.starts_with('[')) {
    const size_t end = path.find(']');
    if (end == std::string_view::npos) return 0;
    const std::string_view key = path.substr(1, end - 1);
    const bool index = !key.empty() && key.size() < 7 && std::all_of(key.begin(), key.end(), IsDigit);
    return index || IsShownName(key) ? end + 1 : 0;
  }
  const size_t begin = path.starts_with('.') ? 1 : 0;
  const size_t end = std::min(path.find_first_of(".[", begin), path.size());
  return IsShownName(path.substr(begin, end - begin)) ? end : 0;
}

bool IsLabel(std::string_view text) {
  return check::IsDns1123Label(text) && std::none_of(text.begin(), text.end(), IsUpper);
}

}  // namespace

Quoting QuotingOf(Kind kind) { return kind == Kind::kSecret ? Quoting::kNothing : Quoting::kValues; }

std::string_view ShownPath(std::string_view path) {
  size_t shown = 0;
  while (shown < path.size()) {
    const size_t step = FirstStep(path.substr(shown));
    if (step == 0) break;
    shown += step;
  }
  return path.substr(0, shown);
}

std::string_view ShownKind(std::string_view kind) {
  const auto letter = [](char c) { return IsLower(c) || IsUpper(c) || IsDigit(c); };
  const bool formed =
      kind.size() <= kLongestKind && std::all_of(kind.begin(), kind.end(), letter) &&
      static_cast<size_t>(std::count_if(kind.begin(), kind.end(), IsDigit)) <= kMostDigitsOfKind;
  return formed ? kind : "(no kind)";
}

std::string_view ShownApiVersion(std::string_view api_version) {
  const auto letter = [](char c) { return IsLower(c) || IsDigit(c) || c == '.' || c == '-' || c == '/'; };
  const bool formed =
      api_version.size() <= kLongestApiVersion && std::all_of(api_version.begin(), api_version.end(), letter);
  return formed ? api_version : "(no version)";
}

bool IsProperName(const ObjectKey& key) {
  return check::IsDns1123Subdomain(key.name.str()) && (key.ns.empty() || IsLabel(key.ns.str()));
}

}  // namespace fairlead::config
