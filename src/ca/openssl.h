#ifndef FAIRLEAD_CA_OPENSSL_H_
#define FAIRLEAD_CA_OPENSSL_H_

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/x509.h>

#include <memory>
#include <string>
#include <string_view>

// OpenSSL's objects as owned values, for the sources of this folder.
namespace fairlead::ca {

template <auto Free>
struct Freer {
  template <typename T>
  void operator()(T* object) const {
    Free(object);
  }
};
template <typename T, auto Free>
using Owned = std::unique_ptr<T, Freer<Free>>;

using OwnedBio = Owned<BIO, BIO_free_all>;
using OwnedKey = Owned<EVP_PKEY, EVP_PKEY_free>;
using OwnedCertificate = Owned<X509, X509_free>;

// A text that is read; valid as long as the text.
inline OwnedBio Reading(std::string_view text) {
  return OwnedBio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

// The content of a memory BIO.
inline std::string Written(BIO* out) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(out, &data);
  return size <= 0 ? std::string() : std::string(data, static_cast<size_t>(size));
}

// Why the last call failed. Empties OpenSSL's queue of errors, which is the thread's.
inline std::string Reason() {
  const unsigned long code = ERR_peek_last_error();
  const char* reason = code == 0 ? nullptr : ERR_reason_error_string(code);
  std::string text = reason == nullptr ? "unknown reason" : reason;
  ERR_clear_error();
  return text;
}

}  // namespace fairlead::ca

#endif  // FAIRLEAD_CA_OPENSSL_H_
