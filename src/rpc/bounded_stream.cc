#include "rpc/bounded_stream.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

namespace fairlead::rpc {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kWritePatience{5'000};  // for a client to read on

void ToText(const sockaddr_storage& address, std::string* ip, int* port) {
  char text[INET6_ADDRSTRLEN] = "";
  if (address.ss_family == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(address);
    inet_ntop(AF_INET, &v4.sin_addr, text, sizeof text);
    *port = ntohs(v4.sin_port);
  } else if (address.ss_family == AF_INET6) {
    const auto& v6 = reinterpret_cast<const sockaddr_in6&>(address);
    inet_ntop(AF_INET6, &v6.sin6_addr, text, sizeof text);
    *port = ntohs(v6.sin6_port);
  }
  *ip = text;
}

}  // namespace

BoundedStream::BoundedStream(int socket, const RequestLimits& limits)
    : socket_(socket), limits_(limits), until_(steady_clock::now() + limits.patience) {}

bool BoundedStream::Wait(short events, milliseconds time) const {
  pollfd wanted{socket_, events, 0};
  int ready = 0;
  do {
    ready = poll(&wanted, 1, static_cast<int>(std::max<int64_t>(time.count(), 0)));
  } while (ready < 0 && errno == EINTR);
  return ready > 0;
}

bool BoundedStream::is_readable() const {
  return at_ < filled_ ||
         Wait(POLLIN, std::chrono::duration_cast<milliseconds>(until_ - steady_clock::now()));
}

bool BoundedStream::is_writable() const { return Wait(POLLOUT, kWritePatience); }

bool BoundedStream::Fill() {
  if (!is_readable()) return false;
  ssize_t got = 0;
  do {
    got = recv(socket_, buffer_, sizeof buffer_, 0);
  } while (got < 0 && errno == EINTR);
  if (got <= 0) return false;
  at_ = 0;
  filled_ = static_cast<size_t>(got);
  return true;
}

// The head ends with the first empty line.
bool BoundedStream::IsWithinLimits(char next) {
  ++taken_;
  if (next == '\n') {
    if (++newlines_ == 2) in_head_ = false;
  } else if (next != '\r') {
    newlines_ = 0;
  }
  return taken_ <= (in_head_ ? limits_.head : limits_.whole);
}

ssize_t BoundedStream::read(char* out, size_t size) {
  if (at_ == filled_ && !Fill()) return -1;
  const size_t count = std::min(size, filled_ - at_);
  for (size_t i = 0; i < count; ++i) {
    out[i] = buffer_[at_ + i];
    if (!IsWithinLimits(out[i])) return -1;
  }
  at_ += count;
  return static_cast<ssize_t>(count);
}

ssize_t BoundedStream::write(const char* bytes, size_t size) {
  if (!is_writable()) return -1;
  ssize_t sent = 0;
  do {
    sent = send(socket_, bytes, size, MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  return sent;
}

void BoundedStream::get_remote_ip_and_port(std::string& ip, int& port) const {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (getpeername(socket_, reinterpret_cast<sockaddr*>(&address), &size) == 0) ToText(address, &ip, &port);
}

void BoundedStream::get_local_ip_and_port(std::string& ip, int& port) const {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size) == 0) ToText(address, &ip, &port);
}

}  // namespace fairlead::rpc
