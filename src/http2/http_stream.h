#ifndef FAIRLEAD_HTTP2_HTTP_STREAM_H_
#define FAIRLEAD_HTTP2_HTTP_STREAM_H_

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "base/clock.h"

// Requests of HTTP/1.1 and HTTP/2 as a listener's handler sees them.
namespace fairlead::http2 {

struct ParsedRequest {
  std::string method;  // "GET"
  std::string target;  // as it was written: "/ready?verbose"
  // Names in lower case; of repeated ones the last. HTTP/2's ":authority" is "host".
  std::map<std::string, std::string> headers;
  std::string body;
};

struct HttpAnswer {
  int status = 200;
  std::string body = {};
  std::map<std::string, std::string> headers = {};  // besides those that are about length and connection
};

// One request's answer, whenever and on whatever thread it is made: whole by Answer, or by and by, as
// server-sent events are, by Begin, Say and End. Thread-safe; only the first Answer or Begin does anything.
class HttpStream {
 public:
  virtual ~HttpStream() = default;
  virtual void Answer(HttpAnswer answer) = 0;
  // Sends the head and what there is of the body. A HEAD's answer ends with that.
  virtual void Begin(HttpAnswer head) = 0;
  // More of the body. A client that lets HttpLimits::max_unsent bytes wait is cut off.
  virtual void Say(std::string bytes) = 0;
  virtual void End() = 0;
  // How a request ends that nobody has answered.
  enum class Unanswered { kInTime, kGone };  // gone: the client, or the server itself ends
  // Calls `end` once, on the loop's thread, if nothing is answered or begun within `patience`, or the client
  // goes before the end of an answer; at once where it has gone already. A later call takes the place of an
  // earlier one. `end` must not block, and may answer.
  virtual void Await(Clock::duration patience, std::function<void(Unanswered)> end) = 0;
  virtual const std::string& peer() const = 0;  // "ipv4:10.0.0.1:43210", "ipv6:%5B::1%5D:43210", "unix:"
};

struct HttpLimits {
  size_t max_head = 64 << 10;  // bytes of the request line and the headers together
  size_t max_body = 4 << 20;
  // Of all requests and answers that are there at a time; beyond them a request is answered 503.
  size_t max_held = 128 << 20;
  size_t max_unsent = 1 << 20;  // of an answer that comes by and by
  uint32_t max_streams = 100;   // requests at a time on a connection of HTTP/2
  std::chrono::milliseconds head_patience = std::chrono::seconds(5);      // for a whole head to arrive
  std::chrono::milliseconds request_patience = std::chrono::seconds(20);  // for a whole request
};

// What a listener of HTTP/1.1 and HTTP/2 serves. A connection of HTTP/1.1 is one request, and one of HTTP/2
// is told to go after request_patience without any: an idle client would else keep others out. Both functions
// are called on the loop's thread and must not block.
struct HttpService {
  HttpLimits limits;
  std::function<void(ParsedRequest request, std::shared_ptr<HttpStream> stream)> open;
  // Answers what is no request that could be opened: 400, 408, 413, 431, 503. `request` has what is known of
  // it.
  std::function<HttpAnswer(const ParsedRequest& request, int status)> refuse;
  mutable std::atomic<size_t> held{0};  // bytes of requests and answers
};

}  // namespace fairlead::http2

#endif  // FAIRLEAD_HTTP2_HTTP_STREAM_H_
