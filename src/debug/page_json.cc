#include "debug/page_json.h"

#include <fmt/core.h>

#include <ctime>
#include <utility>

#include "base/json.h"
#include "base/strings.h"
#include "proto/json.h"

namespace fairlead::debug {

std::string TimeText(std::chrono::system_clock::time_point time) {
  using std::chrono::microseconds;
  if (time == std::chrono::system_clock::time_point{}) return "0001-01-01T00:00:00Z";
  const auto since = std::chrono::duration_cast<microseconds>(time.time_since_epoch()).count();
  const std::time_t seconds = since / 1000000;
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:06}Z", parts.tm_year + 1900, parts.tm_mon + 1,
                     parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec, since % 1000000);
}

Json MessageJson(std::string_view type, std::string_view bytes) {
  const auto text = proto::ToJson(type, bytes);
  if (!text.ok()) return {{"@type", type}, {"error", std::string(text.status().message())}};
  auto json = ParseOrderedJson(*text);
  return json ? *std::move(json) : Json{{"@type", type}, {"error", "its text is no JSON"}};
}

Json AnyJson(std::string_view any) { return MessageJson("google.protobuf.Any", any); }

Page JsonPage(const Json& json, const Query& query) {
  const int indent = query.contains("pretty") ? 4 : -1;
  return {200, JsonText(json, indent)};
}

Page TextPage(int status, std::string text) { return {status, std::move(text), "text/plain; charset=utf-8"}; }

Page NothingYet() { return TextPage(503, "The sources have not been read yet.\n"); }

Page NotConnected() {
  return TextPage(404, "The proxy is not connected to this instance; it may be connected to another.\n");
}

}  // namespace fairlead::debug
