#ifndef FAIRLEAD_XDS_NAME_SET_H_
#define FAIRLEAD_XDS_NAME_SET_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/unique_id.h"

namespace fairlead::xds {

class NameSet;
// Equal sets are one object while any of them lives: compare by pointer, and hold one list for a thousand
// streams.
using NameSetPtr = std::shared_ptr<const NameSet>;

// An immutable set of resource names. Thread-safe.
class NameSet {
 public:
  // Of any names in any order, repeated or not.
  static NameSetPtr Of(std::vector<std::string_view> names);
  static const NameSetPtr& Empty();
  // What `names` become with `added` and then without `dropped`. Remembered, as many clients change alike.
  static NameSetPtr Changed(const NameSetPtr& names, const NameSetPtr& added, const NameSetPtr& dropped);

  // Sorted, unique.
  const std::vector<std::string>& names() const { return names_; }
  bool empty() const { return names_.empty(); }
  size_t size() const { return names_.size(); }
  size_t bytes() const { return bytes_; }  // of all names
  bool Contains(std::string_view name) const;
  uint64_t id() const { return id_; }  // unlike that of any other set of the process

  // The names of `names` that `part_of`, a function below `count`, puts into the part. The parts of a set are
  // remembered, of the function that was asked for last.
  using PartOf = size_t (*)(std::string_view name);
  static NameSetPtr Part(const NameSetPtr& names, PartOf part_of, size_t count, size_t part);

 private:
  explicit NameSet(std::vector<std::string> names);
  void Divide(PartOf part_of, size_t count) const;

  const uint64_t id_ = NextUniqueId();
  std::vector<std::string> names_;
  size_t bytes_ = 0;
  mutable std::mutex mutex_;
  mutable PartOf divided_by_ = nullptr;    // guarded by mutex_
  mutable std::vector<NameSetPtr> parts_;  // guarded by mutex_; null: the set itself
};

}  // namespace fairlead::xds

#endif  // FAIRLEAD_XDS_NAME_SET_H_
