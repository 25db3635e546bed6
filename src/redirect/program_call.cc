#include "redirect/program_call.h"

#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <string_view>
#include <utility>

#include "base/errno_text.h"
#include "base/process_start.h"
#include "base/strings.h"

namespace fairlead::redirect {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kMostTime{60};
constexpr size_t kMostOutput = 16 << 20;
constexpr int kCannotEnter = 125, kCannotStart = 127;

// A file without a name, for a program's input or output: no program waits for us to read or write.
class Buffer {
 public:
  Buffer() : fd_(memfd_create("fairlead", MFD_CLOEXEC)) {}
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() {
    if (fd_ >= 0) close(fd_);
  }
  int fd() const { return fd_; }

  bool Fill(std::string_view text) const {
    while (!text.empty()) {
      const ssize_t count = write(fd_, text.data(), text.size());
      if (count < 0 && errno != EINTR) return false;
      if (count > 0) text.remove_prefix(static_cast<size_t>(count));
    }
    return lseek(fd_, 0, SEEK_SET) == 0;
  }

  std::string Read() const {
    std::string text;
    char bytes[8192];
    for (off_t at = 0; text.size() < kMostOutput;) {
      const ssize_t count = pread(fd_, bytes, sizeof bytes, at);
      if (count <= 0) break;
      text.append(bytes, static_cast<size_t>(count));
      at += count;
    }
    return text;
  }

 private:
  const int fd_;
};

// Its root keeps its abilities beyond execve, and nobody else does. By system calls: the library's would tell
// threads that a fork does not have.
bool BecomeRootOf(int user_namespace) {
  return setns(user_namespace, CLONE_NEWUSER) == 0 && syscall(SYS_setgroups, 0, nullptr) == 0 &&
         syscall(SYS_setresgid, 0, 0, 0) == 0 && syscall(SYS_setresuid, 0, 0, 0) == 0;
}

// In the child of a fork: calls nothing that may wait for a lock of another thread.
[[noreturn]] void Become(const ProgramSurroundings& in, const int (&files)[3], char* const* words,
                         char* const* variables) {
  sigset_t none;
  sigemptyset(&none);
  pthread_sigmask(SIG_SETMASK, &none, nullptr);
  signal(SIGPIPE, SIG_DFL);
  setpgid(0, 0);
  for (int i = 0; i < 3; ++i) dup2(files[i], i);
  if (in.user_namespace >= 0 && !BecomeRootOf(in.user_namespace)) _exit(kCannotEnter);
  if (in.network_namespace >= 0 && setns(in.network_namespace, CLONE_NEWNET) != 0) _exit(kCannotEnter);
  execvpe(words[0], words, variables);
  _exit(kCannotStart);
}

// Whether the child has ended before its time was up; it is gone in any case.
bool Wait(pid_t child, int* state) {
  const auto deadline = Clock::now() + kMostTime;
  // Older kernels have none: then it is looked for every few milliseconds.
  const int watch = static_cast<int>(syscall(SYS_pidfd_open, child, 0));
  bool ended = false;
  while (!ended && Clock::now() < deadline) {
    pollfd wait{watch, POLLIN, 0};
    poll(&wait, 1, watch >= 0 ? 1000 : 2);
    ended = waitpid(child, state, WNOHANG) == child;
  }
  if (watch >= 0) close(watch);
  if (ended) return true;
  kill(-child, SIGKILL);
  waitpid(child, state, 0);
  return false;
}

ProgramResult Run(const ProgramSurroundings& in, const ProgramCall& command) {
  ProgramResult result;
  const Buffer input, output, error;
  if (command.words.empty() || input.fd() < 0 || output.fd() < 0 || error.fd() < 0 ||
      !input.Fill(command.input)) {
    result.error = StrCat("cannot be started: ", ErrnoText(errno));
    return result;
  }
  std::vector<std::string> words = command.words, variables = VariablesWith(in.variables);
  const std::vector<char*> word_pointers = PointersTo(words), variable_pointers = PointersTo(variables);
  const int files[3] = {input.fd(), output.fd(), error.fd()};
  const pid_t child = fork();
  if (child == 0) Become(in, files, word_pointers.data(), variable_pointers.data());
  if (child < 0) {
    result.error = StrCat("cannot be started: ", ErrnoText(errno));
    return result;
  }
  int state = 0;
  const bool ended = Wait(child, &state);
  result.output = output.Read();
  result.error = error.Read();
  if (!ended) {
    result.error = StrCat("took longer than ", kMostTime.count(), "s");
    return result;
  }
  result.status = WIFEXITED(state) ? WEXITSTATUS(state) : 128 + WTERMSIG(state);
  if (result.status == kCannotStart && result.error.empty())
    result = {ProgramResult::kNotRun, "", "there is no such program"};
  if (result.status == kCannotEnter && result.error.empty())
    result = {ProgramResult::kNotRun, "", "its namespace cannot be entered"};
  return result;
}

}  // namespace

RunProgram MakeRunner(ProgramSurroundings surroundings) {
  return [in = std::move(surroundings)](const ProgramCall& command) { return Run(in, command); };
}

}  // namespace fairlead::redirect
