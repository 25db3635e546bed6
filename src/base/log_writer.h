#ifndef FAIRLEAD_BASE_LOG_WRITER_H_
#define FAIRLEAD_BASE_LOG_WRITER_H_

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace fairlead {

// Writes lines to a file descriptor from a thread of its own. A descriptor that takes nothing, such as a full
// pipe that nobody reads, stops nobody: lines that find no room are lost and counted. Thread-safe.
class LogWriter {
 public:
  static constexpr size_t kMost = 1 << 20;  // bytes that wait

  // Closes the descriptor in the end, unless it is standard output or error. `notice` makes the line that
  // tells how many lines were lost, before the first one that is not.
  LogWriter(int descriptor, std::function<std::string(size_t lost)> notice);
  // Gives what waits a second to be written.
  ~LogWriter();
  LogWriter(const LogWriter&) = delete;
  LogWriter& operator=(const LogWriter&) = delete;

  // Lines are written within a second, or when there are many. False: the line is lost.
  bool Add(std::string_view line);
  // Writes what waits at once, without waiting for it.
  void Wake();
  // Waits until everything is written, at most for so long; false where it is not.
  bool Drain(std::chrono::milliseconds patience);

 private:
  struct State;  // the thread has it, too, as it may wait in the system for ever
  const std::shared_ptr<State> state_;
};

}  // namespace fairlead

#endif  // FAIRLEAD_BASE_LOG_WRITER_H_
