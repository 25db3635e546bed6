#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "http2/message_reader.h"
#include "tests/fuzz/choices.h"

// For libFuzzer: gRPC's framing of any bytes. Messages are the same in whatever pieces the bytes come, none
// is larger than allowed, and what is held meanwhile is bounded.
namespace fairlead::http2 {
namespace {

constexpr size_t kMaxSize = 2048;

struct Read {
  std::vector<std::string> messages;
  bool failed = false, midway = false;
  bool operator==(const Read&) const = default;
};

Read ReadInPieces(std::string_view bytes, bool compressed, size_t piece) {
  MessageReader reader;
  reader.Start(kMaxSize, compressed);
  Read read;
  while (!bytes.empty() && !read.failed) {
    std::string_view part = bytes.substr(0, piece);
    bytes.remove_prefix(part.size());
    while (!part.empty() && !read.failed) {
      const size_t before = part.size();
      const auto found = reader.Take(&part);
      read.failed = found == MessageReader::Found::kError;
      if (read.failed) fuzz::Require(!reader.error().ok(), "an error without a word");
      if (found != MessageReader::Found::kMessage) {
        fuzz::Require(read.failed || part.empty(), "bytes that are neither taken nor wrong");
        continue;
      }
      fuzz::Require(part.size() < before, "a message of no bytes");
      fuzz::Require(reader.message().size() <= kMaxSize, "a message beyond the limit");
      read.messages.emplace_back(reader.message());
      reader.Release();
    }
    fuzz::Require(reader.Held() <= 2 * kMaxSize, "holds more than a message");
  }
  read.midway = !read.failed && reader.Midway();
  return read;
}

}  // namespace
}  // namespace fairlead::http2

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using fairlead::http2::ReadInPieces;
  if (size < 2) return 0;
  const bool compressed = (data[0] & 1) != 0;
  const size_t piece = size_t{1} + data[1];
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 2, size - 2);
  const auto whole = ReadInPieces(bytes, compressed, bytes.size() + 1);
  fairlead::fuzz::Require(ReadInPieces(bytes, compressed, piece) == whole, "other messages in pieces");
  fairlead::fuzz::Require(ReadInPieces(bytes, compressed, 1) == whole, "other messages byte by byte");
  return 0;
}
