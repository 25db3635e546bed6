#include "http2/tls_connection.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "base/strings.h"

namespace fairlead::http2 {
namespace {

constexpr size_t kRecord = 16 << 10;

std::string Reason() {
  const unsigned long error = ERR_peek_last_error();
  ERR_clear_error();
  const char* const reason = ERR_reason_error_string(error);
  return reason == nullptr ? "the connection ended" : reason;
}

// What a certificate was refused for.
std::string Doubt(const SSL* tls) {
  const long result = SSL_get_verify_result(tls);
  return result == X509_V_OK ? "" : StrCat(": ", X509_verify_cert_error_string(result));
}

}  // namespace

// The library reads from and writes to the buffers of the call that is under way.
struct TlsBuffers {
  static TlsConnection::Buffers& Of(BIO* bio) {
    return *static_cast<TlsConnection::Buffers*>(BIO_get_data(bio));
  }
  static int Read(BIO* bio, char* to, int size) {
    Buffers& buffers = Of(bio);
    BIO_clear_retry_flags(bio);
    if (buffers.in.empty()) {
      BIO_set_retry_read(bio);
      return -1;
    }
    const size_t part = std::min(buffers.in.size(), static_cast<size_t>(size));
    memcpy(to, buffers.in.data(), part);
    buffers.in.remove_prefix(part);
    return static_cast<int>(part);
  }
  static int Write(BIO* bio, const char* from, int size) {
    if (Of(bio).out == nullptr) return -1;
    Of(bio).out->append(from, static_cast<size_t>(size));
    return size;
  }
  static long Control(BIO*, int command, long, void*) { return command == BIO_CTRL_FLUSH ? 1 : 0; }
  static BIO_METHOD* Method() {
    BIO_METHOD* method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "fairlead");
    BIO_meth_set_read(method, Read);
    BIO_meth_set_write(method, Write);
    BIO_meth_set_ctrl(method, Control);
    return method;
  }

 private:
  using Buffers = TlsConnection::Buffers;
};

void TlsConnection::Free::operator()(ssl_st* tls) const { SSL_free(tls); }

void TlsConnection::Attach() {
  static BIO_METHOD* const method = TlsBuffers::Method();
  BIO* const bio = BIO_new(method);
  BIO_set_data(bio, &buffers_);
  BIO_set_init(bio, 1);
  SSL_set_bio(tls_.get(), bio, bio);
}

TlsConnection::TlsConnection(ssl_ctx_st* credentials) : tls_(SSL_new(credentials)) {
  Attach();
  SSL_set_accept_state(tls_.get());
}

TlsConnection::TlsConnection(ssl_ctx_st* credentials, const std::string& server_name)
    : tls_(SSL_new(credentials)) {
  Attach();
  if (X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(tls_.get()), server_name.c_str()) != 1) {
    SSL_set1_host(tls_.get(), server_name.c_str());
    SSL_set_tlsext_host_name(tls_.get(), server_name.c_str());
  }
  SSL_set_app_data(tls_.get(), this);
  SSL_set_verify(tls_.get(), SSL_VERIFY_PEER, Verify);
  SSL_set_connect_state(tls_.get());
}

// As the credentials' own; notes whom a certificate is for that is not for the one that is wanted.
int TlsConnection::Verify(int ok, x509_store_ctx_st* context) {
  SSL* const tls =
      static_cast<SSL*>(X509_STORE_CTX_get_ex_data(context, SSL_get_ex_data_X509_STORE_CTX_idx()));
  const int error = X509_STORE_CTX_get_error(context);
  if (ok == 0 && (error == X509_V_ERR_HOSTNAME_MISMATCH || error == X509_V_ERR_IP_ADDRESS_MISMATCH))
    static_cast<TlsConnection*>(SSL_get_app_data(tls))->other_names_ = NamesOfVerified(context);
  const auto own = SSL_CTX_get_verify_callback(SSL_get_SSL_CTX(tls));
  return own == nullptr ? ok : own(ok, context);
}

absl::Status TlsConnection::Shake() {
  if (established()) return absl::OkStatus();
  const int result = SSL_do_handshake(tls_.get());
  if (result != 1) {
    if (SSL_get_error(tls_.get(), result) == SSL_ERROR_WANT_READ) return absl::OkStatus();
    return absl::UnauthenticatedError(
        StrCat("TLS handshake: ", Reason(), Doubt(tls_.get()),
               other_names_.empty() ? "" : StrCat(": the certificate is for ", other_names_)));
  }
  // An end that names no protocol speaks some other one. At a listener of pages that is HTTP/1.1 (RFC 9112):
  // Go's clients with TLS settings of their own, istioctl for one, leave ALPN out.
  const unsigned char* protocol = nullptr;
  unsigned size = 0;
  SSL_get0_alpn_selected(tls_.get(), &protocol, &size);
  const bool named = size > 0 || SSL_CTX_get_app_data(SSL_get_SSL_CTX(tls_.get())) != nullptr;
  if (!named) return absl::UnauthenticatedError("TLS handshake: the other end does not name h2 (ALPN)");
  auto peer = ReadTlsPeer(tls_.get());
  if (!peer.ok()) return peer.status();
  peer_ = *std::move(peer);
  return absl::OkStatus();
}

bool TlsConnection::Decrypt(std::string_view* plain, absl::Status* status) {
  static thread_local std::array<char, kRecord> buffer;
  const int size = SSL_read(tls_.get(), buffer.data(), static_cast<int>(buffer.size()));
  if (size > 0) {
    *plain = {buffer.data(), static_cast<size_t>(size)};
    return true;
  }
  if (SSL_get_error(tls_.get(), size) != SSL_ERROR_WANT_READ)
    *status = absl::UnavailableError(StrCat("TLS: ", Reason()));
  return false;
}

void TlsConnection::Encrypt(const Batch& batch, std::string* out) {
  static thread_local std::string record;
  Begin({}, out);
  const auto write = [this](const void* bytes, size_t size) {
    SSL_write(tls_.get(), bytes, static_cast<int>(size));
  };
  record.clear();
  for (const iovec& piece : batch.pieces()) {
    std::string_view rest(static_cast<const char*>(piece.iov_base), piece.iov_len);
    while (!rest.empty()) {
      if (record.empty() && rest.size() >= kRecord) {
        write(rest.data(), kRecord);
        rest.remove_prefix(kRecord);
        continue;
      }
      const size_t part = std::min(rest.size(), kRecord - record.size());
      record.append(rest.substr(0, part));
      rest.remove_prefix(part);
      if (record.size() < kRecord) continue;
      write(record.data(), record.size());
      record.clear();
    }
  }
  if (!record.empty()) write(record.data(), record.size());
  End();
}

bool TlsConnection::resumed() const { return SSL_session_reused(tls_.get()) == 1; }

}  // namespace fairlead::http2
