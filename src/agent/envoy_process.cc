#include "agent/envoy_process.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <optional>
#include <sstream>

#include "base/errno_text.h"
#include "base/process_start.h"
#include "base/strings.h"

namespace fairlead::agent {
namespace {

using std::chrono::milliseconds;

// A descriptor that closes itself.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  int get() const { return fd_; }

 private:
  int fd_;
};

absl::Status ErrnoStatus(std::string_view what) {
  return absl::UnavailableError(StrCat(what, ": ", ErrnoText(errno)));
}

// The body that chunks make together; none where their end is missing. Source: RFC 9112, section 7.1
std::optional<std::string> JoinChunks(std::string_view chunks) {
  std::string body;
  for (;;) {
    size_t size = 0;
    const auto [end, error] = std::from_chars(chunks.data(), chunks.data() + chunks.size(), size, 16);
    const size_t line = chunks.find("\r\n");
    if (error != std::errc() || line == std::string_view::npos) return std::nullopt;
    if (size == 0) return body;
    chunks.remove_prefix(line + 2);
    if (chunks.size() < size || chunks.size() - size < 2) return std::nullopt;
    body.append(chunks.substr(0, size));
    chunks.remove_prefix(size + 2);
  }
}

// In the child. An Envoy whose agent was killed would keep its ports and never get a certificate again.
void BecomeChild(pid_t parent, int out, int error) {
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent) _exit(127);  // which was killed before
  signal(SIGPIPE, SIG_DFL);
  // Until Envoy has handlers of its own they would end it.
  signal(SIGHUP, SIG_IGN);
  signal(SIGUSR1, SIG_IGN);
  sigset_t none;
  sigemptyset(&none);
  pthread_sigmask(SIG_SETMASK, &none, nullptr);
  setpgid(0, 0);  // a Ctrl-C in the terminal is for the agent, which stops Envoy in order
  if (out >= 0) dup2(out, STDOUT_FILENO);
  if (error >= 0) dup2(error, STDERR_FILENO);
}

}  // namespace

absl::StatusOr<pid_t> StartProcess(const ChildCommand& command, int out, int error) {
  // Made before the fork, behind which no memory can be had.
  std::vector<std::string> texts = command.words,
                           settings = VariablesWith({command.variables.begin(), command.variables.end()});
  const std::vector<char*> words = PointersTo(texts), variables = PointersTo(settings);
  // The child tells through this pipe why it could not become the command; a successful exec closes it.
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return ErrnoStatus("pipe");
  Descriptor read_end(ends[0]);
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child == 0) {
    BecomeChild(parent, out, error);
    execvpe(words[0], words.data(), variables.data());
    const int reason = errno;
    [[maybe_unused]] const ssize_t written = write(ends[1], &reason, sizeof reason);
    _exit(127);
  }
  close(ends[1]);
  if (child < 0) return ErrnoStatus("fork");
  int reason = 0;
  if (read(read_end.get(), &reason, sizeof reason) == sizeof reason) {
    errno = reason;
    return ErrnoStatus(command.words[0]);
  }
  return child;
}

milliseconds Backoff::Next(milliseconds ran) {
  constexpr milliseconds kFirst{50}, kMost{10'000}, kStable{60'000};
  if (ran >= kStable) next_ = kFirst;
  const milliseconds wait = next_;
  next_ = std::min(next_ * 2, kMost);
  return wait;
}

absl::StatusOr<std::string> Admin::Request(const std::string& method, const std::string& path) const {
  Descriptor fd(socket(ipv6_ ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (fd.get() < 0) return ErrnoStatus("socket");
  const timeval limit{2, 0};
  setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  setsockopt(fd.get(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
  sockaddr_in v4{};
  v4.sin_family = AF_INET;
  v4.sin_port = htons(static_cast<uint16_t>(port_));
  v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  sockaddr_in6 v6{};
  v6.sin6_family = AF_INET6;
  v6.sin6_port = v4.sin_port;
  v6.sin6_addr = in6addr_loopback;
  const auto* address =
      ipv6_ ? reinterpret_cast<const sockaddr*>(&v6) : reinterpret_cast<const sockaddr*>(&v4);
  if (connect(fd.get(), address, ipv6_ ? sizeof v6 : sizeof v4) != 0) {
    return ErrnoStatus(StrCat("Envoy's administration port ", port_));
  }
  // Envoy refuses HTTP/1.0 (426); the answer ends where the connection does, as is asked for.
  const std::string request = StrCat(
      method, " ", path, " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
  if (send(fd.get(), request.data(), request.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(request.size())) {
    return ErrnoStatus(path);
  }
  std::string answer;
  char block[4096];
  for (ssize_t n; (n = recv(fd.get(), block, sizeof block, 0)) > 0;)
    answer.append(block, static_cast<size_t>(n));
  const size_t body = answer.find("\r\n\r\n");
  if (body == std::string::npos || answer.find(" 200 ") != answer.find(' ')) {
    return absl::UnavailableError(StrCat(path, ": ", answer.substr(0, answer.find('\r'))));
  }
  const std::string head = AsciiLower(std::string_view(answer).substr(0, body));
  std::string_view rest = std::string_view(answer).substr(body + 4);
  if (head.find("\r\ntransfer-encoding: chunked") == std::string::npos) return std::string(rest);
  auto whole = JoinChunks(rest);
  if (!whole) return absl::UnavailableError(StrCat(path, ": the answer is cut off"));
  return *std::move(whole);
}

bool DrainProgress::Done(const absl::StatusOr<int>& active) {
  constexpr int kMostFailures = 5;
  if (active.ok()) {
    failures_ = 0;
    return *active == 0;
  }
  return ++failures_ >= kMostFailures;
}

absl::StatusOr<int> Admin::ActiveConnections(const std::vector<int>& own_ports) const {
  const auto text = Get("/stats?usedonly&filter=downstream_cx_active$");
  if (!text.ok()) return text.status();
  const auto is_own = [&own_ports](const std::string& line) {
    return line.starts_with("listener.admin.") || line.starts_with("listener.envoy_internal_") ||
           line.find(".worker_") != std::string::npos ||
           std::any_of(own_ports.begin(), own_ports.end(),
                       [&line](int port) { return line.find(StrCat("_", port, ".")) != std::string::npos; });
  };
  int total = 0;
  std::istringstream lines(*text);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("listener.") || is_own(line)) continue;
    const size_t colon = line.rfind(": ");
    if (colon != std::string::npos) total += std::atoi(line.c_str() + colon + 2);
  }
  return total;
}

}  // namespace fairlead::agent
