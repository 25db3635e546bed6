#ifndef FAIRLEAD_JWKS_KEY_SERVER_FAKE_H_
#define FAIRLEAD_JWKS_KEY_SERVER_FAKE_H_

#include <atomic>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "base/strings.h"
#include "fetch/raw_server_fake.h"

// For tests.
namespace fairlead::jwks {

// An HTTP server on loopback that answers each path with what it is told; an unknown path with 404. A path
// whose answer is "" is never answered.
class FakeKeyServer {
 public:
  std::string Url(const std::string& path) const { return server_.Url(path); }
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
  void Serve(int connection, fetch::Stopping stopping) {
    const std::string line = fetch::RawServerFake::ReadRequest(connection);
    ++asked_;
    const std::string path = line.size() > 4 ? line.substr(4, line.find(' ', 4) - 4) : "";
    const std::string answer = AnswerTo(path);
    answer.empty() ? fetch::Linger(stopping) : fetch::Send(connection, answer);
  }
  std::string AnswerTo(const std::string& path) {
    std::lock_guard lock(mutex_);
    const auto found = answers_.find(path);
    return found != answers_.end()
               ? found->second
               : "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
  }

  std::mutex mutex_;
  std::map<std::string, std::string> answers_;  // guarded by mutex_
  std::atomic<int> asked_{0};
  // The last, since its threads use the others.
  fetch::RawServerFake server_{
      [this](int connection, fetch::Stopping stopping) { Serve(connection, stopping); }};
};

}  // namespace fairlead::jwks

#endif  // FAIRLEAD_JWKS_KEY_SERVER_FAKE_H_
