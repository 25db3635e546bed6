#ifndef FAIRLEAD_CONFIG_REPORT_H_
#define FAIRLEAD_CONFIG_REPORT_H_

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/diagnostic.h"
#include "config/field_path.h"
#include "config/quoting.h"
#include "config/tree.h"

namespace fairlead::config {

// Gathers what is wrong with one text while it is read. Knows the file and the object at hand, so that those
// who find a mistake say no more than where and what. Of one object at most kMostMistakes are kept, then one
// that says so. One thread at a time.
class Report {
 public:
  static constexpr size_t kMostMistakes = 1000;

  explicit Report(Interned file) : file_(std::move(file)) {}

  // What follows is about this object; nothing: about the file.
  void SetObject(std::optional<ObjectKey> object);
  // What may be quoted from here on; values at first. Where nothing may, paths are cut (ShownPath), and a
  // message that might have a value in it is replaced by one that has none.
  void SetQuoting(Quoting quoting) { quoting_ = quoting; }
  // Unknown fields are no mistakes from here on: of objects that an API server has admitted.
  void PassOverUnknownFields() { passes_over_unknown_ = true; }

  void Error(std::string_view code, int line, std::string path, std::string message);
  void Error(std::string_view code, Node at, const FieldPath& path, std::string message) {
    Error(code, at.line(), path.ToText(), std::move(message));
  }
  // Of messages that have no word of the document in them.
  void PlainError(std::string_view code, int line, std::string path, std::string message);
  void PlainError(std::string_view code, Node at, const FieldPath& path, std::string message) {
    PlainError(code, at.line(), path.ToText(), std::move(message));
  }
  void Warning(std::string_view code, int line, std::string path, std::string message);
  void PlainWarning(std::string_view code, int line, std::string path, std::string message);
  // "expected a list, got string" at the node.
  void WrongType(Node at, const FieldPath& path, std::string_view expected);
  // `names`: the fields that exist here, of which a similar one is suggested. True where it is passed over.
  bool UnknownField(const Node::Entry& entry, const FieldPath& parent,
                    const std::vector<std::string_view>& names);

  bool passes_over_unknown() const { return passes_over_unknown_; }
  size_t errors() const { return errors_; }
  // Whether more mistakes of the object at hand are counted and not kept: those who find one need not say it
  // well.
  bool IsFull() const { return diagnostics_.size() - of_others_ > kMostMistakes; }
  const Interned& file() const { return file_; }
  std::vector<Diagnostic> Take() { return std::move(diagnostics_); }

 private:
  void Add(Severity severity, std::string_view code, int line, std::string path, std::string message);
  Interned file_;

  std::optional<ObjectKey> object_;
  Quoting quoting_ = Quoting::kValues;
  std::vector<Diagnostic> diagnostics_;
  size_t of_others_ = 0;  // of the diagnostics: what was said before the object at hand
  size_t errors_ = 0;
  bool passes_over_unknown_ = false;
};

// "string \"abc\"", "integer 5", "list": a node as messages name it, long texts cut.
std::string DescribeValue(Node node);
// The name that differs least from what was written, "" where none is near.
std::string_view NearestName(std::string_view written, const std::vector<std::string_view>& names);
// `; did you mean "weight"?`, or nothing.
std::string Suggestion(std::string_view written, const std::vector<std::string_view>& names);

}  // namespace fairlead::config

#endif  // FAIRLEAD_CONFIG_REPORT_H_
