#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "http2/request.h"
#include "tests/fuzz/choices.h"

// For libFuzzer: header fields of a request, "name value" by line. What is kept is bounded, a time is never
// negative, and a status' message goes out as printable ASCII.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using fairlead::fuzz::Require;
  constexpr size_t kMaxBytes = 512;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  fairlead::http2::RequestFields request(kMaxBytes);
  size_t given = 0;
  for (std::string_view left = text; !left.empty();) {
    const std::string_view line = left.substr(0, left.find('\n'));
    left.remove_prefix(std::min(left.size(), line.size() + 1));
    const size_t space = line.find(' ');
    const std::string_view name = line.substr(0, space);
    const std::string_view value = space == std::string_view::npos ? "" : line.substr(space + 1);
    request.Add(name, value);
    given += name.size() + value.size() + 32;
    if (!name.empty() && name[0] != ':' && !request.TooLarge()) static_cast<void>(request.Metadata(name));
  }
  Require(request.TooLarge() == (given > kMaxBytes), "counts otherwise than HTTP/2");
  const auto refusal = request.Check();
  Require(!request.TooLarge() || refusal.has_value(), "too many fields are taken");
  const auto timeout = request.Timeout();
  Require(!timeout || *timeout >= fairlead::Clock::duration::zero(), "a time before now");
  for (const char c : fairlead::http2::EncodeMessage(text))
    Require(c >= 0x20 && c < 0x7f, "a byte that no field may have");
  return 0;
}
