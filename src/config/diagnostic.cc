#include "config/diagnostic.h"

#include <ctime>
#include <utility>

#include "base/strings.h"

namespace fairlead::config {
std::string ToText(const Diagnostic& diagnostic) {
  std::string text;
  if (!diagnostic.file.empty()) {
    StrAppend(&text, diagnostic.file, ":");
    if (diagnostic.line > 0) StrAppend(&text, diagnostic.line, ":");
    text.push_back(' ');
  }
  StrAppend(&text, diagnostic.severity == Severity::kError ? "error: " : "warning: ");
  if (diagnostic.object) StrAppend(&text, Describe(*diagnostic.object), ": ");
  if (!diagnostic.path.empty()) StrAppend(&text, diagnostic.path, ": ");
  StrAppend(&text, diagnostic.message, " (", diagnostic.code, ")");
  return text;
}

std::string UtcText(int64_t time) {
  const std::time_t seconds = time;
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  char text[32];
  return {text, std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts)};
}

Diagnostic ServingEarlier(std::string file, int64_t time) {
  Diagnostic diagnostic;
  diagnostic.severity = Severity::kWarning;
  diagnostic.code = "last-good";
  diagnostic.file = std::move(file);
  diagnostic.message =
      time == 0 ? "serving an earlier version" : StrCat("serving the version of ", UtcText(time));
  return diagnostic;
}

}  // namespace fairlead::config
