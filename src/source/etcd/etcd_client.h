#ifndef FAIRLEAD_SOURCE_ETCD_ETCD_CLIENT_H_
#define FAIRLEAD_SOURCE_ETCD_ETCD_CLIENT_H_

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "http2/client_connection.h"
#include "http2/socket.h"
#include "source/etcd/etcd_messages.h"
#include "source/etcd/etcd_options.h"

namespace fairlead::source {

// Calls of etcd's API v3 over gRPC, each on a connection of its own; blocks. Asks one member, and the next
// one where that does not answer. Logs in where there is a user. For one thread, but for Stop.
class EtcdClient {
 public:
  explicit EtcdClient(EtcdOptions options);

  // KV.Range of all keys that begin with a prefix, page by page, as of one revision. OutOfRange where that
  // was compacted meanwhile; ResourceExhausted for more than Options::most_keys.
  absl::StatusOr<EtcdRange> ReadAll(const std::string& prefix);
  absl::StatusOr<EtcdRange> Read(const EtcdRangeRequest& request);
  absl::StatusOr<EtcdOutcome> Write(const std::vector<EtcdWrite>& writes);
  // A call with one answer: "/etcdserverpb.KV/Compact".
  absl::StatusOr<std::string> Call(const std::string& path, std::string_view request);

  // Watch.Watch until it fails or `take` says no. OutOfRange where the revision is compacted.
  absl::Status Watch(const EtcdWatchRequest& request, const std::function<bool(EtcdNews news)>& take);

  // Ends what runs, with Cancelled, and all that follows. Thread-safe.
  void Stop();

 private:
  struct Stream;
  absl::StatusOr<std::unique_ptr<http2::ClientConnection>> Connect();
  absl::Status LogIn();
  absl::StatusOr<std::string> CallOnce(const std::string& path, std::string_view request);
  std::unique_ptr<Stream> Open(const std::string& path, std::function<void(std::string message)> take);
  absl::Status Turn(Stream& stream, Clock::time_point until);
  absl::Status WatchOnce(const EtcdWatchRequest& request, const std::function<bool(EtcdNews news)>& take);
  bool TakeMessage(const std::string& message, EtcdNews* pending, absl::Status* status,
                   const std::function<bool(EtcdNews news)>& take) const;

  const EtcdOptions options_;
  const http2::File wake_;
  std::atomic<bool> stopping_{false};
  size_t member_ = 0;  // which address is asked
  std::string token_;  // "": not logged in
};

}  // namespace fairlead::source

#endif  // FAIRLEAD_SOURCE_ETCD_ETCD_CLIENT_H_
