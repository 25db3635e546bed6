#ifndef FAIRLEAD_HTTP2_SOCKET_CLIENT_FAKE_H_
#define FAIRLEAD_HTTP2_SOCKET_CLIENT_FAKE_H_

#include <netinet/in.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <functional>
#include <string>

#include "base/certificates_fake.h"
#include "http2/http2_client_fake.h"

// For tests.
namespace fairlead::http2 {

// An HTTP/2 client on a socket, plaintext or TLS, which reads and writes only within Until.
class SocketClient {
 public:
  // `greets`: says HTTP/2's preface by itself.
  explicit SocketClient(int port, SSL_CTX* tls = nullptr, int32_t window = 65535, bool greets = true)
      : greets_(greets), http2_(window) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    Connect(AF_INET, reinterpret_cast<const sockaddr*>(&address), sizeof address, tls);
  }
  explicit SocketClient(const std::string& path) : greets_(true), http2_(65535) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    memcpy(address.sun_path, path.data(), path.size());
    Connect(AF_UNIX, reinterpret_cast<const sockaddr*>(&address), sizeof address, nullptr);
  }
  ~SocketClient() {
    // Else the library would think that the session had come to a bad end, and not resume it.
    if (tls_ != nullptr) SSL_set_shutdown(tls_, SSL_SENT_SHUTDOWN);
    SSL_free(tls_);
    close(socket_);
  }
  SocketClient(const SocketClient&) = delete;
  SocketClient& operator=(const SocketClient&) = delete;

  Http2Client& http2() { return http2_; }
  bool ended() const { return ended_; }  // by the server
  bool resumed() const { return tls_ != nullptr && SSL_session_reused(tls_) == 1; }
  std::string cipher() const { return SSL_get_cipher_name(tls_); }
  std::string server_name() const {  // of its certificate
    char name[100] = "";
    X509_NAME_get_text_by_NID(X509_get_subject_name(SSL_get0_peer_certificate(tls_)), NID_commonName, name,
                              sizeof name);
    return name;
  }

  // Talks until something is so; false where it does not come to be within a minute, or the server ends.
  bool Until(const std::function<bool()>& so) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (!so()) {
      if (ended_ || std::chrono::steady_clock::now() > end) return so();
      if (greets_) output_ += http2_.Output();
      const bool wrote = Write();
      if (Read() || wrote) continue;
      pollfd file{socket_, static_cast<short>(output_.empty() ? POLLIN : POLLIN | POLLOUT), 0};
      poll(&file, 1, 20);
    }
    return true;
  }

 private:
  void Connect(int family, const sockaddr* address, socklen_t size, SSL_CTX* tls) {
    socket_ = socket(family, SOCK_STREAM, 0);
    if (connect(socket_, address, size) != 0) ended_ = true;
    if (tls != nullptr) {
      tls_ = SSL_new(tls);
      SSL_set_fd(tls_, socket_);
      SSL_set_connect_state(tls_);
      if (SSL_SESSION* session = ClientTls::SessionOf(tls)) SSL_set_session(tls_, session);
      if (SSL_do_handshake(tls_) != 1) ended_ = true;
      SSL_set_mode(tls_, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
      const timeval moment{0, 1000};
      setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &moment, sizeof moment);
      setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &moment, sizeof moment);
    }
  }
  bool Write() {
    if (output_.empty()) return false;
    const ssize_t size = tls_ != nullptr
                             ? SSL_write(tls_, output_.data(), static_cast<int>(output_.size()))
                             : send(socket_, output_.data(), output_.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (size <= 0) return false;
    output_.erase(0, static_cast<size_t>(size));
    return true;
  }
  bool Read() {
    char bytes[1 << 14];
    ssize_t size = 0;
    if (tls_ != nullptr) {
      size = SSL_read(tls_, bytes, sizeof bytes);
      if (size <= 0 && SSL_get_error(tls_, static_cast<int>(size)) != SSL_ERROR_WANT_READ) ended_ = true;
    } else {
      size = recv(socket_, bytes, sizeof bytes, MSG_DONTWAIT);
      if (size == 0 || (size < 0 && errno != EAGAIN)) ended_ = true;
    }
    if (size <= 0) return false;
    return http2_.Input({bytes, static_cast<size_t>(size)});
  }

  const bool greets_;
  Http2Client http2_;
  int socket_ = -1;
  SSL* tls_ = nullptr;
  std::string output_;
  bool ended_ = false;
};

}  // namespace fairlead::http2

#endif  // FAIRLEAD_HTTP2_SOCKET_CLIENT_FAKE_H_
