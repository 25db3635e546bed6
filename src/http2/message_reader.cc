#include "http2/message_reader.h"

#include <zlib.h>

#include <algorithm>

#include "base/strings.h"

namespace fairlead::http2 {
namespace {

constexpr size_t kPrefix = 5;
// Memory is taken as bytes come, not as a client says that they will.
constexpr size_t kFirstPiece = 4 << 10;
// A message may inflate to so many times its size, and so much in any case. Lists of names that
// differ in a number alone inflate to twenty times theirs.
constexpr size_t kRatio = 50, kInflatedAnyway = 128 << 10;
// The most that zlib's window bits can say, and that it is to see for itself which of its formats it reads.
constexpr int kGzipOrDeflate = MAX_WBITS + 32;

}  // namespace

std::array<uint8_t, 5> MessagePrefix(size_t size) {
  return {0, static_cast<uint8_t>(size >> 24), static_cast<uint8_t>(size >> 16),
          static_cast<uint8_t>(size >> 8), static_cast<uint8_t>(size)};
}

MessageReader::Found MessageReader::Take(std::string_view* bytes) {
  if (!TakePrefix(bytes)) return error_.ok() ? Found::kNothing : Found::kError;
  return TakeBody(bytes);
}

bool MessageReader::TakePrefix(std::string_view* bytes) {
  if (prefix_size_ == kPrefix) return true;
  const size_t taken = std::min(bytes->size(), kPrefix - prefix_size_);
  std::copy_n(bytes->data(), taken, prefix_ + prefix_size_);
  prefix_size_ = static_cast<uint8_t>(prefix_size_ + taken);
  bytes->remove_prefix(taken);
  if (prefix_size_ < kPrefix) return false;
  size_ = uint32_t{prefix_[1]} << 24 | uint32_t{prefix_[2]} << 16 | uint32_t{prefix_[3]} << 8 | prefix_[4];
  if (size_ > max_size_) {
    Fail(absl::ResourceExhaustedError(
        StrCat("Received message larger than max (", size_, " vs. ", max_size_, ")")));
  } else if (prefix_[0] > 1) {
    Fail(absl::InternalError(StrCat("a message begins with ", int{prefix_[0]})));
  } else if (prefix_[0] == 1 && !may_be_compressed_) {
    Fail(absl::InternalError("a message is compressed, but the request names no grpc-encoding"));
  }
  return error_.ok();
}

MessageReader::Found MessageReader::TakeBody(std::string_view* bytes) {
  const size_t missing = size_ - partial_.size();
  const std::string_view piece = bytes->substr(0, missing);
  bytes->remove_prefix(piece.size());
  if (partial_.empty() && piece.size() == size_) return Deliver(piece);
  const size_t now = partial_.size() + piece.size();
  if (now > partial_.capacity())
    partial_.reserve(std::min<size_t>(size_, std::max({now, 2 * partial_.capacity(), kFirstPiece})));
  partial_.append(piece);
  return partial_.size() == size_ ? Deliver(partial_) : Found::kNothing;
}

MessageReader::Found MessageReader::Deliver(std::string_view body) {
  prefix_size_ = 0;
  if (prefix_[0] == 1) return Inflate(body);
  message_ = body;
  return Found::kMessage;
}

MessageReader::Found MessageReader::Fail(absl::Status error) {
  error_ = std::move(error);
  std::string().swap(partial_);
  return Found::kError;
}

// Inflates into a new buffer that never grows beyond the limit.
MessageReader::Found MessageReader::Inflate(std::string_view body) {
  z_stream zlib{};
  if (inflateInit2(&zlib, kGzipOrDeflate) != Z_OK) return Fail(absl::InternalError("no memory to inflate"));
  zlib.next_in = reinterpret_cast<unsigned char*>(const_cast<char*>(body.data()));
  zlib.avail_in = static_cast<unsigned>(body.size());
  std::string whole;
  const size_t most = std::min(max_size_, std::max(kInflatedAnyway, kRatio * body.size()));
  int result = Z_OK;
  while (result == Z_OK && whole.size() <= most) {
    const size_t before = whole.size();
    whole.resize(std::min(most + 1, std::max(2 * before, 4 * body.size() + 64)));
    zlib.next_out = reinterpret_cast<unsigned char*>(whole.data() + before);
    zlib.avail_out = static_cast<unsigned>(whole.size() - before);
    result = inflate(&zlib, Z_NO_FLUSH);
    whole.resize(whole.size() - zlib.avail_out);
    if (whole.size() == before && result == Z_OK) result = Z_BUF_ERROR;
  }
  inflateEnd(&zlib);
  if (whole.size() > max_size_) {
    return Fail(absl::ResourceExhaustedError(
        StrCat("Received message larger than max (", max_size_, " after decompression)")));
  }
  if (whole.size() > most) {
    return Fail(absl::ResourceExhaustedError(
        StrCat("a message of ", body.size(), " bytes inflates to more than ", most)));
  }
  if (result != Z_STREAM_END) return Fail(absl::InternalError("a compressed message cannot be read"));
  partial_ = std::move(whole);
  message_ = partial_;
  return Found::kMessage;
}

void MessageReader::Release() {
  message_ = {};
  std::string().swap(partial_);
}

}  // namespace fairlead::http2
