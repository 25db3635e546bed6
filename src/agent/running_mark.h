#ifndef FAIRLEAD_AGENT_RUNNING_MARK_H_
#define FAIRLEAD_AGENT_RUNNING_MARK_H_

#include <chrono>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "http2/socket.h"

// A file that says which process runs something, for another one that ends it: the process's number, locked
// for as long as it runs.
namespace fairlead::agent {

class RunningMark {
 public:
  // Makes the file, and its folder for this user alone. AlreadyExists, with the number, where such a process
  // runs; Unavailable where the file cannot be written.
  static absl::StatusOr<RunningMark> Set(const std::string& path);
  RunningMark(RunningMark&&) noexcept = default;
  RunningMark& operator=(RunningMark&&) = delete;
  ~RunningMark();

 private:
  RunningMark(std::string path, http2::File file) : path_(std::move(path)), file_(std::move(file)) {}
  std::string path_;
  http2::File file_;
};

// Asks the process behind a mark to end, by SIGTERM, and waits until it has. NotFound where none runs;
// DeadlineExceeded where it still runs afterwards.
absl::Status EndMarked(const std::string& path, std::chrono::milliseconds patience);

}  // namespace fairlead::agent

#endif  // FAIRLEAD_AGENT_RUNNING_MARK_H_
