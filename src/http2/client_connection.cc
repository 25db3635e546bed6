#include "http2/client_connection.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <utility>

#include "base/errno_text.h"
#include "base/strings.h"

namespace fairlead::http2 {
namespace {

constexpr int kIdleSeconds = 30, kProbeSeconds = 5;
constexpr unsigned kVanishedMilliseconds = 20'000;

struct FreeAddresses {
  void operator()(addrinfo* list) const { freeaddrinfo(list); }
};

// What was sent and is not acknowledged for so long ends the connection, probes included.
void SetProbes(int socket) {
  const int yes = 1;
  setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  setsockopt(socket, SOL_SOCKET, SO_KEEPALIVE, &yes, sizeof yes);
  setsockopt(socket, IPPROTO_TCP, TCP_KEEPIDLE, &kIdleSeconds, sizeof kIdleSeconds);
  setsockopt(socket, IPPROTO_TCP, TCP_KEEPINTVL, &kProbeSeconds, sizeof kProbeSeconds);
  setsockopt(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, &kVanishedMilliseconds, sizeof kVanishedMilliseconds);
}

absl::Status Failure(int error) { return absl::UnavailableError(ErrnoText(error)); }

}  // namespace

absl::Status BindTo(int socket, const std::string& address) {
  addrinfo hints{}, *found = nullptr;
  hints.ai_flags = AI_NUMERICHOST;
  hints.ai_socktype = SOCK_STREAM;
  if (getaddrinfo(address.c_str(), nullptr, &hints, &found) != 0)
    return absl::InvalidArgumentError(StrCat(address, ": not an IP address"));
  const std::unique_ptr<addrinfo, FreeAddresses> list(found);
  return bind(socket, found->ai_addr, found->ai_addrlen) == 0 ? absl::OkStatus() : Failure(errno);
}

absl::Status TryConnect(const std::string& host, int port, const std::string& local_address,
                        std::chrono::milliseconds limit) {
  ClientConnection::Place place;
  place.host = host;
  place.port = port;
  place.local_address = local_address;
  place.cancelled = [] { return false; };
  place.deadline = Clock::now() + limit;
  return ClientConnection::Open(place).status();
}

absl::StatusOr<std::unique_ptr<ClientConnection>> ClientConnection::Open(const Place& place) {
  const std::string where = StrCat(place.host, " port ", place.port);
  addrinfo hints{}, *found = nullptr;
  hints.ai_socktype = SOCK_STREAM;
  const int error = getaddrinfo(place.host.c_str(), StrCat(place.port).c_str(), &hints, &found);
  if (error != 0) return absl::UnavailableError(StrCat(where, ": ", gai_strerror(error)));
  const std::unique_ptr<addrinfo, FreeAddresses> addresses(found);
  int left = 0;
  for (const addrinfo* address = found; address != nullptr; address = address->ai_next) ++left;
  absl::Status status = absl::UnavailableError("no address");
  for (const addrinfo* address = found; address != nullptr; address = address->ai_next, --left) {
    // An address that does not answer leaves time for the others.
    Place of_address = place;
    const Clock::time_point now = Clock::now();
    of_address.deadline = now + (place.deadline - now) / left;
    File socket(::socket(address->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (socket.get() < 0) {
      status = Failure(errno);
      continue;
    }
    std::unique_ptr<ClientConnection> connection(new ClientConnection(std::move(socket), place.wake_file));
    status = connection->Connect(address->ai_addr, address->ai_addrlen, of_address);
    if (status.ok() && place.tls != nullptr) status = connection->Shake(of_address);
    if (status.ok()) return connection;
    if (absl::IsCancelled(status)) break;
  }
  if (absl::IsCancelled(status)) return status;
  return absl::Status(absl::IsUnauthenticated(status) ? status.code() : absl::StatusCode::kUnavailable,
                      StrCat(where, ": ", std::string(status.message())));
}

absl::Status ClientConnection::Connect(const sockaddr* address, unsigned size, const Place& place) {
  SetProbes(socket_.get());
  if (!place.local_address.empty()) {
    if (absl::Status status = BindTo(socket_.get(), place.local_address); !status.ok()) return status;
  }
  if (connect(socket_.get(), address, size) == 0) return absl::OkStatus();
  if (errno != EINPROGRESS) return Failure(errno);
  for (;;) {
    const auto happened = Poll(POLLOUT, place.deadline);
    if (!happened.ok()) return happened.status();
    if (place.cancelled()) return absl::CancelledError();
    if (*happened == 0) continue;
    int error = 0;
    socklen_t error_size = sizeof error;
    getsockopt(socket_.get(), SOL_SOCKET, SO_ERROR, &error, &error_size);
    return error == 0 ? absl::OkStatus() : Failure(error);
  }
}

absl::Status ClientConnection::Shake(const Place& place) {
  tls_ = std::make_unique<TlsConnection>(place.tls.get(), place.server_name);
  const auto nothing = [](std::string_view) {};
  absl::Status status = tls_->Receive("", &out_, nothing);
  while (status.ok() && !tls_->established()) {
    status = Write();
    if (status.ok()) status = Wait(place.deadline);
    if (place.cancelled()) return absl::CancelledError();
    if (status.ok()) status = Read(nothing);
  }
  return status;
}

void ClientConnection::Queue(std::string_view plain) {
  if (plain.empty()) return;
  if (tls_ == nullptr) {
    out_ += plain;
    return;
  }
  batch_.Clear();
  batch_.Refer(plain);
  tls_->Encrypt(batch_, &out_);
}

absl::Status ClientConnection::Write() {
  while (at_ < out_.size()) {
    const ssize_t size = send(socket_.get(), out_.data() + at_, out_.size() - at_, MSG_NOSIGNAL);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return errno == EAGAIN ? absl::OkStatus() : Failure(errno);
    at_ += static_cast<size_t>(size);
  }
  out_.clear();
  at_ = 0;
  return absl::OkStatus();
}

absl::Status ClientConnection::Wait(Clock::time_point end) {
  return Poll(at_ < out_.size() ? POLLIN | POLLOUT : POLLIN, end).status();
}

absl::StatusOr<int> ClientConnection::Poll(int wanted, Clock::time_point end) {
  int timeout = -1;
  if (end != Clock::time_point::max()) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now()).count();
    if (left <= 0) return absl::DeadlineExceededError("no connection in time");
    timeout = static_cast<int>(left);
  }
  pollfd waits[] = {{socket_.get(), static_cast<short>(wanted), 0}, {wake_file_, POLLIN, 0}};
  poll(waits, std::size(waits), timeout);
  uint64_t count = 0;
  if (waits[1].revents != 0) static_cast<void>(!read(wake_file_, &count, sizeof count));
  return waits[0].revents;
}

absl::Status ClientConnection::Read(const std::function<void(std::string_view)>& take) {
  const ssize_t size = recv(socket_.get(), buffer_.get(), kRead, 0);
  if (size < 0) return errno == EAGAIN || errno == EINTR ? absl::OkStatus() : Failure(errno);
  if (size == 0) return absl::UnavailableError("the connection was closed");
  const std::string_view bytes(buffer_.get(), static_cast<size_t>(size));
  if (tls_ == nullptr) {
    take(bytes);
    return absl::OkStatus();
  }
  absl::Status status = tls_->Receive(bytes, &out_, take);
  if (!status.ok()) static_cast<void>(Write());  // the last words: an alert that says why
  return status;
}

}  // namespace fairlead::http2
