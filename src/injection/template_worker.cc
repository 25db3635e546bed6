#include "injection/template_worker.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "base/errno_text.h"
#include "base/process_start.h"
#include "base/strings.h"

namespace fairlead::injection {
namespace {

constexpr size_t kMostAnswer = 64 << 20;  // bytes
constexpr size_t kHead = 4;               // bytes of a frame's length

std::string Frame(const std::string& text) {
  std::string frame;
  frame.reserve(text.size() + kHead);
  for (int shift = 24; shift >= 0; shift -= 8) frame += static_cast<char>(text.size() >> shift & 0xff);
  return frame + text;
}

size_t LengthOf(const std::string& head) {
  size_t length = 0;
  for (char c : head) length = length << 8 | static_cast<unsigned char>(c);
  return length;
}

}  // namespace

absl::Status TemplateWorker::Start() {
  std::array<int, 2> ends{-1, -1};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
    return absl::UnavailableError(StrCat("no socket for the template program: ", ErrnoText(errno)));
  socket_ = ends[0];
  fcntl(socket_, F_SETFL, O_NONBLOCK);
  // It says on standard error to nobody what it has to say there: a program that fails prints stacks of its
  // own.
  ProcessStart start;
  start.SetFile(0, ends[1]);
  start.SetFile(1, ends[1]);
  start.SetNull(2, O_WRONLY);
  const int failed = start.Start(command_, VariablesWith({}), &pid_);
  close(ends[1]);
  if (failed == 0) return absl::OkStatus();
  pid_ = 0;
  close(std::exchange(socket_, -1));
  const std::string text =
      StrCat("the template program ", command_[0], " cannot be started: ", ErrnoText(failed));
  return failed == ENOENT ? absl::NotFoundError(text) : absl::UnavailableError(text);
}

void TemplateWorker::Kill() {
  loaded_ = 0;
  if (socket_ >= 0) close(std::exchange(socket_, -1));
  if (pid_ == 0) return;
  kill(-pid_, SIGKILL);
  waitpid(std::exchange(pid_, 0), nullptr, 0);
}

bool TemplateWorker::Ended() {
  siginfo_t ended{};
  return waitid(P_PID, static_cast<id_t>(pid_), &ended, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         ended.si_pid == pid_;
}

absl::Status TemplateWorker::Wait(short events, Clock::time_point deadline) const {
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) return absl::DeadlineExceededError("the template program takes too long");
    pollfd wait{socket_, events, 0};
    const int ready = poll(&wait, 1, static_cast<int>(std::min<int64_t>(left, 60'000)));
    if (ready > 0) return absl::OkStatus();
    if (ready < 0 && errno != EINTR) return absl::UnavailableError(ErrnoText(errno));
  }
}

absl::Status TemplateWorker::Send(const std::string& bytes, Clock::time_point deadline) {
  for (size_t sent = 0; sent < bytes.size();) {
    const ssize_t count = send(socket_, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    if (count > 0) {
      sent += static_cast<size_t>(count);
    } else if (errno == EAGAIN || errno == EINTR) {
      if (absl::Status status = Wait(POLLOUT, deadline); !status.ok()) return status;
    } else {
      return absl::UnavailableError("the template program ended");
    }
  }
  return absl::OkStatus();
}

absl::Status TemplateWorker::Receive(size_t size, Clock::time_point deadline, std::string* bytes) {
  bytes->resize(size);
  for (size_t got = 0; got < size;) {
    const ssize_t count = recv(socket_, bytes->data() + got, size - got, 0);
    if (count > 0) {
      got += static_cast<size_t>(count);
    } else if (count < 0 && (errno == EAGAIN || errno == EINTR)) {
      if (absl::Status status = Wait(POLLIN, deadline); !status.ok()) return status;
    } else {
      return absl::UnavailableError("the template program ended, as when a template takes too much memory");
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> TemplateWorker::Exchange(const std::string& request, Clock::time_point deadline) {
  std::string answer;
  if (absl::Status status = Send(Frame(request), deadline); !status.ok()) return status;
  if (absl::Status status = Receive(kHead, deadline, &answer); !status.ok()) return status;
  const size_t size = LengthOf(answer);
  if (size > kMostAnswer) return absl::UnavailableError("the template program's answer is too long");
  if (absl::Status status = Receive(size, deadline, &answer); !status.ok()) return status;
  return answer;
}

absl::StatusOr<std::string> TemplateWorker::Ask(const std::string& request, Clock::time_point deadline) {
  if (pid_ != 0 && Ended()) Kill();
  if (pid_ == 0) {
    if (absl::Status status = Start(); !status.ok()) return status;
  }
  absl::StatusOr<std::string> answer = Exchange(request, deadline);
  if (!answer.ok()) Kill();
  return answer;
}

}  // namespace fairlead::injection
