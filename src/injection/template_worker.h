#ifndef FAIRLEAD_INJECTION_TEMPLATE_WORKER_H_
#define FAIRLEAD_INJECTION_TEMPLATE_WORKER_H_

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace fairlead::injection {

// One process of the template program, and the socket to it. Not thread-safe. The process ends with it.
class TemplateWorker {
 public:
  using Clock = std::chrono::steady_clock;

  explicit TemplateWorker(std::vector<std::string> command) : command_(std::move(command)) {}
  ~TemplateWorker() { Kill(); }
  TemplateWorker(const TemplateWorker&) = delete;
  TemplateWorker& operator=(const TemplateWorker&) = delete;

  // Sends a frame and gives the answer's. Starts the process where none runs. After an error none runs:
  // DeadlineExceeded at the deadline, NotFound without a program, Unavailable where it ends or cannot be
  // started.
  absl::StatusOr<std::string> Ask(const std::string& request, Clock::time_point deadline);

  // The set of templates that the running process has; 0: none.
  uint64_t loaded() const { return loaded_; }
  void set_loaded(uint64_t set) { loaded_ = set; }
  // Of the process that runs; 0 without one.
  pid_t pid() const { return pid_; }

 private:
  absl::Status Start();
  absl::Status Send(const std::string& bytes, Clock::time_point deadline);
  absl::Status Receive(size_t size, Clock::time_point deadline, std::string* bytes);
  absl::Status Wait(short events, Clock::time_point deadline) const;
  absl::StatusOr<std::string> Exchange(const std::string& request, Clock::time_point deadline);
  bool Ended();
  void Kill();

  const std::vector<std::string> command_;
  pid_t pid_ = 0;
  int socket_ = -1;
  uint64_t loaded_ = 0;
};

}  // namespace fairlead::injection

#endif  // FAIRLEAD_INJECTION_TEMPLATE_WORKER_H_
