#ifndef FAIRLEAD_HTTP2_CLIENT_CONNECTION_H_
#define FAIRLEAD_HTTP2_CLIENT_CONNECTION_H_

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/clock.h"
#include "http2/output.h"
#include "http2/socket.h"
#include "http2/tls_connection.h"

struct sockaddr;

namespace fairlead::http2 {

// A TCP connection that a client makes, with TLS where that is wanted. A peer that vanishes is found by
// TCP's own probes. For one thread, which another wakes by a file.
class ClientConnection {
 public:
  struct Place {
    std::string host;  // a name, or an address without brackets
    int port = 0;
    std::string server_name;          // whom the certificate must name
    std::shared_ptr<ssl_ctx_st> tls;  // null: plaintext
    int wake_file = -1;               // becomes readable for Wait to return
    std::function<bool()> cancelled;  // asked after each wake
    Clock::time_point deadline;       // of connecting and TLS's handshake
    std::string local_address = {};   // that it comes from; "": any
  };
  // Unavailable or Unauthenticated, with the reason, where no address of the host takes it; Cancelled.
  static absl::StatusOr<std::unique_ptr<ClientConnection>> Open(const Place& place);

  // Keeps the bytes to be written.
  void Queue(std::string_view plain);
  bool backed_up() const { return out_.size() - at_ > kMostQueued; }
  // Writes what the system takes.
  absl::Status Write();
  // Until there is something to read, room for what is queued, or a wake. DeadlineExceeded after `end`.
  absl::Status Wait(Clock::time_point end);
  // Takes some of what there is, and calls `take` with what it says, if anything.
  absl::Status Read(const std::function<void(std::string_view)>& take);

 private:
  static constexpr size_t kMostQueued = 64 << 10, kRead = 64 << 10;
  ClientConnection(File socket, int wake_file) : socket_(std::move(socket)), wake_file_(wake_file) {}
  absl::Status Connect(const sockaddr* address, unsigned size, const Place& place);
  absl::Status Shake(const Place& place);
  // The wanted events that have happened; 0: a wake.
  absl::StatusOr<int> Poll(int wanted, Clock::time_point end);

  const File socket_;
  const int wake_file_;
  std::unique_ptr<TlsConnection> tls_;
  const std::unique_ptr<char[]> buffer_{new char[kRead]};
  Batch batch_;
  std::string out_;  // as it goes out, from a position on
  size_t at_ = 0;
};

// Binds a socket to an IP address of this machine, and to any port.
absl::Status BindTo(int socket, const std::string& address);

// Connects to a port and closes the connection; OK within `limit`, else why not. Blocks.
absl::Status TryConnect(const std::string& host, int port, const std::string& local_address,
                        std::chrono::milliseconds limit);

}  // namespace fairlead::http2

#endif  // FAIRLEAD_HTTP2_CLIENT_CONNECTION_H_
