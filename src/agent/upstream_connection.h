#ifndef FAIRLEAD_AGENT_UPSTREAM_CONNECTION_H_
#define FAIRLEAD_AGENT_UPSTREAM_CONNECTION_H_

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/clock.h"
#include "transport/output.h"
#include "transport/socket.h"
#include "transport/tls_connection.h"

struct sockaddr;

namespace fairlead::agent {

// A TCP connection that the agent makes, with TLS where that is wanted. A peer that vanishes is found by
// TCP's own probes. For one thread, which another wakes by a file.
class UpstreamConnection {
 public:
  struct Place {
    std::string host;  // a name, or an address without brackets
    int port = 0;
    std::string server_name;          // whom the certificate must name
    std::shared_ptr<ssl_ctx_st> tls;  // null: plaintext
    int wake_file = -1;               // becomes readable for Wait to return
    std::function<bool()> cancelled;  // asked after each wake
    Clock::time_point deadline;       // of connecting and TLS's handshake
  };
  // Unavailable or Unauthenticated, with the reason, where no address of the host takes it; Cancelled.
  static absl::StatusOr<std::unique_ptr<UpstreamConnection>> Open(const Place& place);

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
  UpstreamConnection(transport::File socket, int wake_file)
      : socket_(std::move(socket)), wake_file_(wake_file) {}
  absl::Status Connect(const sockaddr* address, unsigned size, const Place& place);
  absl::Status Shake(const Place& place);
  // The wanted events that have happened; 0: a wake.
  absl::StatusOr<int> Poll(int wanted, Clock::time_point end);

  const transport::File socket_;
  const int wake_file_;
  std::unique_ptr<transport::TlsConnection> tls_;
  const std::unique_ptr<char[]> buffer_{new char[kRead]};
  transport::Batch batch_;
  std::string out_;  // as it goes out, from a position on
  size_t at_ = 0;
};

}  // namespace fairlead::agent

#endif  // FAIRLEAD_AGENT_UPSTREAM_CONNECTION_H_
