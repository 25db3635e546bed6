#ifndef FAIRLEAD_JWKS_KEY_SERVER_FAKE_H_
#define FAIRLEAD_JWKS_KEY_SERVER_FAKE_H_

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <map>
#include <mutex>
#include <string>
#include <thread>

#include "base/strings.h"

// For tests.
namespace fairlead::jwks {

// An HTTP server on loopback that answers each path with what it is told; an unknown path with 404. A path
// whose answer is "" is never answered.
class FakeKeyServer {
 public:
  FakeKeyServer() : listener_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    EXPECT_EQ(bind(listener_, reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(listen(listener_, 64), 0);
    getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { Run(); });
  }
  ~FakeKeyServer() {
    stopping_ = true;
    shutdown(listener_, SHUT_RDWR);
    thread_.join();
    for (const int connection : stalled_) close(connection);
    close(listener_);
  }

  std::string Url(const std::string& path) const { return StrCat("http://127.0.0.1:", port_, path); }
  void Answer(const std::string& path, const std::string& body) {
    Raw(path,
        StrCat("HTTP/1.1 200 OK\r\nContent-Length: ", body.size(), "\r\nConnection: close\r\n\r\n", body));
  }
  void Redirect(const std::string& path, const std::string& to) {
    Raw(path,
        StrCat("HTTP/1.1 302 Found\r\nLocation: ", to, "\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"));
  }
  void Stall(const std::string& path) { Raw(path, ""); }
  // The whole answer.
  void Raw(const std::string& path, std::string answer) {
    std::lock_guard lock(mutex_);
    answers_[path] = std::move(answer);
  }
  int asked() const { return asked_; }

 private:
  void Run() {
    while (!stopping_) {
      const int connection = accept(listener_, nullptr, nullptr);
      if (connection < 0) continue;
      char request[4096];
      const ssize_t size = recv(connection, request, sizeof(request), 0);
      ++asked_;
      const std::string line(request, size > 0 ? static_cast<size_t>(size) : 0);
      const std::string path = line.size() > 4 ? line.substr(4, line.find(' ', 4) - 4) : "";
      Reply(connection, path);
    }
  }
  void Reply(int connection, const std::string& path) {
    std::string answer = "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    {
      std::lock_guard lock(mutex_);
      const auto found = answers_.find(path);
      if (found != answers_.end()) answer = found->second;
    }
    if (answer.empty()) return stalled_.push_back(connection);
    size_t sent = 0;
    while (sent < answer.size()) {
      const ssize_t part = send(connection, answer.data() + sent, answer.size() - sent, MSG_NOSIGNAL);
      if (part <= 0) break;
      sent += static_cast<size_t>(part);
    }
    close(connection);
  }

  const int listener_;
  int port_ = 0;
  std::mutex mutex_;
  std::map<std::string, std::string> answers_;  // guarded by mutex_
  std::vector<int> stalled_;
  std::atomic<int> asked_{0};
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

}  // namespace fairlead::jwks

#endif  // FAIRLEAD_JWKS_KEY_SERVER_FAKE_H_
