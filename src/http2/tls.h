#ifndef FAIRLEAD_HTTP2_TLS_H_
#define FAIRLEAD_HTTP2_TLS_H_

#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

struct ssl_ctx_st;
struct ssl_st;
struct x509_store_ctx_st;

// TLS: what each end shows and demands, and who is at the other end. TLS 1.2 and 1.3, ALPN "h2".
namespace fairlead::http2 {

// What does not change while a listener lives.
struct TlsOptions {
  std::string min_version =
      {};  // "TLSV1_2", "TLSV1_3" or "" (1.2), as MeshConfig names them; also "1.2", "1.3"
  // Of TLS 1.2, by IANA's or OpenSSL's names, most wanted first; none: those with forward secrecy and AEAD.
  std::vector<std::string> cipher_suites = {};
  // Clients that come back within that time need no whole handshake; zero: all of them do.
  std::chrono::seconds session_lifetime = std::chrono::hours(1);
  bool http1 = false;  // a listener of pages: a client need not speak HTTP/2, as gRPC's must
};

// What a listener shows and whom it believes; PEM.
struct TlsMaterial {
  std::string certificate_chain = {};  // the listener's own first
  std::string private_key = {};
  std::string client_roots = {};  // that vouch for clients; "": no client is asked for a certificate
  std::string client_crl = {};    // what is revoked of them, certificates' lists in PEM; "": nothing
  bool require_client_certificate = false;  // else a client without one is let in and has no names
};

// The other end of a connection. Names are only those of a certificate that was verified.
struct TlsPeer {
  bool verified = false;          // there is such a certificate
  std::vector<std::string> uris;  // its subject alternative names: "spiffe://cluster.local/ns/a/sa/b"
  std::vector<std::string> dns_names;
  std::string subject;  // "CN=a,O=b"
  std::chrono::system_clock::time_point not_after{};
};

// What a listener shows, which may be replaced while it listens: handshakes from then on see the new, what is
// connected stays so. Thread-safe.
class TlsCredentials {
 public:
  // InvalidArgument for a version or cipher suite that is not known.
  static absl::StatusOr<std::shared_ptr<TlsCredentials>> Make(TlsOptions options);
  // InvalidArgument, saying which part, where the material cannot be used: the old one is kept then.
  // Before the first one, handshakes are refused. Sessions cannot be resumed across a change of client roots.
  absl::Status Replace(const TlsMaterial& material);
  // For a handshake; null before the first material.
  std::shared_ptr<ssl_ctx_st> Get() const;

 private:
  explicit TlsCredentials(TlsOptions&& options) : options_(std::move(options)) {}

  const TlsOptions options_;
  mutable std::mutex mutex_;
  std::shared_ptr<ssl_ctx_st> current_;
  std::string ticket_keys_, client_roots_, client_crl_;  // for which the keys were made
};

// What a client shows and whom it believes; PEM.
struct ClientTlsMaterial {
  std::string certificate_chain = {};  // the client's own first; "": none is shown
  std::string private_key = {};
  std::string server_roots = {};  // that vouch for servers
  std::string server_crl = {};    // what is revoked of them; "": nothing
};

// For a client's handshakes. InvalidArgument, saying which part, where the material cannot be used.
absl::StatusOr<std::shared_ptr<ssl_ctx_st>> MakeClientTls(const ClientTlsMaterial& material);

// The names that a certificate is for, as people are told them: "istiod.istio-system.svc, 10.0.0.1", a few of
// many; printable. `context`: an X509_STORE_CTX of a verification under way.
std::string NamesOfVerified(x509_store_ctx_st* context);

// Who is at the other end after a handshake. Unauthenticated where the certificate of a resumed session has
// expired meanwhile.
absl::StatusOr<std::shared_ptr<const TlsPeer>> ReadTlsPeer(ssl_st* connection);

}  // namespace fairlead::http2

#endif  // FAIRLEAD_HTTP2_TLS_H_
