#include "config/field_path.h"

#include <algorithm>

#include "base/strings.h"

namespace fairlead::config {
namespace {

bool IsWordChar(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
         c == '@';
}

}  // namespace

void AppendKey(std::string& path, std::string_view key) {
  const bool word = !key.empty() && std::all_of(key.begin(), key.end(), IsWordChar);
  if (!word) {
    StrAppend(&path, "[", key, "]");
  } else {
    StrAppend(&path, path.empty() ? "" : ".", key);
  }
}

void AppendIndex(std::string& path, size_t index) { StrAppend(&path, "[", index, "]"); }

std::string FieldPath::ToText() const {
  std::string path;
  AppendTo(path);
  return path;
}

void FieldPath::AppendTo(std::string& path) const {
  if (parent_ == nullptr) return;
  parent_->AppendTo(path);
  if (is_index_) {
    AppendIndex(path, index_);
  } else {
    AppendKey(path, key_);
  }
}

}  // namespace fairlead::config
