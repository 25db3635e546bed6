#ifndef FAIRLEAD_CONFIG_FIELD_PATH_H_
#define FAIRLEAD_CONFIG_FIELD_PATH_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace fairlead::config {

// ".key" (no dot at the start), or "[key]" where the key is no plain word, as in
// metadata.labels[app.kubernetes.io/name].
void AppendKey(std::string& path, std::string_view key);
void AppendIndex(std::string& path, size_t index);  // "[2]"

// Where a reader is in a document: a list of steps on the readers' own stack, which costs nothing until an
// error asks for the text. A step points to its parent, which must outlive it.
class FieldPath {
 public:
  FieldPath() = default;  // the document's root
  FieldPath(const FieldPath& parent, std::string_view key) : parent_(&parent), key_(key) {}
  FieldPath(const FieldPath& parent, size_t index) : parent_(&parent), index_(index), is_index_(true) {}
  FieldPath(const FieldPath&) = delete;
  FieldPath& operator=(const FieldPath&) = delete;

  std::string ToText() const;  // "spec.http[2].route[0].weight"

 private:
  void AppendTo(std::string& path) const;
  const FieldPath* parent_ = nullptr;
  std::string_view key_;
  size_t index_ = 0;
  bool is_index_ = false;
};

}  // namespace fairlead::config

#endif  // FAIRLEAD_CONFIG_FIELD_PATH_H_
