#ifndef FAIRLEAD_TRANSPORT_HTTP_STREAM_H_
#define FAIRLEAD_TRANSPORT_HTTP_STREAM_H_

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "base/clock.h"

// Requests of HTTP/1.1 as a listener's handler sees them.
namespace fairlead::transport {

struct HttpRequest {
  std::string method;                          // "GET"
  std::string target;                          // as it was written: "/ready?verbose"
  std::map<std::string, std::string> headers;  // names in lower case; of repeated ones the last
  std::string body;
};

struct HttpAnswer {
  int status = 200;
  std::string body = {};
  std::map<std::string, std::string> headers = {};  // besides Content-Length and Connection
};

// One request's answer, whenever and on whatever thread it is made. Thread-safe; all but the first Answer
// does nothing.
class HttpStream {
 public:
  virtual ~HttpStream() = default;
  virtual void Answer(HttpAnswer answer) = 0;
  // How a request ends that nobody has answered.
  enum class Unanswered { kInTime, kGone };  // gone: the client, or the server itself ends
  // Calls `end` once, on the loop's thread, if nothing is answered within `patience`, or the client has gone
  // before; at once where it has gone already. A later call takes the place of an earlier one. `end` must not
  // block, and may answer.
  virtual void Await(Clock::duration patience, std::function<void(Unanswered)> end) = 0;
  virtual const std::string& peer() const = 0;  // "ipv4:10.0.0.1:43210", "ipv6:%5B::1%5D:43210", "unix:"
};

struct HttpLimits {
  size_t max_head = 64 << 10;  // bytes of the request line and the headers together
  size_t max_body = 4 << 20;
  // Of all requests and answers that are there at a time; beyond them a request is answered 503.
  size_t max_held = 128 << 20;
  std::chrono::milliseconds head_patience = std::chrono::seconds(5);      // for a whole head to arrive
  std::chrono::milliseconds request_patience = std::chrono::seconds(20);  // for a whole request
};

// What a listener of HTTP/1.1 serves. A connection is one request: an idle client would else keep others out.
// Both functions are called on the loop's thread and must not block.
struct HttpService {
  HttpLimits limits;
  std::function<void(HttpRequest request, std::shared_ptr<HttpStream> stream)> open;
  // Answers what is no request that could be opened: 400, 413, 503. `request` has what is known of it.
  std::function<HttpAnswer(const HttpRequest& request, int status)> refuse;
  mutable std::atomic<size_t> held{0};  // bytes of requests and answers
};

}  // namespace fairlead::transport

#endif  // FAIRLEAD_TRANSPORT_HTTP_STREAM_H_
