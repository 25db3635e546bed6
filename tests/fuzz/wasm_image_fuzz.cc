#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "tests/fuzz/choices.h"
#include "wasm/credentials.h"
#include "wasm/image_reference.h"
#include "wasm/manifest.h"
#include "wasm/unbox.h"

// For libFuzzer: any bytes may be what a registry or a server answers: a manifest, a layer, a module, a
// challenge. What comes out of a box is no larger than allowed, and a module.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace fairlead::wasm;  // NOLINT: for this function
  constexpr size_t kMost = 1 << 16;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto module = Unbox(text, kMost);
  fairlead::fuzz::Require(!module.ok() || IsModule(*module), "no module came out");
  fairlead::fuzz::Require(!module.ok() || module->size() <= std::max(kMost, size), "too large a module");
  const auto file = FileOfLayer(text, "plugin.wasm", kMost);
  fairlead::fuzz::Require(!file.ok() || file->size() <= kMost, "too large a file");
  if (const auto manifest = ParseManifest(text); manifest.ok()) {
    const auto layer = ModuleLayerOf(*manifest);
    fairlead::fuzz::Require(!layer.ok() || layer->layer.digest.size() == 64, "a layer without a digest");
    const auto image = ImageOfIndex(*manifest);
    fairlead::fuzz::Require(!image.ok() || image->digest.size() == 64, "an image without a digest");
  }
  if (const auto reference = ParseImageReference(text); reference.ok()) {
    fairlead::fuzz::Require(reference->repository.find_first_of("?#%\\ \r\n@") == std::string::npos,
                            "a repository that is not safe in a URL");
    fairlead::fuzz::Require(reference->registry.find_first_of("/?#%\\ \r\n@") == std::string::npos,
                            "a registry that is not safe in a URL");
  }
  if (const auto challenge = ParseChallenge({text}))
    CheckRealm(challenge->realm, "https://registry.example.com").IgnoreError();
  CredentialsFor(text, "registry.example.com").IgnoreError();
  return 0;
}
