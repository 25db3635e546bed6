#ifndef FAIRLEAD_PUSH_STREAM_PLAIN_ANSWERS_H_
#define FAIRLEAD_PUSH_STREAM_PLAIN_ANSWERS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "xds/response.h"

namespace fairlead::push {

// The answers of one stream to types that hold no configuration of proxies: one at a time, each with a nonce
// of its own. Not thread-safe.
class PlainAnswers {
 public:
  // `nonce_prefix` as for xds::StreamCore, and unlike those of the stream's configuration.
  PlainAnswers(xds::Framing framing, std::string nonce_prefix)
      : framing_(framing), nonce_prefix_(std::move(nonce_prefix)) {}

  // Whether the nonce is of an answer that was given here. Another is a left-over of an earlier stream, or
  // made up: its request asks anew.
  bool Gave(std::string_view nonce) const;
  // The next answer, but for its version and nonce, which are set here; in place of one that waits.
  void Set(xds::PlainResponse response);
  bool waits() const { return next_.has_value(); }
  // REQUIRES: waits().
  xds::Frame Take() { return *std::exchange(next_, std::nullopt); }

 private:
  const xds::Framing framing_;
  const std::string nonce_prefix_;
  uint64_t count_ = 0;  // so far; the last one's number
  std::optional<xds::Frame> next_;
};

}  // namespace fairlead::push

#endif  // FAIRLEAD_PUSH_STREAM_PLAIN_ANSWERS_H_
