#include "config/report.h"

#include <algorithm>

#include "base/closest_name.h"
#include "base/strings.h"

namespace fairlead::config {
namespace {

// Looking for one costs more than all else.
constexpr size_t kMostSuggestions = 200;

}  // namespace

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

void Report::SetObject(std::optional<ObjectKey> object) {
  object_ = std::move(object);
  of_others_ = diagnostics_.size();
}

void Report::Add(Severity severity, std::string_view code, int line, std::string path, std::string message) {
  if (severity == Severity::kError) ++errors_;
  if (IsFull()) return;
  if (diagnostics_.size() - of_others_ == kMostMistakes) {
    code = "too-many-mistakes";
    path.clear();
    message = "further mistakes are not listed";
  }
  if (quoting_ == Quoting::kNothing) path.resize(ShownPath(path).size());
  diagnostics_.push_back(
      {severity, std::string(code), file_.str(), line, object_, std::move(path), std::move(message)});
}

void Report::Error(std::string_view code, int line, std::string path, std::string message) {
  if (quoting_ == Quoting::kNothing) message = "this is not as it must be; a Secret is not quoted";
  Add(Severity::kError, code, line, std::move(path), std::move(message));
}

void Report::PlainError(std::string_view code, int line, std::string path, std::string message) {
  Add(Severity::kError, code, line, std::move(path), std::move(message));
}

void Report::Warning(std::string_view code, int line, std::string path, std::string message) {
  if (quoting_ == Quoting::kNothing) message = "this is not as it should be; a Secret is not quoted";
  Add(Severity::kWarning, code, line, std::move(path), std::move(message));
}

void Report::PlainWarning(std::string_view code, int line, std::string path, std::string message) {
  Add(Severity::kWarning, code, line, std::move(path), std::move(message));
}

void Report::WrongType(Node at, const FieldPath& path, std::string_view expected) {
  const std::string got = quoting_ == Quoting::kNothing ? std::string(NameOf(at.type())) : DescribeValue(at);
  PlainError("wrong-type", at, path, StrCat("expected ", expected, ", got ", got));
}

bool Report::UnknownField(const Node::Entry& entry, const FieldPath& parent,
                          const std::vector<std::string_view>& names) {
  if (passes_over_unknown_) return true;
  if (IsFull()) {
    ++errors_;
    return false;
  }
  PlainError("unknown-field", entry.key_line, FieldPath(parent, entry.key).ToText(),
             StrCat("unknown field", errors_ < kMostSuggestions ? Suggestion(entry.key, names) : ""));
  return false;
}

}  // namespace fairlead::config
