#include "agent/variable_values.h"

#include <charconv>

#include "agent/bootstrap/proxy_config.h"
#include "base/go_bool.h"
#include "base/strings.h"

namespace fairlead::agent {

using absl::InvalidArgumentError;

std::string ValueOf(const Environment& environment, std::string_view name, std::string_view fallback) {
  auto it = environment.find(name);
  return it == environment.end() || it->second.empty() ? std::string(fallback) : it->second;
}

absl::Status ReadInt(std::string_view name, std::string_view text, int* out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *out);
  if (error == std::errc() && end == text.data() + text.size()) return absl::OkStatus();
  return InvalidArgumentError(StrCat(name, ": '", text, "' is not a number"));
}

absl::Status ReadMilliseconds(std::string_view name, std::string_view text, std::chrono::milliseconds* out) {
  if (const auto parsed = ParseDuration(text)) {
    *out = *parsed;
    return absl::OkStatus();
  }
  return InvalidArgumentError(StrCat(name, ": '", text, "' is not a duration such as 45s"));
}

absl::Status ReadRatio(std::string_view name, std::string_view text, double* out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *out);
  if (error == std::errc() && end == text.data() + text.size() && *out >= 0 && *out <= 1)
    return absl::OkStatus();
  return InvalidArgumentError(StrCat(name, ": '", text, "' is not between 0 and 1"));
}

bool IsTrue(const Environment& environment, std::string_view name) {
  return ParseGoBool(ValueOf(environment, name)).value_or(false);
}

}  // namespace fairlead::agent
