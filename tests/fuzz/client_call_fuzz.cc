#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "http2/client_call.h"
#include "tests/fuzz/choices.h"

// For libFuzzer: any bytes may come from a server, in any pieces. The call says no more than what it hears is
// worth, gives on no more than came, and once it has ended it stays so.
namespace fairlead::http2 {
namespace {

constexpr size_t kMaxMessage = 1024, kMaxUndone = 4096;
constexpr size_t kGreeting = 4096, kWorth = 64;

void Try(uint8_t choices, std::string_view bytes) {
  ClientCallOptions options;
  options.authority = "test";
  options.path = "/test.v1.Echo/Echo";
  options.max_message_size = kMaxMessage;
  options.max_undone = kMaxUndone;
  options.window = 65535;
  size_t given = 0, heard = 0;
  const bool deals = (choices & 1) == 0;
  ClientCall call(std::move(options), [&](const std::string& message) {
    fuzz::Require(message.size() <= kMaxMessage, "a message beyond the limit");
    given += message.size();
  });
  std::string said;
  call.Produce(SIZE_MAX, &said);
  call.Send("hello");
  if ((choices & 2) != 0) call.Finish();
  const size_t piece = (choices & 4) == 0 ? bytes.size() : 1 + (choices >> 4);
  for (std::string_view left = bytes; !left.empty() && !call.ended();) {
    const std::string_view part = left.substr(0, std::max<size_t>(1, piece));
    left.remove_prefix(part.size());
    heard += part.size();
    call.Receive(part);
    if (deals) call.Done(given);
    call.Produce(SIZE_MAX, &said);
    fuzz::Require(given <= heard, "more than came");
    fuzz::Require(said.size() <= kGreeting + kWorth * heard, "says more than it is asked");
  }
  if (!call.ended()) return;
  const absl::Status status = call.status();
  const size_t before = given;
  call.Receive(bytes);
  call.Produce(SIZE_MAX, &said);
  fuzz::Require(call.status() == status && given == before, "goes on after its end");
}

}  // namespace
}  // namespace fairlead::http2

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size > 0) fairlead::http2::Try(data[0], {reinterpret_cast<const char*>(data + 1), size - 1});
  return 0;
}
