#ifndef FAIRLEAD_HTTP2_MESSAGE_READER_H_
#define FAIRLEAD_HTTP2_MESSAGE_READER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace fairlead::http2 {

// What goes before a message of that size, which is not compressed. REQUIRES: less than 4 GiB.
std::array<uint8_t, 5> MessagePrefix(size_t size);

// gRPC's length-prefixed messages, read from a stream's bytes as they come: a flag (compressed or not), four
// bytes of length, the message. What came in one piece is not copied.
// Source: github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md, "Length-Prefixed-Message"
class MessageReader {
 public:
  enum class Found { kNothing, kMessage, kError };

  // `max_size`: of a message in bytes, compressed or not. `compressed`: the client has announced gzip or
  // deflate, so that messages may be marked as compressed.
  void Start(size_t max_size, bool compressed) {
    max_size_ = max_size;
    may_be_compressed_ = compressed;
  }
  // Takes bytes up to the end of one message at most. kError: nothing may follow.
  Found Take(std::string_view* bytes);
  // After kMessage, until the next call of Take or Release.
  std::string_view message() const { return message_; }
  // After kError: ResourceExhausted for what is too large, Internal for what is no message.
  const absl::Status& error() const { return error_; }
  // Frees what the message took.
  void Release();
  bool Midway() const { return prefix_size_ > 0; }  // a message has begun
  // Of the message that has come in part, in bytes; 0 where there is none, or its size is not known yet.
  size_t PartialSize() const { return prefix_size_ == sizeof prefix_ ? size_ : 0; }
  // What has not come of it.
  size_t Missing() const { return PartialSize() > 0 ? size_ - partial_.size() : 0; }
  size_t Held() const { return HeapBytes(partial_); }
  // What a string has taken of the heap.
  static size_t HeapBytes(const std::string& text) {
    static const size_t kInside = std::string().capacity();
    return text.capacity() > kInside ? text.capacity() : 0;
  }

 private:
  bool TakePrefix(std::string_view* bytes);
  Found TakeBody(std::string_view* bytes);
  Found Deliver(std::string_view body);
  Found Fail(absl::Status error);
  Found Inflate(std::string_view body);

  size_t max_size_ = 0;
  std::string partial_;  // of a message that came in pieces, or was compressed
  std::string_view message_;
  absl::Status error_;
  uint32_t size_ = 0;
  unsigned char prefix_[5];
  uint8_t prefix_size_ = 0;
  bool may_be_compressed_ = false;
};

}  // namespace fairlead::http2

#endif  // FAIRLEAD_HTTP2_MESSAGE_READER_H_
