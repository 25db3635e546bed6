#include "redirect/rule_probe.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <utility>

#include "base/errno_text.h"
#include "base/log.h"
#include "base/strings.h"

namespace fairlead::redirect {
namespace {

using Clock = std::chrono::steady_clock;

LogScope probe_log("iptables");

constexpr int kOriginalDestination = 80;  // SO_ORIGINAL_DST and IP6T_SO_ORIGINAL_DST

class Socket {
 public:
  explicit Socket(int fd = -1) : fd_(fd) {}
  Socket(Socket&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Socket& operator=(Socket&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  ~Socket() {
    if (fd_ >= 0) close(fd_);
  }
  int fd() const { return fd_; }
  bool good() const { return fd_ >= 0; }

 private:
  int fd_;
};

struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t size = 0;
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
};

SocketAddress AddressOf(bool ipv6, const char* text, uint16_t port) {
  SocketAddress address;
  if (ipv6) {
    auto* v6 = reinterpret_cast<sockaddr_in6*>(&address.storage);
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons(port);
    inet_pton(AF_INET6, text, &v6->sin6_addr);
    address.size = sizeof *v6;
  } else {
    auto* v4 = reinterpret_cast<sockaddr_in*>(&address.storage);
    v4->sin_family = AF_INET;
    v4->sin_port = htons(port);
    inet_pton(AF_INET, text, &v4->sin_addr);
    address.size = sizeof *v4;
  }
  return address;
}

Socket NewSocket(bool ipv6) {
  return Socket(socket(ipv6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
}

// The port that a connection was meant for before it was redirected; 0 where nobody knows.
uint16_t OriginalPort(int fd, bool ipv6) {
  sockaddr_storage storage{};
  socklen_t size = sizeof storage;
  const int level = ipv6 ? static_cast<int>(IPPROTO_IPV6) : static_cast<int>(IPPROTO_IP);
  if (getsockopt(fd, level, kOriginalDestination, &storage, &size) != 0) return 0;
  if (ipv6) return ntohs(reinterpret_cast<const sockaddr_in6*>(&storage)->sin6_port);
  return ntohs(reinterpret_cast<const sockaddr_in*>(&storage)->sin_port);
}

class Probe {
 public:
  explicit Probe(const RedirectOptions& options)
      : options_(options), ipv6_(options.address && options.address->is_v6()) {}

  absl::Status Do() {
    Listen(options_.outbound_port);
    Listen(options_.inbound_port);
    if (!listeners_[0].good() && !listeners_[1].good())
      return absl::UnavailableError(StrCat("ports ", options_.outbound_port, " and ", options_.inbound_port,
                                           " of loopback cannot be listened on"));
    const auto deadline = Clock::now() + options_.probe_timeout;
    for (auto next = Clock::now(); Clock::now() < deadline;) {
      if (Clock::now() >= next) {
        Connect();
        next = Clock::now() + std::chrono::seconds(1);
      }
      if (HasArrived()) return absl::OkStatus();
    }
    return absl::DeadlineExceededError("no connection was redirected in time");
  }

 private:
  void Listen(std::string_view port_text) {
    uint16_t port = 0;
    std::from_chars(port_text.data(), port_text.data() + port_text.size(), port);
    Socket socket = NewSocket(ipv6_);
    const int on = 1;
    setsockopt(socket.fd(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    setsockopt(socket.fd(), SOL_SOCKET, SO_REUSEPORT, &on, sizeof on);
    const SocketAddress address = AddressOf(ipv6_, ipv6_ ? "::1" : "127.0.0.1", port);
    if (!socket.good() || bind(socket.fd(), address.get(), address.size) != 0 ||
        listen(socket.fd(), 16) != 0) {
      probe_log.Warn("port {} of loopback cannot be listened on", port_text);
      return;
    }
    listeners_[listeners_[0].good() ? 1 : 0] = std::move(socket);
  }

  void Connect() {
    client_ = NewSocket(ipv6_);
    const SocketAddress from = AddressOf(ipv6_, ipv6_ ? "::1" : "127.0.0.1", 0);
    const SocketAddress to = AddressOf(ipv6_, ipv6_ ? "::6" : "127.0.0.6", options_.probe_port);
    const bool begun = bind(client_.fd(), from.get(), from.size) == 0 &&
                       (connect(client_.fd(), to.get(), to.size) == 0 || errno == EINPROGRESS);
    if (!begun) probe_log.Debug("no connection to {}: {}", ipv6_ ? "::6" : "127.0.0.6", ErrnoText(errno));
  }

  bool HasArrived() {
    pollfd waits[2] = {{listeners_[0].fd(), POLLIN, 0}, {listeners_[1].fd(), POLLIN, 0}};
    poll(waits, 2, 100);
    for (const Socket& listener : listeners_) {
      if (!listener.good()) continue;
      const Socket accepted(accept4(listener.fd(), nullptr, nullptr, SOCK_CLOEXEC));
      if (accepted.good() && OriginalPort(accepted.fd(), ipv6_) == options_.probe_port) return true;
    }
    return false;
  }

  const RedirectOptions& options_;
  const bool ipv6_;
  std::array<Socket, 2> listeners_;
  Socket client_;
};

}  // namespace

absl::Status ProbeRules(const RedirectOptions& options) { return Probe(options).Do(); }

}  // namespace fairlead::redirect
