#ifndef FAIRLEAD_HTTP2_HTTP_PARSER_H_
#define FAIRLEAD_HTTP2_HTTP_PARSER_H_

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "http2/http_stream.h"

namespace fairlead::http2 {

// One request of HTTP/1.0 or 1.1, read from bytes as they come, by Boost.Beast's parser. For one thread.
class HttpParser {
 public:
  explicit HttpParser(const HttpLimits& limits);
  ~HttpParser();

  enum class State {
    kHead,          // the head is not there yet
    kBody,          // the body is not whole
    kWhole,         // what follows is passed over
    kHeadTooLarge,  // the last three: nothing is read any more
    kBodyTooLarge,
    kWrong,  // this is no HTTP
  };
  State Take(std::string_view bytes);
  State state() const { return state_; }
  // The client waits for "100 Continue" before it sends the body. REQUIRES: kBody.
  bool WantsContinue() const;
  bool TakesChunks() const;  // the client knows answers in chunks: HTTP/1.1
  size_t held() const;       // bytes that it keeps
  // What has come of the request.
  ParsedRequest& request();

 private:
  class Impl;
  const std::unique_ptr<Impl> impl_;
  State state_ = State::kHead;
};

}  // namespace fairlead::http2

#endif  // FAIRLEAD_HTTP2_HTTP_PARSER_H_
