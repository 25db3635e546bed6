#ifndef FAIRLEAD_FETCH_RAW_SERVER_FAKE_H_
#define FAIRLEAD_FETCH_RAW_SERVER_FAKE_H_

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/strings.h"

// For tests.
namespace fairlead::fetch {

// A server on loopback of which each connection is served by a function on a thread of its own; `stopping` is
// true once the server goes. Then the connection is closed.
class RawServerFake {
 public:
  using Serve = std::function<void(int connection, const std::atomic<bool>& stopping)>;

  explicit RawServerFake(Serve serve) : serve_(std::move(serve)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    EXPECT_EQ(bind(listener_, reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(listen(listener_, 128), 0);
    getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { Accept(); });
  }
  ~RawServerFake() {
    stopping_ = true;
    shutdown(listener_, SHUT_RDWR);
    thread_.join();
    for (std::thread& thread : threads_) thread.join();
    close(listener_);
  }
  RawServerFake(const RawServerFake&) = delete;
  RawServerFake& operator=(const RawServerFake&) = delete;

  // One that reads a request and gives an answer of bytes; `stays`: and leaves the connection open.
  static Serve Answering(std::string answer, bool stays = false) {
    return [answer = std::move(answer), stays](int connection, const std::atomic<bool>& stopping) {
      ReadRequest(connection);
      send(connection, answer.data(), answer.size(), MSG_NOSIGNAL);
      while (stays && !stopping) std::this_thread::sleep_for(std::chrono::milliseconds(2));
    };
  }
  // What came until the empty line or the end.
  static std::string ReadRequest(int connection) {
    std::string request;
    char one = 0;
    while (request.find("\r\n\r\n") == std::string::npos && recv(connection, &one, 1, 0) == 1)
      request.push_back(one);
    return request;
  }
  std::string Url(const std::string& path) const { return StrCat("http://127.0.0.1:", port_, path); }
  int port() const { return port_; }
  int connections() const { return connections_; }

 private:
  void Accept() {
    while (!stopping_) {
      const int connection = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (connection < 0) continue;
      ++connections_;
      threads_.emplace_back([this, connection] {
        serve_(connection, stopping_);
        close(connection);
      });
    }
  }

  const Serve serve_;
  const int listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  int port_ = 0;
  std::atomic<bool> stopping_{false};
  std::atomic<int> connections_{0};
  std::thread thread_;
  std::vector<std::thread> threads_;
};

// What such servers say.
using Stopping = const std::atomic<bool>&;

inline void Send(int connection, const std::string& text) {
  send(connection, text.data(), text.size(), MSG_NOSIGNAL);
}
inline void Linger(Stopping stopping) {
  while (!stopping) std::this_thread::sleep_for(std::chrono::milliseconds(2));
}
inline std::string Ok(const std::string& body) {
  return StrCat("HTTP/1.1 200 OK\r\nContent-Length: ", body.size(), "\r\n\r\n", body);
}
inline std::string Chunk(const std::string& bytes) {
  char size[20];
  snprintf(size, sizeof size, "%zx\r\n", bytes.size());
  return StrCat(size, bytes, "\r\n");
}
inline constexpr char kChunked[] = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";

}  // namespace fairlead::fetch

#endif  // FAIRLEAD_FETCH_RAW_SERVER_FAKE_H_
