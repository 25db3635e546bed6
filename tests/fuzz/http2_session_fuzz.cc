#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "http2/session_fake.h"
#include "tests/fuzz/choices.h"

// For libFuzzer: any bytes may come on a connection, in any pieces, at any time. The session says no more
// than what it was sent is worth, holds no more than its limits, and each call that it opened ends once.
namespace fairlead::http2 {
namespace {

// After HTTP/2's preface, so that the fuzzer need not find it.
constexpr std::string_view kPreface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
constexpr size_t kMaxHeld = 4096, kMaxMessage = 1024;
// What an answer may be larger than its request: settings, a status, a frame for each frame.
constexpr size_t kGreeting = 4096, kWorth = 64;

ServerOptions Options() {
  ServerOptions options;
  options.limits.max_message_size = kMaxMessage;
  options.limits.max_held = kMaxHeld;
  options.limits.max_streams = 50;
  options.limits.max_header_bytes = 2048;
  return options;
}

void Try(uint8_t choices, std::string_view bytes) {
  SessionFake fake(Options());
  fake.script.reads = (choices & 1) == 0;
  fake.script.echoes = (choices & 2) == 0;
  const size_t piece = (choices & 4) == 0 ? bytes.size() : 1 + (choices >> 4);
  const bool slow = (choices & 8) != 0;
  size_t said = fake.Output().size(), heard = 0;
  fake.Receive(kPreface);
  for (std::string_view left = bytes; !left.empty() && !fake.session->Done();) {
    const std::string_view part = left.substr(0, std::max<size_t>(1, piece));
    left.remove_prefix(part.size());
    heard += part.size();
    fake.Receive(part);
    if (slow) {
      fake.now += std::chrono::milliseconds(100);
      fake.session->Check(fake.now);
    }
    said += fake.Output().size();
    fuzz::Require(fake.session->held() <= kMaxHeld + kMaxMessage + part.size(), "held beyond the limit");
    fuzz::Require(said <= kGreeting + kWorth * heard, "says more than it is asked");
  }
  fake.script.stream = nullptr;
  fake.session = nullptr;
  fuzz::Require(fake.script.opened == fake.script.closed, "a call that does not end, or ends twice");
}

}  // namespace
}  // namespace fairlead::http2

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size > 0) fairlead::http2::Try(data[0], {reinterpret_cast<const char*>(data) + 1, size - 1});
  return 0;
}
