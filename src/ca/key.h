#ifndef FAIRLEAD_CA_KEY_H_
#define FAIRLEAD_CA_KEY_H_

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

struct evp_pkey_st;

namespace fairlead::ca {

// A private or a public key. Immutable, may be used by any thread.
using KeyPtr = std::shared_ptr<evp_pkey_st>;

enum class KeyType { kEcdsaP256, kEcdsaP384, kRsa };

// A new pair. `rsa_bits` of an RSA key: 2048 to 8192, else InvalidArgument.
absl::StatusOr<KeyPtr> MakeKey(KeyType type, int rsa_bits = 2048);
// A private key without a password, in any of PEM's forms. InvalidArgument without its content.
absl::StatusOr<KeyPtr> ReadPrivateKey(std::string_view pem);
// A private key in PKCS #8.
std::string PrivateKeyPem(const KeyPtr& key);
// InvalidArgument for a key without a right to certificates. Allowed are RSA of 2048 to 8192 bits and the
// curves P-256, P-384 and P-521.
absl::Status CheckPublicKey(const KeyPtr& key);
bool SamePublicKey(const KeyPtr& a, const KeyPtr& b);

}  // namespace fairlead::ca

#endif  // FAIRLEAD_CA_KEY_H_
