#ifndef FAIRLEAD_AGENT_OWN_SOCKET_H_
#define FAIRLEAD_AGENT_OWN_SOCKET_H_

#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "server/grpc_server.h"

namespace fairlead::agent {

// A server on a unix socket that is for this user alone from its first moment, or `for_all` users. Makes the
// socket's folder, and takes the place of a socket that is there. Unavailable where it cannot listen.
absl::StatusOr<std::unique_ptr<server::GrpcServer>> ServeOnOwnSocket(const std::string& path,
                                                                     std::vector<server::GrpcMethod> methods,
                                                                     bool for_all = false);

// The streams of a server that are open, for changes to reach. Thread-safe.
template <typename Stream>
class OpenStreams {
 public:
  void Add(const std::shared_ptr<Stream>& stream) {
    std::lock_guard lock(mutex_);
    std::erase_if(streams_, [](const auto& weak) { return weak.expired(); });
    streams_.push_back(stream);
  }
  std::vector<std::shared_ptr<Stream>> All() const {
    std::vector<std::shared_ptr<Stream>> open;
    std::lock_guard lock(mutex_);
    for (const auto& weak : streams_) {
      if (auto stream = weak.lock()) open.push_back(std::move(stream));
    }
    return open;
  }
  void Clear() {
    std::lock_guard lock(mutex_);
    streams_.clear();
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::weak_ptr<Stream>> streams_;  // guarded by mutex_
};

}  // namespace fairlead::agent

#endif  // FAIRLEAD_AGENT_OWN_SOCKET_H_
