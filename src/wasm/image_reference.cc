#include "wasm/image_reference.h"

#include <algorithm>
#include <cctype>

#include "base/strings.h"
#include "wasm/digest.h"

namespace fairlead::wasm {
namespace {

bool OnlyOf(std::string_view text, bool upper, std::string_view more) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || (upper && c >= 'A' && c <= 'Z') ||
           more.find(c) != std::string_view::npos;
  });
}

bool IsRepository(std::string_view text) {
  if (text.size() > 255) return false;
  const auto parts = Split(text, '/');
  return std::all_of(parts.begin(), parts.end(), [](std::string_view part) {
    return OnlyOf(part, false, "._-") && part.find_first_not_of("._-") == 0;
  });
}

// A first part is a registry where it cannot be a part of a repository's name.
bool NamesRegistry(std::string_view part) {
  return part == "localhost" || part.find_first_of(".:") != std::string_view::npos;
}

}  // namespace

absl::StatusOr<ImageReference> ParseImageReference(std::string_view text) {
  const auto invalid = [&](std::string_view why) {
    return absl::InvalidArgumentError(StrCat("'", text, "' names no image: ", why));
  };
  ImageReference out;
  std::string_view rest = text;
  if (const size_t at = rest.find('@'); at != std::string_view::npos) {
    const std::string_view digest = rest.substr(at + 1);
    if (!digest.starts_with("sha256:") || !IsSha256Hex(digest.substr(7))) return invalid("its digest");
    out.digest = digest.substr(7);
    rest = rest.substr(0, at);
  }
  const size_t slash = rest.rfind('/'), colon = rest.rfind(':');
  if (colon != std::string_view::npos && (slash == std::string_view::npos || colon > slash)) {
    out.tag = rest.substr(colon + 1);
    rest = rest.substr(0, colon);
    if (out.tag.size() > 128 || !OnlyOf(out.tag, true, "_.-")) return invalid("its tag");
  }
  if (out.tag.empty()) out.tag = "latest";
  const size_t first = rest.find('/');
  out.registry = kDockerHub;
  if (first != std::string_view::npos && NamesRegistry(rest.substr(0, first))) {
    out.registry = rest.substr(0, first);
    rest = rest.substr(first + 1);
  }
  if (out.registry == "docker.io") out.registry = kDockerHub;
  if (!OnlyOf(out.registry, true, ".-:[]")) return invalid("its registry");
  out.repository = rest;
  if (!IsRepository(rest)) return invalid("its repository");
  if (out.registry == kDockerHub && rest.find('/') == std::string_view::npos)
    out.repository = StrCat("library/", rest);
  return out;
}

}  // namespace fairlead::wasm
