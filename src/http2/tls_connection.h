#ifndef FAIRLEAD_HTTP2_TLS_CONNECTION_H_
#define FAIRLEAD_HTTP2_TLS_CONNECTION_H_

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "http2/output.h"
#include "http2/tls.h"

struct x509_store_ctx_st;

namespace fairlead::http2 {

// One end of a TLS connection, without its socket. For one thread.
class TlsConnection {
 public:
  explicit TlsConnection(ssl_ctx_st* credentials);  // the server's end
  // The client's end: the server's certificate must name `server_name`, a name or an address. The handshake
  // begins with the first Receive, of nothing.
  TlsConnection(ssl_ctx_st* credentials, const std::string& server_name);

  // Takes what has come and calls `take` with what it says, if anything; what TLS itself has to answer is
  // appended to `out`. An error ends the connection; `out` may hold its last words.
  template <typename Take>
  absl::Status Receive(std::string_view in, std::string* out, const Take& take) {
    Begin(in, out);
    absl::Status status = Shake();
    std::string_view plain;
    while (status.ok() && established() && Decrypt(&plain, &status)) take(plain);
    End();
    return status;
  }
  // Appends what says the pieces to `out`, in records of 16 KiB. REQUIRES: established.
  void Encrypt(const Batch& batch, std::string* out);

  bool established() const { return peer_ != nullptr; }
  bool resumed() const;
  const std::shared_ptr<const TlsPeer>& peer() const { return peer_; }  // null: not yet established

 private:
  struct Free {
    void operator()(ssl_st* tls) const;
  };
  // For the library's calls of a moment.
  struct Buffers {
    std::string_view in;
    std::string* out = nullptr;
  };
  friend struct TlsBuffers;
  void Attach();  // the buffers
  void Begin(std::string_view in, std::string* out) { buffers_ = {in, out}; }
  void End() { buffers_ = {}; }
  absl::Status Shake();
  static int Verify(int ok, x509_store_ctx_st* context);
  bool Decrypt(std::string_view* plain, absl::Status* status);

  Buffers buffers_;
  std::unique_ptr<ssl_st, Free> tls_;
  std::string other_names_;  // of a server's certificate that is for others than the one that is wanted
  std::shared_ptr<const TlsPeer> peer_;
};

}  // namespace fairlead::http2

#endif  // FAIRLEAD_HTTP2_TLS_CONNECTION_H_
