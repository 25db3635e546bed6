#ifndef FAIRLEAD_BASE_CERTIFICATES_FAKE_H_
#define FAIRLEAD_BASE_CERTIFICATES_FAKE_H_

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <string>

// For tests.
namespace fairlead {

struct Issued {
  std::string certificate, key;  // PEM
};

// A certificate authority of a moment, with keys of P-256.
class AuthorityFake {
 public:
  AuthorityFake() : key_(EVP_EC_gen("P-256")), certificate_(Make("root", "", key_, nullptr)) {}
  ~AuthorityFake() {
    X509_free(certificate_);
    EVP_PKEY_free(key_);
  }
  AuthorityFake(const AuthorityFake&) = delete;
  AuthorityFake& operator=(const AuthorityFake&) = delete;

  std::string certificate() const { return Text(certificate_); }
  X509* root() const { return certificate_; }
  Issued Issue(const std::string& name, const std::string& uri) const {
    EVP_PKEY* const key = EVP_EC_gen("P-256");
    X509* const certificate = Make(name, uri, key, this);
    BIO* const out = BIO_new(BIO_s_mem());
    PEM_write_bio_PrivateKey(out, key, nullptr, nullptr, 0, nullptr, nullptr);
    Issued issued{Text(certificate), Content(out)};
    BIO_free(out);
    X509_free(certificate);
    EVP_PKEY_free(key);
    return issued;
  }

 private:
  static std::string Content(BIO* bio) {
    char* text = nullptr;
    const long size = BIO_get_mem_data(bio, &text);
    return {text, static_cast<size_t>(size)};
  }
  static std::string Text(X509* certificate) {
    BIO* const out = BIO_new(BIO_s_mem());
    PEM_write_bio_X509(out, certificate);
    std::string text = Content(out);
    BIO_free(out);
    return text;
  }
  static void Extend(X509* certificate, int kind, const std::string& value) {
    X509_EXTENSION* const extension = X509V3_EXT_conf_nid(nullptr, nullptr, kind, value.c_str());
    X509_add_ext(certificate, extension, -1);
    X509_EXTENSION_free(extension);
  }
  // By an authority, or its own.
  static X509* Make(const std::string& name, const std::string& uri, EVP_PKEY* key, const AuthorityFake* by) {
    static long serial = 0;
    X509* const made = X509_new();
    X509_set_version(made, 2);
    ASN1_INTEGER_set(X509_get_serialNumber(made), ++serial);
    X509_gmtime_adj(X509_getm_notBefore(made), -60);
    X509_gmtime_adj(X509_getm_notAfter(made), 3600);
    X509_set_pubkey(made, key);
    X509_NAME_add_entry_by_txt(X509_get_subject_name(made), "CN", MBSTRING_ASC,
                               reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
    X509_set_issuer_name(made, X509_get_subject_name(by == nullptr ? made : by->certificate_));
    if (by == nullptr) Extend(made, NID_basic_constraints, "critical,CA:TRUE");
    if (!uri.empty()) Extend(made, NID_subject_alt_name, "URI:" + uri);
    X509_sign(made, by == nullptr ? key : by->key_, EVP_sha256());
    return made;
  }

  EVP_PKEY* const key_;
  X509* const certificate_;
};

// What a server or a client shows from now on.
inline void UseCertificate(SSL_CTX* tls, const Issued& own) {
  BIO* const certificate =
      BIO_new_mem_buf(own.certificate.data(), static_cast<int>(own.certificate.size()));
  BIO* const key = BIO_new_mem_buf(own.key.data(), static_cast<int>(own.key.size()));
  X509* const read = PEM_read_bio_X509(certificate, nullptr, nullptr, nullptr);
  EVP_PKEY* const read_key = PEM_read_bio_PrivateKey(key, nullptr, nullptr, nullptr);
  SSL_CTX_use_certificate(tls, read);
  SSL_CTX_use_PrivateKey(tls, read_key);
  X509_free(read);
  EVP_PKEY_free(read_key);
  BIO_free(certificate);
  BIO_free(key);
}

// A client's settings: it trusts the authority, names h2, and keeps the last session that it was given.
class ClientTls {
 public:
  explicit ClientTls(const AuthorityFake& authority) : tls_(SSL_CTX_new(TLS_client_method())) {
    X509_STORE_add_cert(SSL_CTX_get_cert_store(tls_), authority.root());
    SSL_CTX_set_verify(tls_, SSL_VERIFY_PEER, nullptr);
    SSL_CTX_set_alpn_protos(tls_, reinterpret_cast<const unsigned char*>("\x02h2"), 3);
    SSL_CTX_set_session_cache_mode(tls_, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
    SSL_CTX_set_ex_data(tls_, 0, this);
    SSL_CTX_sess_set_new_cb(tls_, [](SSL* connection, SSL_SESSION* session) {
      auto* self = static_cast<ClientTls*>(SSL_CTX_get_ex_data(SSL_get_SSL_CTX(connection), 0));
      SSL_SESSION_free(self->session_);
      self->session_ = session;
      return 1;
    });
  }
  ~ClientTls() {
    SSL_SESSION_free(session_);
    SSL_CTX_free(tls_);
  }
  ClientTls(const ClientTls&) = delete;
  ClientTls& operator=(const ClientTls&) = delete;

  void Use(const Issued& own) { UseCertificate(tls_, own); }
  SSL_CTX* get() { return tls_; }
  bool has_session() const { return session_ != nullptr; }
  static SSL_SESSION* SessionOf(SSL_CTX* tls) {
    return static_cast<ClientTls*>(SSL_CTX_get_ex_data(tls, 0))->session_;
  }

 private:
  SSL_CTX* const tls_;
  SSL_SESSION* session_ = nullptr;
};

}  // namespace fairlead

#endif  // FAIRLEAD_BASE_CERTIFICATES_FAKE_H_
