#include "config/diagnostic.h"

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

}  // namespace fairlead::config
