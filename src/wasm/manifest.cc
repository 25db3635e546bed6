#include "wasm/manifest.h"

#include <algorithm>

#include "base/json.h"
#include "base/strings.h"
#include "wasm/digest.h"

namespace fairlead::wasm {
namespace {

using nlohmann::json;

constexpr size_t kMostParts = 1000;

// A registry's text in a message, which goes to a log.
std::string Shown(std::string_view text) {
  constexpr size_t kMost = 100;
  std::string out(text.substr(0, kMost));
  for (char& c : out) {
    if (static_cast<unsigned char>(c) < ' ' || c == 0x7f) c = '?';
  }
  return text.size() > kMost ? StrCat(out, "…") : out;
}

absl::StatusOr<Descriptor> ReadDescriptor(const json& value) {
  Descriptor out;
  const std::string digest = JsonString(value, "digest");
  if (!digest.starts_with("sha256:") || !IsSha256Hex(std::string_view(digest).substr(7)))
    return absl::InvalidArgumentError(
        StrCat("the manifest has a digest of another kind: '", Shown(digest), "'"));
  out.digest = digest.substr(7);
  out.media_type = JsonString(value, "mediaType");
  const auto size = value.find("size");
  if (size == value.end() || !size->is_number_unsigned())
    return absl::InvalidArgumentError("the manifest has a part without a size");
  out.size = size->get<uint64_t>();
  if (const auto platform = value.find("platform"); platform != value.end()) {
    out.os = JsonString(*platform, "os");
    out.architecture = JsonString(*platform, "architecture");
  }
  return out;
}

bool IsModuleType(std::string_view type) {
  return type == "application/vnd.module.wasm.content.layer.v1+wasm" || type == "application/wasm";
}

bool IsArchiveType(std::string_view type) {
  return type == "application/vnd.oci.image.layer.v1.tar" ||
         type == "application/vnd.oci.image.layer.v1.tar+gzip" ||
         type == "application/vnd.oci.image.layer.v1.tar+zstd" ||
         type == "application/vnd.docker.image.rootfs.diff.tar.gzip" ||
         type == "application/vnd.docker.image.rootfs.diff.tar.zstd";
}

}  // namespace

absl::StatusOr<Manifest> ParseManifest(std::string_view text) {
  const json value = ParseJson(text).value_or(json());
  if (!value.is_object()) return absl::InvalidArgumentError("the manifest is no JSON object");
  Manifest out;
  out.is_index = value.contains("manifests");
  const auto parts = value.find(out.is_index ? "manifests" : "layers");
  if (parts == value.end() || !parts->is_array())
    return absl::InvalidArgumentError("the manifest has neither layers nor images");
  if (parts->size() > kMostParts) return absl::InvalidArgumentError("the manifest has too many parts");
  for (const json& part : *parts) {
    auto descriptor = ReadDescriptor(part);
    if (!descriptor.ok()) return descriptor.status();
    out.parts.push_back(*std::move(descriptor));
  }
  return out;
}

absl::StatusOr<Descriptor> ImageOfIndex(const Manifest& index) {
  const auto of = [&](auto matches) { return std::find_if(index.parts.begin(), index.parts.end(), matches); };
  auto found = of([](const Descriptor& one) { return one.architecture == "wasm"; });
  if (found == index.parts.end())
    found = of([](const Descriptor& one) {
      return (one.os.empty() && one.architecture.empty()) ||
             (one.os == "linux" && one.architecture == "amd64");
    });
  if (found == index.parts.end() && index.parts.size() == 1) found = index.parts.begin();
  if (found == index.parts.end())
    return absl::InvalidArgumentError("the index has no image for Wasm or linux/amd64");
  return *found;
}

absl::StatusOr<ModuleLayer> ModuleLayerOf(const Manifest& image) {
  for (const Descriptor& layer : image.parts) {
    if (IsModuleType(layer.media_type)) return ModuleLayer{layer, false};
  }
  if (image.parts.empty()) return absl::InvalidArgumentError("the image has no layers");
  if (IsArchiveType(image.parts.back().media_type)) return ModuleLayer{image.parts.back(), true};
  return absl::InvalidArgumentError(StrCat("the image has no layer of a Wasm module; its last is of type ",
                                           Shown(image.parts.back().media_type)));
}

}  // namespace fairlead::wasm
