#ifndef FAIRLEAD_DNS_RESOLVER_FAKE_H_
#define FAIRLEAD_DNS_RESOLVER_FAKE_H_

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "dns/message_fake.h"
#include "dns/socket_address.h"
#include "http2/socket.h"

// Ends of DNS over loopback, for tests.
namespace fairlead::dns {

inline SocketAddress AddressOfSocket(int socket) {
  SocketAddress address;
  socklen_t size = sizeof address.bytes;
  getsockname(socket, reinterpret_cast<sockaddr*>(&address.bytes), &size);
  return address;
}

inline bool Readable(int socket, int milliseconds) {
  pollfd one{socket, POLLIN, 0};
  return poll(&one, 1, milliseconds) > 0;
}

// Reads that many bytes; fewer at the end of the connection or after 5 s.
inline std::string ReadBytes(int socket, size_t count) {
  std::string bytes;
  while (bytes.size() < count && Readable(socket, 5'000)) {
    char buffer[65536];
    const ssize_t size = recv(socket, buffer, std::min(sizeof buffer, count - bytes.size()), 0);
    if (size <= 0) break;
    bytes.append(buffer, static_cast<size_t>(size));
  }
  return bytes;
}

inline std::string ReadTcpMessage(int socket) {
  const std::string size = ReadBytes(socket, 2);
  if (size.size() < 2) return "";
  return ReadBytes(socket,
                   static_cast<size_t>(static_cast<uint8_t>(size[0])) << 8 | static_cast<uint8_t>(size[1]));
}

inline void SendTcpMessage(int socket, const std::string& message) {
  const std::string bytes = Two(message.size()) + message;
  static_cast<void>(!send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL));
}

// A resolver that answers as `reply` says: a list of messages, of which each is sent; over one port of UDP
// and TCP.
class FakeResolver {
 public:
  using Reply = std::function<std::vector<std::string>(const std::string& query, bool tcp)>;
  explicit FakeResolver(Reply reply) : reply_(std::move(reply)) {
    while (!Listen()) {
    }
    thread_ = std::thread([this] { Run(); });
  }
  ~FakeResolver() {
    stops_ = true;
    thread_.join();
  }
  SocketAddress address() const { return AddressOfSocket(udp_.get()); }
  int udp() const { return udp_.get(); }
  std::atomic<int> asked{0};

 private:
  // False: the port of UDP is taken for TCP.
  bool Listen() {
    udp_ = http2::File(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    tcp_ = http2::File(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    SocketAddress at = *SocketAddress::Parse("127.0.0.1", 0);
    bind(udp_.get(), at.get(), at.size());
    at = address();
    return bind(tcp_.get(), at.get(), at.size()) == 0 && listen(tcp_.get(), 16) == 0;
  }
  void Run() {
    while (!stops_) {
      pollfd both[] = {{udp_.get(), POLLIN, 0}, {tcp_.get(), POLLIN, 0}};
      if (poll(both, 2, 20) <= 0) continue;
      if (both[0].revents) ServeUdp();
      if (both[1].revents) ServeTcp();
    }
  }
  void ServeUdp() {
    char buffer[4096];
    sockaddr_storage peer{};
    socklen_t peer_size = sizeof peer;
    const ssize_t size =
        recvfrom(udp_.get(), buffer, sizeof buffer, 0, reinterpret_cast<sockaddr*>(&peer), &peer_size);
    if (size < 0) return;
    ++asked;
    for (const std::string& reply : reply_(std::string(buffer, static_cast<size_t>(size)), false))
      sendto(udp_.get(), reply.data(), reply.size(), 0, reinterpret_cast<sockaddr*>(&peer), peer_size);
  }
  void ServeTcp() {
    http2::File client(accept4(tcp_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    const std::string query = ReadTcpMessage(client.get());
    if (query.empty()) return;
    ++asked;
    const auto replies = reply_(query, true);
    for (const std::string& reply : replies) SendTcpMessage(client.get(), reply);
    if (replies.empty()) silent_.push_back(std::move(client));
  }

  const Reply reply_;
  http2::File udp_, tcp_;
  std::vector<http2::File> silent_;  // connections without an answer stay open
  std::atomic<bool> stops_{false};
  std::thread thread_;
};

// A client with a socket to one server.
class FakeClient {
 public:
  FakeClient(const SocketAddress& server, bool tcp)
      : tcp_(tcp), socket_(socket(server.family(), (tcp ? SOCK_STREAM : SOCK_DGRAM) | SOCK_CLOEXEC, 0)) {
    connected_ = connect(socket_.get(), server.get(), server.size()) == 0;
  }
  void Send(const std::string& message) const {
    if (tcp_) return SendTcpMessage(socket_.get(), message);
    static_cast<void>(!send(socket_.get(), message.data(), message.size(), 0));
  }
  // "" after that time, or at the end of the connection.
  std::string Read(int milliseconds = 5'000) const {
    if (!Readable(socket_.get(), milliseconds)) return "";
    if (tcp_) return ReadTcpMessage(socket_.get());
    char buffer[65536];
    const ssize_t size = recv(socket_.get(), buffer, sizeof buffer, 0);
    return size > 0 ? std::string(buffer, static_cast<size_t>(size)) : "";
  }
  std::string Ask(const FakeQuery& query) const {
    Send(MakeQuery(query));
    return Read();
  }
  int get() const { return socket_.get(); }
  bool connected() const { return connected_; }

 private:
  const bool tcp_;
  const http2::File socket_;
  bool connected_ = false;
};

}  // namespace fairlead::dns

#endif  // FAIRLEAD_DNS_RESOLVER_FAKE_H_
