#include "http2/tls.h"

#include <arpa/inet.h>
#include <nghttp2/nghttp2.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/strings.h"

namespace fairlead::http2 {
namespace {

constexpr size_t kTicketKeySize = 80;           // name, HMAC key and AES key: SSL_CTX_set_tlsext_ticket_keys
constexpr unsigned char kH2[] = {2, 'h', '2'};  // as ALPN lists it
constexpr unsigned char kSessionScope[] = "fairlead";

template <auto Free>
struct Deleter {
  template <typename T>
  void operator()(T* value) const {
    Free(value);
  }
};
using BioPtr = std::unique_ptr<BIO, Deleter<BIO_free>>;
using X509Ptr = std::unique_ptr<X509, Deleter<X509_free>>;
using KeyPtr = std::unique_ptr<EVP_PKEY, Deleter<EVP_PKEY_free>>;
using NamesPtr = std::unique_ptr<GENERAL_NAMES, Deleter<GENERAL_NAMES_free>>;

// The library's last words, which are its first error's; forgets them.
std::string LastError() {
  const unsigned long error = ERR_get_error();
  ERR_clear_error();
  char text[256] = "no reason given";
  if (error != 0) ERR_error_string_n(error, text, sizeof text);
  return text;
}

absl::Status Unusable(std::string_view part) {
  return absl::InvalidArgumentError(StrCat("TLS: ", part, " cannot be used: ", LastError()));
}

BioPtr Reader(const std::string& text) {
  return BioPtr(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

// The certificates of a text; none where one of them is broken.
std::vector<X509Ptr> ReadCertificates(const std::string& pem) {
  std::vector<X509Ptr> certificates;
  const BioPtr in = Reader(pem);
  while (X509* certificate = PEM_read_bio_X509(in.get(), nullptr, nullptr, nullptr))
    certificates.emplace_back(certificate);
  // The end of the text is an error, too.
  const unsigned long error = ERR_peek_last_error();
  if (ERR_GET_LIB(error) == ERR_LIB_PEM && ERR_GET_REASON(error) == PEM_R_NO_START_LINE) {
    ERR_clear_error();
  } else {
    certificates.clear();
  }
  return certificates;
}

absl::StatusOr<int> MinVersion(std::string_view text) {
  if (text.empty() || text == "TLSV1_2" || text == "1.2" || text == "TLS_AUTO") return TLS1_2_VERSION;
  if (text == "TLSV1_3" || text == "1.3") return TLS1_3_VERSION;
  return absl::InvalidArgumentError(StrCat("TLS: version \"", text, "\" is none of TLSV1_2, TLSV1_3"));
}

// As OpenSSL lists them. IANA's names start with "TLS_".
absl::StatusOr<std::string> CipherList(const std::vector<std::string>& suites) {
  if (suites.empty()) return std::string("ECDHE+AESGCM:ECDHE+CHACHA20");
  std::vector<std::string> names;
  for (const std::string& suite : suites) {
    std::string name = suite.starts_with("TLS_") ? OPENSSL_cipher_name(suite.c_str()) : suite.c_str();
    if (name == "(NONE)") return absl::InvalidArgumentError(StrCat("TLS: no cipher suite ", suite));
    names.push_back(std::move(name));
  }
  return Join(names, ":");
}

int ChooseHttp2(SSL*, const unsigned char** out, unsigned char* size, const unsigned char* in, unsigned n,
                void*) {
  // REQUIRES of gRPC's clients: a server that does not choose h2 is none.
  return nghttp2_select_next_protocol(const_cast<unsigned char**>(out), size, in, n) == 1
             ? SSL_TLSEXT_ERR_OK
             : SSL_TLSEXT_ERR_ALERT_FATAL;
}

int ChooseHttp(SSL*, const unsigned char** out, unsigned char* size, const unsigned char* in, unsigned n,
               void*) {
  return nghttp2_select_next_protocol(const_cast<unsigned char**>(out), size, in, n) >= 0
             ? SSL_TLSEXT_ERR_OK
             : SSL_TLSEXT_ERR_NOACK;
}

absl::Status UseCertificate(const std::string& pem, const std::string& private_key, SSL_CTX* tls) {
  const std::vector<X509Ptr> chain = ReadCertificates(pem);
  if (chain.empty()) return Unusable("the certificate chain");
  if (SSL_CTX_use_certificate(tls, chain.front().get()) != 1) return Unusable("the certificate");
  for (size_t i = 1; i < chain.size(); ++i) {
    if (SSL_CTX_add1_chain_cert(tls, chain[i].get()) != 1) return Unusable("the certificate chain");
  }
  const KeyPtr key(PEM_read_bio_PrivateKey(Reader(private_key).get(), nullptr, nullptr, nullptr));
  if (key == nullptr || SSL_CTX_use_PrivateKey(tls, key.get()) != 1) return Unusable("the private key");
  if (SSL_CTX_check_private_key(tls) != 1) return Unusable("the private key for this certificate");
  return absl::OkStatus();
}

// An authority without a list of its own has revoked nothing.
int PassMissingLists(int ok, X509_STORE_CTX* context) {
  if (ok == 1 || X509_STORE_CTX_get_error(context) != X509_V_ERR_UNABLE_TO_GET_CRL) return ok;
  X509_STORE_CTX_set_error(context, X509_V_OK);
  return 1;
}

// `whose`: "clients'", "servers'".
absl::Status UseRevoked(const std::string& pem, std::string_view whose, X509_STORE* store) {
  if (pem.empty()) return absl::OkStatus();
  const auto in = Reader(pem);
  int lists = 0;
  while (X509_CRL* list = PEM_read_bio_X509_CRL(in.get(), nullptr, nullptr, nullptr)) {
    lists += X509_STORE_add_crl(store, list);
    X509_CRL_free(list);
  }
  ERR_clear_error();
  if (lists == 0) return Unusable(StrCat("the ", whose, " revocation list"));
  X509_STORE_set_flags(store, X509_V_FLAG_CRL_CHECK | X509_V_FLAG_CRL_CHECK_ALL);
  return absl::OkStatus();
}

absl::Status UseRoots(const std::vector<X509Ptr>& roots, const std::string& revoked, std::string_view whose,
                      SSL_CTX* tls) {
  if (roots.empty()) return Unusable(StrCat("the ", whose, " roots"));
  X509_STORE* store = SSL_CTX_get_cert_store(tls);
  for (const X509Ptr& root : roots) {
    if (X509_STORE_add_cert(store, root.get()) != 1) return Unusable(StrCat("the ", whose, " roots"));
  }
  // Workloads' certificates say what they are for, or nothing; intermediates may be the anchors.
  X509_STORE_set_flags(store, X509_V_FLAG_PARTIAL_CHAIN);
  return UseRevoked(revoked, whose, store);
}

absl::Status UseClientRoots(const TlsMaterial& material, SSL_CTX* tls) {
  if (material.client_roots.empty()) {
    if (material.require_client_certificate)
      return absl::InvalidArgumentError("TLS: client certificates are required, but no roots vouch for them");
    return absl::OkStatus();
  }
  const std::vector<X509Ptr> roots = ReadCertificates(material.client_roots);
  if (absl::Status status = UseRoots(roots, material.client_crl, "clients'", tls); !status.ok())
    return status;
  for (const X509Ptr& root : roots) {
    if (SSL_CTX_add_client_CA(tls, root.get()) != 1) return Unusable("the clients' roots");
  }
  SSL_CTX_set_verify(
      tls, SSL_VERIFY_PEER | (material.require_client_certificate ? SSL_VERIFY_FAIL_IF_NO_PEER_CERT : 0),
      PassMissingLists);
  return absl::OkStatus();
}

void UseCommonSettings(SSL_CTX* tls) {
  SSL_CTX_set1_groups_list(tls, "X25519:P-256:P-384");
  SSL_CTX_set_options(tls, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  SSL_CTX_set_mode(
      tls, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_read_ahead(tls, 1);
}

std::string TextOf(const ASN1_STRING* text) {
  return {reinterpret_cast<const char*>(ASN1_STRING_get0_data(text)),
          static_cast<size_t>(ASN1_STRING_length(text))};
}

// "" of what is no address.
std::string AddressOf(const ASN1_OCTET_STRING* bytes) {
  const int family = ASN1_STRING_length(bytes) == 4 ? AF_INET : AF_INET6;
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (family == AF_INET6 && ASN1_STRING_length(bytes) != 16) return "";
  return inet_ntop(family, ASN1_STRING_get0_data(bytes), text.data(), text.size()) == nullptr ? ""
                                                                                              : text.data();
}

void ReadNames(X509* certificate, TlsPeer* peer) {
  const NamesPtr names(
      static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)));
  for (int i = 0; names != nullptr && i < sk_GENERAL_NAME_num(names.get()); ++i) {
    const GENERAL_NAME* name = sk_GENERAL_NAME_value(names.get(), i);
    if (name->type == GEN_URI) peer->uris.push_back(TextOf(name->d.uniformResourceIdentifier));
    if (name->type == GEN_DNS) peer->dns_names.push_back(TextOf(name->d.dNSName));
  }
  const BioPtr out(BIO_new(BIO_s_mem()));
  X509_NAME_print_ex(out.get(), X509_get_subject_name(certificate), 0, XN_FLAG_RFC2253);
  char* text = nullptr;
  const long size = BIO_get_mem_data(out.get(), &text);
  peer->subject.assign(text, static_cast<size_t>(size));
  tm expiry{};
  ASN1_TIME_to_tm(X509_get0_notAfter(certificate), &expiry);
  peer->not_after = std::chrono::system_clock::from_time_t(timegm(&expiry));
}

}  // namespace

absl::StatusOr<std::shared_ptr<TlsCredentials>> TlsCredentials::Make(TlsOptions options) {
  if (const auto version = MinVersion(options.min_version); !version.ok()) return version.status();
  const auto ciphers = CipherList(options.cipher_suites);
  if (!ciphers.ok()) return ciphers.status();
  const std::unique_ptr<SSL_CTX, Deleter<SSL_CTX_free>> probe(SSL_CTX_new(TLS_server_method()));
  if (SSL_CTX_set_cipher_list(probe.get(), ciphers->c_str()) != 1)
    return Unusable(StrCat("cipher suites ", *ciphers));
  return std::shared_ptr<TlsCredentials>(new TlsCredentials(std::move(options)));
}

absl::Status TlsCredentials::Replace(const TlsMaterial& material) {
  const std::shared_ptr<SSL_CTX> tls(SSL_CTX_new(TLS_server_method()), SSL_CTX_free);
  SSL_CTX_set_min_proto_version(tls.get(), *MinVersion(options_.min_version));
  SSL_CTX_set_cipher_list(tls.get(), CipherList(options_.cipher_suites)->c_str());
  UseCommonSettings(tls.get());
  SSL_CTX_set_options(tls.get(), SSL_OP_CIPHER_SERVER_PREFERENCE);
  SSL_CTX_set_alpn_select_cb(tls.get(), options_.http1 ? ChooseHttp : ChooseHttp2, nullptr);
  // TlsConnection::Shake asks for it: a client of HTTP/1.1 may leave ALPN out.
  if (options_.http1) SSL_CTX_set_app_data(tls.get(), tls.get());
  if (absl::Status status = UseCertificate(material.certificate_chain, material.private_key, tls.get());
      !status.ok())
    return status;
  if (absl::Status status = UseClientRoots(material, tls.get()); !status.ok()) return status;

  // Tickets carry the session: nothing is kept here.
  SSL_CTX_set_session_cache_mode(tls.get(), SSL_SESS_CACHE_OFF);
  SSL_CTX_set_session_id_context(tls.get(), kSessionScope, sizeof kSessionScope - 1);
  const bool tickets = options_.session_lifetime.count() > 0;
  SSL_CTX_set_num_tickets(tls.get(), tickets ? 1 : 0);
  if (tickets) SSL_CTX_set_timeout(tls.get(), static_cast<long>(options_.session_lifetime.count()));
  if (!tickets) SSL_CTX_set_options(tls.get(), SSL_OP_NO_TICKET);

  std::lock_guard lock(mutex_);
  // A session's certificate is not verified again: who was vouched for by other roots must come anew.
  if (ticket_keys_.empty() || client_roots_ != material.client_roots || client_crl_ != material.client_crl) {
    ticket_keys_.resize(kTicketKeySize);
    if (RAND_bytes(reinterpret_cast<unsigned char*>(ticket_keys_.data()), kTicketKeySize) != 1)
      return Unusable("the source of randomness");
    client_roots_ = material.client_roots;
    client_crl_ = material.client_crl;
  }
  SSL_CTX_set_tlsext_ticket_keys(tls.get(), ticket_keys_.data(), kTicketKeySize);
  current_ = tls;
  return absl::OkStatus();
}

std::shared_ptr<ssl_ctx_st> TlsCredentials::Get() const {
  std::lock_guard lock(mutex_);
  return current_;
}

absl::StatusOr<std::shared_ptr<ssl_ctx_st>> MakeClientTls(const ClientTlsMaterial& material) {
  std::shared_ptr<SSL_CTX> tls(SSL_CTX_new(TLS_client_method()), SSL_CTX_free);
  SSL_CTX_set_min_proto_version(tls.get(), TLS1_2_VERSION);
  UseCommonSettings(tls.get());
  SSL_CTX_set_alpn_protos(tls.get(), kH2, sizeof kH2);
  if (!material.certificate_chain.empty()) {
    if (absl::Status status = UseCertificate(material.certificate_chain, material.private_key, tls.get());
        !status.ok())
      return status;
  }
  const std::vector<X509Ptr> roots = ReadCertificates(material.server_roots);
  if (absl::Status status = UseRoots(roots, material.server_crl, "servers'", tls.get()); !status.ok())
    return status;
  SSL_CTX_set_verify(tls.get(), SSL_VERIFY_PEER, PassMissingLists);
  return tls;
}

std::string NamesOfVerified(x509_store_ctx_st* context) {
  constexpr int kMost = 8;
  constexpr size_t kLongest = 100;
  std::vector<std::string> all;
  const NamesPtr names(static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(X509_STORE_CTX_get0_cert(context), NID_subject_alt_name, nullptr, nullptr)));
  const int count = names == nullptr ? 0 : sk_GENERAL_NAME_num(names.get());
  for (int i = 0; i < std::min(count, kMost); ++i) {
    const GENERAL_NAME* name = sk_GENERAL_NAME_value(names.get(), i);
    std::string text;
    if (name->type == GEN_DNS) text = TextOf(name->d.dNSName);
    if (name->type == GEN_URI) text = TextOf(name->d.uniformResourceIdentifier);
    if (name->type == GEN_IPADD) text = AddressOf(name->d.iPAddress);
    std::replace_if(
        text.begin(), text.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
    if (!text.empty()) all.push_back(text.substr(0, kLongest));
  }
  if (count > kMost) all.push_back("...");
  return all.empty() ? "nobody" : Join(all, ", ");
}

absl::StatusOr<std::shared_ptr<const TlsPeer>> ReadTlsPeer(ssl_st* connection) {
  auto peer = std::make_shared<TlsPeer>();
  X509* certificate = SSL_get0_peer_certificate(connection);
  if (certificate == nullptr || SSL_get_verify_result(connection) != X509_V_OK) return peer;
  if (X509_cmp_current_time(X509_get0_notAfter(certificate)) < 0)
    return absl::UnauthenticatedError("the certificate of the resumed session has expired");
  peer->verified = true;
  ReadNames(certificate, peer.get());
  return peer;
}

}  // namespace fairlead::http2
