#include "config/report.h"

#include <algorithm>

#include "base/closest_name.h"
#include "base/strings.h"

namespace fairlead::config {
std::string_view NearestName(std::string_view written, const std::vector<std::string_view>& names) {
  constexpr size_t kLongestName = 64;
  if (written.size() > kLongestName) return "";
  size_t best = std::min<size_t>(3, written.size() / 2 + 1);  // as many edits and more is no likeness
  std::string_view nearest;
  for (std::string_view name : names) {
    const size_t distance = EditDistance(written, name, Swap::kTwoEdits);
    if (distance < best || (distance == best && !nearest.empty() && name < nearest)) {
      best = distance;
      nearest = name;
    }
  }
  return nearest;
}

std::string Suggestion(std::string_view written, const std::vector<std::string_view>& names) {
  const std::string_view nearest = NearestName(written, names);
  return nearest.empty() ? "" : StrCat("; did you mean \"", nearest, "\"?");
}

std::string DescribeValue(Node node) {
  constexpr size_t kLongestText = 60;
  const std::string_view type = NameOf(node.type());
  if (!node.IsScalar() || node.IsNull()) return std::string(type);
  const std::string_view text = node.text();
  const std::string_view shown = text.substr(0, kLongestText);
  const std::string_view quote = node.IsString() ? "\"" : "";
  return StrCat(type, " ", quote, shown, quote, shown.size() < text.size() ? "…" : "");
}

void Report::Add(Severity severity, std::string_view code, int line, std::string path, std::string message) {
  if (severity == Severity::kError) ++errors_;
  diagnostics_.push_back(
      {severity, std::string(code), file_.str(), line, object_, std::move(path), std::move(message)});
}

void Report::Error(std::string_view code, int line, std::string path, std::string message) {
  Add(Severity::kError, code, line, std::move(path), std::move(message));
}

void Report::Warning(std::string_view code, int line, std::string path, std::string message) {
  Add(Severity::kWarning, code, line, std::move(path), std::move(message));
}

void Report::WrongType(Node at, const FieldPath& path, std::string_view expected) {
  Error("wrong-type", at, path, StrCat("expected ", expected, ", got ", DescribeValue(at)));
}

void Report::UnknownField(const Node::Entry& entry, const FieldPath& parent,
                          const std::vector<std::string_view>& names) {
  Error("unknown-field", entry.key_line, FieldPath(parent, entry.key).ToText(),
        StrCat("unknown field", Suggestion(entry.key, names)));
}

}  // namespace fairlead::config
