#include "kube/program.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/errno_text.h"
#include "base/excerpt.h"
#include "base/process_start.h"
#include "base/strings.h"

namespace fairlead::kube {
namespace {

using Clock = std::chrono::steady_clock;

class Pipe {
 public:
  Pipe() : good_(pipe2(ends_, O_CLOEXEC) == 0) {}
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    CloseRead();
    CloseWrite();
  }
  bool good() const { return good_; }
  int read_end() const { return ends_[0]; }
  int write_end() const { return ends_[1]; }
  void CloseRead() { Close(ends_[0]); }
  void CloseWrite() { Close(ends_[1]); }

 private:
  static void Close(int& fd) {
    if (fd >= 0) close(std::exchange(fd, -1));
  }
  int ends_[2] = {-1, -1};
  const bool good_;
};

// Whether there may be more.
bool ReadSome(Pipe& pipe, std::string* text) {
  char bytes[4096];
  const ssize_t count = read(pipe.read_end(), bytes, sizeof bytes);
  if (count < 0 && (errno == EINTR || errno == EAGAIN)) return true;
  if (count <= 0) {
    pipe.CloseRead();
    return false;
  }
  text->append(bytes, static_cast<size_t>(count));
  return true;
}

class Run {
 public:
  Run(const Program& program, const std::atomic<bool>* stopping)
      : program_(program), stopping_(stopping), deadline_(Clock::now() + program.time_limit) {}

  absl::StatusOr<std::string> Do() {
    if (!out_.good() || !error_.good()) return Failed("cannot be started: ", ErrnoText(errno));
    if (absl::Status started = Start(); !started.ok()) return started;
    const absl::Status read = ReadAll();
    const absl::Status ended = read.ok() ? WaitForEnd() : read;
    kill(-pid_, SIGKILL);  // what it left running, too
    waitpid(pid_, &state_, 0);
    if (!ended.ok()) return ended;
    if (WIFEXITED(state_) && WEXITSTATUS(state_) == 0) return std::move(text_);
    const std::string why =
        WIFEXITED(state_) ? StrCat("exit status ", WEXITSTATUS(state_)) : StrCat("signal ", WTERMSIG(state_));
    return Failed(why, error_text_.empty() ? "" : ": ", OnOneLine(Excerpt(Trim(error_text_), 300)));
  }

 private:
  template <typename... Pieces>
  absl::Status Failed(const Pieces&... pieces) const {
    return absl::UnavailableError(StrCat(program_.command, ": ", pieces...));
  }

  absl::Status Start() {
    std::vector<std::string> words = {program_.command};
    words.insert(words.end(), program_.arguments.begin(), program_.arguments.end());
    ProcessStart start;
    start.SetNull(0, O_RDONLY);
    start.SetFile(1, out_.write_end());
    start.SetFile(2, error_.write_end());
    const int failed = start.Start(std::move(words), VariablesWith(program_.environment), &pid_);
    out_.CloseWrite();
    error_.CloseWrite();
    if (failed == 0) return absl::OkStatus();
    const std::string text = StrCat(program_.command, ": ", ErrnoText(failed));
    return failed == ENOENT ? absl::NotFoundError(text) : absl::UnavailableError(text);
  }

  absl::Status CheckTime() const {
    if (stopping_ != nullptr && *stopping_) return absl::CancelledError("stopping");
    if (Clock::now() < deadline_) return absl::OkStatus();
    return absl::DeadlineExceededError(
        StrCat(program_.command, ": took longer than ", program_.time_limit.count(), "ms"));
  }

  absl::Status ReadAll() {
    constexpr size_t kMostError = 4096;
    while (out_.read_end() >= 0 || error_.read_end() >= 0) {
      if (absl::Status status = CheckTime(); !status.ok()) return status;
      pollfd waits[] = {{out_.read_end(), POLLIN, 0}, {error_.read_end(), POLLIN, 0}};
      if (poll(waits, 2, 100) <= 0) continue;
      if (waits[0].revents != 0) ReadSome(out_, &text_);
      if (waits[1].revents != 0) ReadSome(error_, &error_text_);
      error_text_.resize(std::min(error_text_.size(), kMostError));
      if (text_.size() > program_.most_output)
        return absl::ResourceExhaustedError(
            StrCat(program_.command, ": wrote more than ", program_.most_output, " bytes"));
    }
    return absl::OkStatus();
  }

  absl::Status WaitForEnd() {
    for (;;) {
      siginfo_t ended{};
      if (waitid(P_PID, static_cast<id_t>(pid_), &ended, WEXITED | WNOHANG | WNOWAIT) == 0 &&
          ended.si_pid == pid_)
        return absl::OkStatus();
      if (absl::Status status = CheckTime(); !status.ok()) return status;
      poll(nullptr, 0, 5);
    }
  }

  const Program& program_;
  const std::atomic<bool>* const stopping_;
  const Clock::time_point deadline_;
  Pipe out_, error_;
  pid_t pid_ = 0;
  int state_ = 0;
  std::string text_, error_text_;
};

}  // namespace

absl::StatusOr<std::string> RunProgram(const Program& program, const std::atomic<bool>* stopping) {
  return Run(program, stopping).Do();
}

}  // namespace fairlead::kube
