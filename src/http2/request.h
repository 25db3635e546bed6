#ifndef FAIRLEAD_HTTP2_REQUEST_H_
#define FAIRLEAD_HTTP2_REQUEST_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "base/clock.h"
#include "http2/http_stream.h"

// The header fields of HTTP/2's requests, and gRPC's rules for them and for those of responses, without
// HTTP/2's own, which nghttp2 keeps.
// Source: github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md
namespace fairlead::http2 {

// A request's header fields, as they come. Keeps no more than `max_bytes` of them, counted as HTTP/2 does.
class RequestFields {
 public:
  explicit RequestFields(size_t max_bytes) : max_bytes_(max_bytes) {}
  void Add(std::string_view name, std::string_view value);

  bool TooLarge() const { return bytes_ > max_bytes_; }
  const std::string& path() const { return path_; }
  // As a plain request, without its body.
  ParsedRequest Plain() const;
  std::optional<std::string> Metadata(std::string_view name) const;  // of several the last
  bool Compressed() const { return encoding_ == "gzip" || encoding_ == "deflate"; }
  std::optional<Clock::duration> Timeout() const;

  // What is wrong with the request, before anybody looks at its path. A request that is no gRPC is answered
  // by an HTTP status, all others by a gRPC status.
  struct Refusal {
    int http_status = 200;
    absl::Status status = {};
  };
  std::optional<Refusal> Check() const;

 private:
  const size_t max_bytes_;
  size_t bytes_ = 0;
  std::string method_, path_, authority_, content_type_, encoding_, timeout_;
  std::vector<std::pair<std::string, std::string>> metadata_;
};

// "10S", "250m": a number of at most eight digits and a unit; nothing for what is no such text.
std::optional<Clock::duration> ParseTimeout(std::string_view text);

// A status' message as the field grpc-message has it: UTF-8, percent-encoded where it is not printable ASCII.
std::string EncodeMessage(std::string_view message);
// The message again; what is not encoded rightly stays as it is.
std::string DecodeMessage(std::string_view field);

}  // namespace fairlead::http2

#endif  // FAIRLEAD_HTTP2_REQUEST_H_
