#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "http2/http_parser.h"
#include "tests/fuzz/choices.h"

// For libFuzzer: bytes of a connection of HTTP/1.1. They are understood alike however they come, and what is
// kept of them is bounded.
namespace fairlead::http2 {
namespace {

using State = HttpParser::State;

constexpr size_t kMaxHead = 1024, kMaxBody = 512;

bool Goes(State state) { return state == State::kHead || state == State::kBody; }

void Try(size_t piece, std::string_view bytes) {
  HttpLimits limits;
  limits.max_head = kMaxHead;
  limits.max_body = kMaxBody;
  HttpParser whole(limits), pieces(limits);
  whole.Take(bytes);
  for (std::string_view left = bytes; !left.empty() && Goes(pieces.state());) {
    const std::string_view part = left.substr(0, piece);
    left.remove_prefix(part.size());
    pieces.Take(part);
    // Strings take twice of what they hold.
    fuzz::Require(pieces.held() <= 4 * (kMaxHead + kMaxBody + part.size()), "keeps more than it may");
  }
  fuzz::Require(pieces.request().body.size() <= kMaxBody, "a body beyond the limit");
  const bool understood = whole.state() == State::kWhole && pieces.state() == State::kWhole;
  if (!understood) return;
  fuzz::Require(whole.request().method == pieces.request().method, "another method");
  fuzz::Require(whole.request().target == pieces.request().target, "another target");
  fuzz::Require(whole.request().headers == pieces.request().headers, "other headers");
  fuzz::Require(whole.request().body == pieces.request().body, "another body");
}

}  // namespace
}  // namespace fairlead::http2

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size > 0) fairlead::http2::Try(1 + data[0] % 32, {reinterpret_cast<const char*>(data) + 1, size - 1});
  return 0;
}
