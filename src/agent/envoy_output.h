#ifndef FAIRLEAD_AGENT_ENVOY_OUTPUT_H_
#define FAIRLEAD_AGENT_ENVOY_OUTPUT_H_

#include <sys/types.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/clock.h"
#include "http2/socket.h"

namespace fairlead::agent {

// A descriptor that bytes go to without a wait, whatever it is: a terminal, pipe, socket or file.
class OutputTarget {
 public:
  explicit OutputTarget(int descriptor);
  int descriptor() const { return file_.get() >= 0 ? file_.get() : descriptor_; }
  // So many of the bytes were taken; nothing: none just now. An error: they cannot be, PermissionDenied: none
  // ever will.
  absl::StatusOr<std::optional<size_t>> Write(const char* bytes, size_t size) const;

 private:
  const int descriptor_;
  http2::File file_;  // the same opened again, not to block; none where it cannot be
  bool is_socket_ = false, in_parts_ = false;
};

// One stream of an Envoy on its way from a pipe to a target, in whole lines where they come whole. For one
// thread.
class OutputCopy {
 public:
  struct Limits {
    size_t bytes = 1 << 20;                        // that are kept for a target that takes none
    std::chrono::milliseconds patience{1'000};     // of a full copy: Envoy waits so long, then lines are lost
    std::chrono::milliseconds line_patience{100};  // for the end of a line
  };
  OutputCopy(int target, Limits limits) : target_(target), limits_(limits) {}
  // Unavailable where the system has no pipe.
  absl::Status Open();
  int write_end() const { return write_end_.get(); }

  // The descriptors to wait for, -1 for none, and the end of the wait.
  int ToRead(Clock::time_point now) const;
  int ToWrite(Clock::time_point now) const;
  Clock::time_point Deadline(Clock::time_point now) const;

  void Read(Clock::time_point now);  // all that is there and has room
  void Write(Clock::time_point now);
  bool empty() const { return at_ == kept_.size(); }
  // From now on parts of lines go, too.
  void Finish() { finishing_ = true; }

 private:
  size_t Ready(Clock::time_point now) const;  // bytes that may be written
  bool Full() const { return kept_.size() - at_ >= limits_.bytes; }
  bool Stalled(Clock::time_point now) const { return Full() && now - taken_ >= limits_.patience; }
  void Keep(std::string_view bytes, Clock::time_point now);
  void BeginLosing();
  void EndLosing();

  const OutputTarget target_;
  const Limits limits_;
  http2::File read_end_, write_end_;
  std::string kept_;
  size_t at_ = 0;             // of kept_: what is before is written
  Clock::time_point taken_;   // when the target took some last, or nothing waited
  Clock::time_point newest_;  // when something came last
  uint64_t lost_ = 0;         // lines, since it takes none
  bool in_line_ = false;      // what came last is lost, and is no whole line
  bool losing_ = false, gone_ = false, finishing_ = false;
};

// Envoy's standard output and error: pipes, which Envoy's user can open as /dev/stdout and /dev/stderr
// whatever the agent's own are (a unit's sockets, root's files). A thread copies them to the agent's own. A
// target that takes nothing stops Envoy for a second, then lines are lost, which is said.
class EnvoyOutput {
 public:
  explicit EnvoyOutput(int out, int error, OutputCopy::Limits limits = {});
  ~EnvoyOutput();  // as Stop()
  // Unavailable where the system has no pipes or threads to give.
  absl::Status Start();
  // Copies what is there, for a second at most.
  void Stop();
  // For the child; -1 before Start.
  int out() const { return copies_[0].write_end(); }
  int error() const { return copies_[1].write_end(); }

 private:
  void Run();
  void Wait(Clock::time_point until);

  std::array<OutputCopy, 2> copies_;
  http2::File wake_;
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

}  // namespace fairlead::agent

#endif  // FAIRLEAD_AGENT_ENVOY_OUTPUT_H_
