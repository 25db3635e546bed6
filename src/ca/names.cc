#include "ca/names.h"

#include <openssl/x509v3.h>

#include <algorithm>

#include "base/strings.h"

namespace fairlead::ca {
namespace {

constexpr size_t kLongestName = 2048;

bool IsPrintable(std::string_view name) {
  return !name.empty() && name.size() <= kLongestName &&
         std::all_of(name.begin(), name.end(), [](char c) { return c > ' ' && c < 0x7f; });
}

// By the constructors, not by OpenSSL's configuration language, in which names could say more than a name.
GENERAL_NAME* MakeName(const std::string& name) {
  GENERAL_NAME* made = GENERAL_NAME_new();
  if (ASN1_OCTET_STRING* address = a2i_IPADDRESS(name.c_str())) {
    GENERAL_NAME_set0_value(made, GEN_IPADD, address);
    return made;
  }
  ERR_clear_error();
  ASN1_IA5STRING* text = ASN1_IA5STRING_new();
  ASN1_STRING_set(text, name.data(), static_cast<int>(name.size()));
  GENERAL_NAME_set0_value(made, name.starts_with("spiffe://") ? GEN_URI : GEN_DNS, text);
  return made;
}

}  // namespace

absl::StatusOr<OwnedExtension> NamesExtension(const std::vector<std::string>& names, bool critical) {
  if (names.empty()) return absl::InvalidArgumentError("a certificate needs a name");
  const Owned<GENERAL_NAMES, GENERAL_NAMES_free> all(GENERAL_NAMES_new());
  for (const std::string& name : names) {
    if (!IsPrintable(name)) return absl::InvalidArgumentError("a name is empty, too long or not printable");
    sk_GENERAL_NAME_push(all.get(), MakeName(name));
  }
  OwnedExtension made(X509V3_EXT_i2d(NID_subject_alt_name, critical ? 1 : 0, all.get()));
  if (made == nullptr) return absl::InternalError(StrCat("names cannot be encoded: ", Reason()));
  return made;
}

}  // namespace fairlead::ca
