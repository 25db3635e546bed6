// Responses of a server of MCP: whatever it says, the session answers or ends the stream, and objects that
// count are of the kinds that were asked for.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "source/mcp/mcp_session.h"
#include "tests/fuzz/choices.h"

using fairlead::fuzz::Require;
using fairlead::source::McpOptions;
using fairlead::source::McpSession;
using fairlead::source::PlatformView;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const McpOptions state = *fairlead::source::ParseMcpOptions("xds://h"),
                          delta = *fairlead::source::ParseMcpOptions("xds://h?protocol=delta");
  if (size == 0) return 0;
  PlatformView view;
  McpSession session((data[0] & 1) != 0 ? delta : state, &view);
  session.Begin();
  // Messages are lines: a seed is easy to write, and a fuzzer splits them where it likes.
  std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  while (!rest.empty()) {
    const size_t end = rest.find("\n--\n");
    const auto answer = session.Take(rest.substr(0, end));
    if (!answer.ok()) break;
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 4);
  }
  session.StopWaiting();
  for (const fairlead::config::ObjectChange& change : view.TakeChanges()) {
    Require(fairlead::config::InfoOf(change.key.kind).payload != fairlead::config::PayloadType::kStruct,
            "an object is of a kind that was not asked for");
  }
  return 0;
}
