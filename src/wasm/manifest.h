#ifndef FAIRLEAD_WASM_MANIFEST_H_
#define FAIRLEAD_WASM_MANIFEST_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

// The answers of registries about images, which nobody vouches for. Pure, thread-safe; InvalidArgument says
// what is wrong. Sources: the OCI image specification, "Image Manifest" and "Image Index"; Docker's "Image
// Manifest Version 2, Schema 2"; the Wasm image specification (github.com/solo-io/wasm, spec).
namespace fairlead::wasm {

struct Descriptor {
  std::string media_type;
  std::string digest;            // 64 hexadecimal digits of SHA-256
  uint64_t size = 0;             // bytes
  std::string os, architecture;  // of an image in an index; "" where it does not say
};

// An image's, or an index of several images.
struct Manifest {
  bool is_index = false;
  std::vector<Descriptor> parts;  // the image's layers, the index's images
};

// The Accept header for manifests.
inline constexpr std::string_view kManifestTypes =
    "application/vnd.oci.image.manifest.v1+json, application/vnd.oci.image.index.v1+json, "
    "application/vnd.docker.distribution.manifest.v2+json, "
    "application/vnd.docker.distribution.manifest.list.v2+json";

absl::StatusOr<Manifest> ParseManifest(std::string_view text);

// The right image of an index: the one of Wasm, otherwise of linux/amd64 (such images have or omit this
// platform), otherwise the only one.
absl::StatusOr<Descriptor> ImageOfIndex(const Manifest& index);

// The layer that holds the module: itself (the "oci" variant) or in an archive (the "compat" variant).
struct ModuleLayer {
  Descriptor layer;
  bool archive = false;  // tar, compressed or not; the module is its plugin.wasm
};
absl::StatusOr<ModuleLayer> ModuleLayerOf(const Manifest& image);

}  // namespace fairlead::wasm

#endif  // FAIRLEAD_WASM_MANIFEST_H_
