#ifndef FAIRLEAD_SOURCE_PLATFORM_GRPC_LINK_H_
#define FAIRLEAD_SOURCE_PLATFORM_GRPC_LINK_H_

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/clock.h"
#include "http2/client_call.h"
#include "http2/client_connection.h"
#include "http2/socket.h"
#include "source/platform/source_url.h"

namespace fairlead::source {

// gRPC calls to one of several servers, each call on a connection of its own; blocks. Certificates are read
// for each connection, since their files may be renewed at any time. For one thread, but for Stop.
class GrpcLink {
 public:
  struct Options {
    std::vector<std::pair<std::string, int>> addresses;  // at least one
    PlatformOptions platform;                            // of these TLS
    std::chrono::milliseconds connect{5'000};            // time limit
    size_t most_message = 64 << 20;                      // bytes of a message from the server
  };
  struct Call {
    std::unique_ptr<http2::ClientConnection> connection;
    std::unique_ptr<http2::ClientCall> call;
  };
  using Metadata = std::vector<std::pair<std::string, std::string>>;

  explicit GrpcLink(Options options);

  // Connects to the server whose turn it is. `path`: "/package.Service/Method". `take` is called within Turn.
  absl::StatusOr<std::unique_ptr<Call>> Open(const std::string& path, Metadata metadata,
                                             std::function<void(std::string message)> take);
  // A call with one request and one answer, until `until`; the server's status where there is none.
  absl::StatusOr<std::string> Ask(const std::string& path, Metadata metadata, std::string_view request,
                                  Clock::time_point until);
  // Writes and reads what there is, and waits for more. DeadlineExceeded after `until`, Cancelled after Stop;
  // OK where the call has ended.
  absl::Status Turn(Call& call, Clock::time_point until);
  // The next call goes to the next server.
  void NextServer() { ++server_; }

  // Ends what runs, with Cancelled, and all that follows. Thread-safe.
  void Stop();

 private:
  absl::StatusOr<std::unique_ptr<http2::ClientConnection>> Connect();
  const std::pair<std::string, int>& Address() const {
    return options_.addresses[server_ % options_.addresses.size()];
  }

  const Options options_;
  const http2::File wake_;
  std::atomic<bool> stopping_{false};
  size_t server_ = 0;
};

}  // namespace fairlead::source

#endif  // FAIRLEAD_SOURCE_PLATFORM_GRPC_LINK_H_
