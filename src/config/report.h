#ifndef FAIRLEAD_CONFIG_REPORT_H_
#define FAIRLEAD_CONFIG_REPORT_H_

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/diagnostic.h"
#include "config/field_path.h"
#include "config/tree.h"

namespace fairlead::config {

// Gathers what is wrong with one text while it is read. Knows the file and the object at hand, so that those
// who find a mistake say no more than where and what. One thread at a time.
class Report {
 public:
  explicit Report(Interned file) : file_(std::move(file)) {}

  // What follows is about this object; nothing: about the file.
  void SetObject(std::optional<ObjectKey> object) { object_ = std::move(object); }
  void Error(std::string_view code, int line, std::string path, std::string message);
  void Error(std::string_view code, Node at, const FieldPath& path, std::string message) {
    Error(code, at.line(), path.ToText(), std::move(message));
  }
  void Warning(std::string_view code, int line, std::string path, std::string message);
  // "expected a list, got string" at the node.
  void WrongType(Node at, const FieldPath& path, std::string_view expected);
  // `names`: the fields that exist here, of which a similar one is suggested.
  void UnknownField(const Node::Entry& entry, const FieldPath& parent,
                    const std::vector<std::string_view>& names);

  size_t errors() const { return errors_; }
  const Interned& file() const { return file_; }
  std::vector<Diagnostic> Take() { return std::move(diagnostics_); }

 private:
  void Add(Severity severity, std::string_view code, int line, std::string path, std::string message);
  Interned file_;
  std::optional<ObjectKey> object_;
  std::vector<Diagnostic> diagnostics_;
  size_t errors_ = 0;
};

// "string \"abc\"", "integer 5", "list": a node as messages name it, long texts cut.
std::string DescribeValue(Node node);
// The name that differs least from what was written, "" where none is near.
std::string_view NearestName(std::string_view written, const std::vector<std::string_view>& names);
// `; did you mean "weight"?`, or nothing.
std::string Suggestion(std::string_view written, const std::vector<std::string_view>& names);

}  // namespace fairlead::config

#endif  // FAIRLEAD_CONFIG_REPORT_H_
