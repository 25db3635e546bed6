#ifndef FAIRLEAD_WASM_REGISTRY_H_
#define FAIRLEAD_WASM_REGISTRY_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "wasm/credentials.h"
#include "wasm/download.h"
#include "wasm/image_reference.h"
#include "wasm/manifest.h"

namespace fairlead::wasm {

// One image of a registry: its manifest, then its module, each checked against the digest that it was asked
// for by. Over TLS; over plaintext only a registry on this machine or one that is insecure by the options,
// where it does not speak TLS. Every call blocks. Not thread-safe. Source: the OCI distribution
// specification, "Pull"; the distribution project's token authentication.
class RegistryImage {
 public:
  // `pull_secret`: a docker config.json; none: the options'. `download` must outlive it.
  RegistryImage(const Download& download, ImageReference reference, std::optional<std::string> pull_secret);

  // Finds the image: its digest, 64 hexadecimal digits. The image behind an index has its own digest, unless
  // the reference pins the index itself: then that.
  absl::StatusOr<std::string> Resolve();
  // REQUIRES: Resolve was OK.
  absl::StatusOr<std::string> Module();

 private:
  // GET of a path of the repository, with what the registry asks for.
  absl::StatusOr<std::string> Get(const std::string& path, const std::string& accept, size_t most);
  absl::StatusOr<fetch::WebAnswer> AskOnce(const std::string& path, const std::string& accept, size_t most);
  absl::Status Authenticate(const fetch::WebAnswer& refusal);
  absl::Status GetToken(const Challenge& challenge, const RegistryCredentials& credentials,
                        bool registry_inside);
  absl::StatusOr<RegistryCredentials> FindCredentials() const;
  absl::StatusOr<Manifest> GetManifest(const std::string& name, std::string* digest);
  bool MayBePlaintext() const;
  // Goes on over plaintext where that is allowed and the registry does not speak TLS.
  void FindScheme();

  const Download& download_;
  const ImageReference reference_;
  const std::optional<std::string> pull_secret_;
  const bool insecure_;
  std::string base_;           // "https://registry"
  std::string authorization_;  // the header; "" where none was asked for
  Manifest image_;
};

}  // namespace fairlead::wasm

#endif  // FAIRLEAD_WASM_REGISTRY_H_
