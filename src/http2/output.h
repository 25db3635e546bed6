#ifndef FAIRLEAD_HTTP2_OUTPUT_H_
#define FAIRLEAD_HTTP2_OUTPUT_H_

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace fairlead::http2 {

// Bytes that go out together: frames' headers, kept in the batch, and parts of messages, which stay where
// they are. One a loop, filled and emptied again and again.
class Batch {
 public:
  static constexpr size_t kScratch = 64 << 10;

  Batch() : scratch_(new uint8_t[kScratch]) {}
  void Clear();
  // Copies the bytes. REQUIRES: room for them.
  void Copy(const void* bytes, size_t size);
  // Bytes that stay valid until they are written.
  void Refer(std::string_view bytes);
  size_t room() const { return kScratch - used_; }
  size_t size() const { return size_; }
  const std::vector<iovec>& pieces() const { return pieces_; }
  // Whether a piece is part of the batch itself.
  bool Owns(const iovec& piece) const {
    const auto* at = static_cast<const uint8_t*>(piece.iov_base);
    return at >= scratch_.get() && at < scratch_.get() + kScratch;
  }

 private:
  std::unique_ptr<uint8_t[]> scratch_;
  std::vector<iovec> pieces_;
  size_t used_ = 0, size_ = 0;
};

// What the system did not take of a batch: the position in it.
class Unwritten {
 public:
  bool empty() const { return at_ == pieces_.size(); }
  // Keeps a batch from a byte on. REQUIRES: empty.
  void Keep(const Batch& batch, size_t from);
  // At most `count` pieces into `out`.
  void Pieces(size_t count, std::vector<iovec>* out) const;
  void Skip(size_t written);

 private:
  std::string copied_;  // what lay in the batch itself
  std::vector<iovec> pieces_;
  size_t at_ = 0;
};

}  // namespace fairlead::http2

#endif  // FAIRLEAD_HTTP2_OUTPUT_H_
