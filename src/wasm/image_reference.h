#ifndef FAIRLEAD_WASM_IMAGE_REFERENCE_H_
#define FAIRLEAD_WASM_IMAGE_REFERENCE_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace fairlead::wasm {

// An image of a registry: "registry.example.com:5000/team/filter:1.0", "filter@sha256:…". Without a registry
// it is Docker Hub, as for docker. A plain value; its parts are safe to put into a URL.
struct ImageReference {
  std::string registry;    // host, and port if there is one
  std::string repository;  // "team/filter"
  std::string tag;         // "latest" where nothing is said
  std::string digest;      // of the manifest, 64 hexadecimal digits; "": the tag counts

  // The tag or digest in the request for a manifest.
  std::string Name() const { return digest.empty() ? tag : "sha256:" + digest; }
};

inline constexpr std::string_view kDockerHub = "index.docker.io";

// InvalidArgument says what is wrong. Sources: the OCI distribution specification, "Pulling manifests"; the
// reference grammar of github.com/distribution/reference.
absl::StatusOr<ImageReference> ParseImageReference(std::string_view text);

}  // namespace fairlead::wasm

#endif  // FAIRLEAD_WASM_IMAGE_REFERENCE_H_
