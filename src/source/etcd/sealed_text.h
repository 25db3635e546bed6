#ifndef FAIRLEAD_SOURCE_ETCD_SEALED_TEXT_H_
#define FAIRLEAD_SOURCE_ETCD_SEALED_TEXT_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

// Texts that a store may show, but whose meaning only those know who have a key: AES-256-GCM (NIST SP
// 800-38D) with a random nonce. The AES key is SHA-256 of the whole content of the key's file.
namespace fairlead::source {

inline constexpr size_t kLeastSealingKey = 32;  // bytes of the file

// The content of a file with a key. FailedPrecondition where it is shorter, or where others than its owner
// and group may read it; else as ReadSmallFile.
absl::StatusOr<std::string> ReadSealingKey(const std::string& path);

// `place`: where the text lies; in another place it cannot be opened.
// Unavailable where the machine has no random numbers.
absl::StatusOr<std::string> Seal(std::string_view key, std::string_view place, std::string_view text);
// FailedPrecondition where it was sealed with another key or for another place, or is no such text.
absl::StatusOr<std::string> Unseal(std::string_view key, std::string_view place, std::string_view sealed);

// Base64 with padding, on one line.
std::string EncodeBase64(std::string_view bytes);

}  // namespace fairlead::source

#endif  // FAIRLEAD_SOURCE_ETCD_SEALED_TEXT_H_
