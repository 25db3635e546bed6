#ifndef FAIRLEAD_KUBE_CREDENTIALS_H_
#define FAIRLEAD_KUBE_CREDENTIALS_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "fetch/request.h"
#include "kube/access.h"

namespace fairlead::kube {

// Makes requests to an API server that show who asks. Certificates and tokens of files are those of the files
// as they are then; those of a program are kept until they expire or are refused. One thread at a time.
class ClientCredentials {
 public:
  explicit ClientCredentials(ServerAccess access) : access_(std::move(access)) {}

  // A GET of a path with its query. Blocks as long as the program does that gives credentials, at most 30 s;
  // Cancelled soon after `stopping` is true.
  absl::StatusOr<fetch::Request> Get(const std::string& target, const std::atomic<bool>* stopping = nullptr);
  // 401: the next request asks the program again, but not more than once in 10 s.
  void OnUnauthorized();

  const ServerAccess& access() const { return access_; }

 private:
  using Clock = std::chrono::steady_clock;
  struct Given {
    std::string token, certificate, key;
    std::optional<int64_t> expires = {};  // Unix seconds
  };
  absl::StatusOr<Given> Ask(const std::atomic<bool>* stopping) const;
  absl::Status TakeFiles(fetch::Request* request) const;
  absl::Status TakeGiven(fetch::Request* request, const std::atomic<bool>* stopping);

  const ServerAccess access_;
  std::optional<Given> given_;
  Clock::time_point asked_{};
};

}  // namespace fairlead::kube

#endif  // FAIRLEAD_KUBE_CREDENTIALS_H_
