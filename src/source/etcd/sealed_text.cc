#include "source/etcd/sealed_text.h"

#include <openssl/evp.h>
#include <openssl/rand.h>
#include <openssl/sha.h>
#include <sys/stat.h>

#include <array>
#include <memory>
#include <optional>

#include "base/base64.h"
#include "base/strings.h"
#include "kube/access.h"

namespace fairlead::source {
namespace {

constexpr std::string_view kFormat = "fairlead-sealed-1:";
constexpr size_t kNonce = 12, kTag = 16;

using Context = std::unique_ptr<EVP_CIPHER_CTX, decltype(&EVP_CIPHER_CTX_free)>;
using Key = std::array<unsigned char, SHA256_DIGEST_LENGTH>;

const unsigned char* Bytes(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}
unsigned char* Bytes(std::string* text) { return reinterpret_cast<unsigned char*>(text->data()); }

Key KeyOf(std::string_view content) {
  Key key;
  SHA256(Bytes(content), content.size(), key.data());
  return key;
}

// All of `text` in one go; nothing where the library refuses.
std::optional<std::string> Crypt(bool seal, std::string_view content, std::string_view nonce,
                                 std::string_view place, std::string_view text, std::string* tag) {
  const Context context(EVP_CIPHER_CTX_new(), &EVP_CIPHER_CTX_free);
  const Key key = KeyOf(content);
  int size = 0, rest = 0;
  std::string out(text.size(), '\0');
  EVP_CIPHER_CTX* const c = context.get();
  bool good = EVP_CipherInit_ex(c, EVP_aes_256_gcm(), nullptr, key.data(), Bytes(nonce), seal ? 1 : 0) == 1;
  good = good && EVP_CipherUpdate(c, nullptr, &size, Bytes(place), static_cast<int>(place.size())) == 1;
  good = good && EVP_CipherUpdate(c, Bytes(&out), &size, Bytes(text), static_cast<int>(text.size())) == 1;
  if (!seal)
    good = good && EVP_CIPHER_CTX_ctrl(c, EVP_CTRL_GCM_SET_TAG, static_cast<int>(kTag), tag->data()) == 1;
  std::array<unsigned char, EVP_MAX_BLOCK_LENGTH> last{};
  good = good && EVP_CipherFinal_ex(c, last.data(), &rest) == 1;
  if (seal)
    good = good && EVP_CIPHER_CTX_ctrl(c, EVP_CTRL_GCM_GET_TAG, static_cast<int>(kTag), tag->data()) == 1;
  if (!good) return std::nullopt;
  return out;
}

}  // namespace

absl::StatusOr<std::string> ReadSealingKey(const std::string& path) {
  struct stat found {};
  if (stat(path.c_str(), &found) == 0 && (found.st_mode & S_IRWXO) != 0)
    return absl::FailedPreconditionError(ToAbsl(StrCat(path, " may be read by everybody: chmod o= ", path)));
  absl::StatusOr<std::string> content = kube::ReadSmallFile(path);
  if (content.ok() && content->size() < kLeastSealingKey)
    return absl::FailedPreconditionError(
        ToAbsl(StrCat(path, " has ", content->size(), " bytes; a key has ", kLeastSealingKey, " or more")));
  return content;
}

std::string EncodeBase64(std::string_view bytes) {
  std::string out((bytes.size() + 2) / 3 * 4 + 1, '\0');
  out.resize(static_cast<size_t>(EVP_EncodeBlock(Bytes(&out), Bytes(bytes), static_cast<int>(bytes.size()))));
  return out;
}

absl::StatusOr<std::string> Seal(std::string_view key, std::string_view place, std::string_view text) {
  std::string nonce(kNonce, '\0'), tag(kTag, '\0');
  if (RAND_bytes(Bytes(&nonce), static_cast<int>(kNonce)) != 1)
    return absl::UnavailableError("there are no random numbers");
  const auto sealed = Crypt(true, key, nonce, place, text, &tag);
  if (!sealed) return absl::UnavailableError("the text cannot be sealed");
  return StrCat(kFormat, EncodeBase64(StrCat(nonce, tag, *sealed)));
}

absl::StatusOr<std::string> Unseal(std::string_view key, std::string_view place, std::string_view sealed) {
  const absl::Status refused = absl::FailedPreconditionError("is not sealed with this key");
  if (!sealed.starts_with(kFormat)) return refused;
  const auto bytes = DecodeBase64(sealed.substr(kFormat.size()));
  if (!bytes || bytes->size() < kNonce + kTag) return refused;
  std::string tag = bytes->substr(kNonce, kTag);
  auto text = Crypt(false, key, bytes->substr(0, kNonce), place,
                    std::string_view(*bytes).substr(kNonce + kTag), &tag);
  if (!text) return refused;
  return *std::move(text);
}

}  // namespace fairlead::source
