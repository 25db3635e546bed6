#include "gen/route/retry_on.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/strings.h"
#include "envoy/config/route/v3/route_components.pb.h"

namespace fairlead::gen::route {
namespace {

// The codes with a name in Go's net/http, which Istio asks whether a number is a status code.
constexpr uint16_t kStatusCodes[] = {
    100, 101, 102, 103, 200, 201, 202, 203, 204, 205, 206, 207, 208, 226, 300, 301, 302, 303, 304, 305, 307,
    308, 400, 401, 402, 403, 404, 405, 406, 407, 408, 409, 410, 411, 412, 413, 414, 415, 416, 417, 418, 421,
    422, 423, 424, 425, 426, 428, 429, 431, 451, 500, 501, 502, 503, 504, 505, 506, 507, 508, 510, 511};

std::optional<uint32_t> StatusCode(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  uint32_t code = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), code);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if (!std::binary_search(std::begin(kStatusCodes), std::end(kStatusCodes), code)) return std::nullopt;
  return code;
}

}  // namespace

RetryOn ParseRetryOn(std::string_view retry_on) {
  RetryOn result;
  std::vector<std::string_view> conditions;
  for (std::string_view part : Split(retry_on, ',')) {
    part = Trim(part);
    if (part.empty()) continue;
    if (const auto code = StatusCode(part)) {
      result.codes.push_back(*code);
    } else {
      conditions.push_back(part);
    }
  }
  result.conditions = Join(conditions, ",");
  if (!result.codes.empty() && result.conditions.find("retriable-status-codes") == std::string::npos) {
    result.conditions += ",retriable-status-codes";
  }
  return result;
}

void SetRetryOn(std::string_view retry_on, envoy::config::route::v3::RetryPolicy* out) {
  const RetryOn parsed = ParseRetryOn(retry_on);
  out->set_retry_on(parsed.conditions);
  for (uint32_t code : parsed.codes) out->add_retriable_status_codes(code);
}

}  // namespace fairlead::gen::route
