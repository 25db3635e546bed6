#ifndef FAIRLEAD_XDS_NAME_SET_H_
#define FAIRLEAD_XDS_NAME_SET_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
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
  // From any names in any order, repeated or not.
  static NameSetPtr Of(std::vector<std::string_view> names);
  static const NameSetPtr& Empty();
  // `names` with `added` and then without `dropped`. Remembered, as many clients change alike.
  static NameSetPtr Changed(const NameSetPtr& names, const NameSetPtr& added, const NameSetPtr& dropped);

  // Sorted, unique.
  const std::vector<std::string>& names() const { return names_; }
  bool empty() const { return names_.empty(); }
  size_t size() const { return names_.size(); }
  size_t bytes() const { return bytes_; }  // of all names
  bool Contains(std::string_view name) const;
  uint64_t id() const { return id_; }  // unlike that of any other set of the process

  // The part of each name, as a function of it. A part has a number, which other parts have where their names
  // are the same and the first set that had them lives.
  using PartOf = size_t (*)(std::string_view name);
  struct Division {
    PartOf by;
    std::vector<uint8_t> parts;  // by name
    std::vector<uint64_t> ids;   // by part
  };
  using DivisionPtr = std::shared_ptr<const Division>;
  // `part_of` is below `count`, and that at most 256. The division by the function that was asked for last is
  // remembered.
  static DivisionPtr Divide(const NameSetPtr& names, PartOf part_of, size_t count);
  // REQUIRES: a division of this set. The names live as long as the set.
  std::vector<std::string_view> NamesOf(const Division& division, size_t part) const;

 private:
  explicit NameSet(std::vector<std::string> names);

  const uint64_t id_ = NextUniqueId();
  std::vector<std::string> names_;
  size_t bytes_ = 0;
  mutable std::mutex mutex_;
  mutable DivisionPtr division_;  // guarded by mutex_
};

// The requested part of a list: a set's names in the part, or all names of the set, or everything. Equal
// where the names are the same and were divided, or not divided, both.
class NamePart {
 public:
  // `names` null: everything.
  explicit NamePart(NameSetPtr names) : names_(std::move(names)) {}
  NamePart(NameSetPtr names, NameSet::PartOf part_of, size_t count, size_t part)
      : names_(std::move(names)), division_(NameSet::Divide(names_, part_of, count)), part_(part) {}

  // Calls it with the names, sorted; null for everything.
  template <typename Use>
  auto With(Use use) const {
    if (division_ == nullptr) return use(names_ == nullptr ? nullptr : &names_->names());
    const std::vector<std::string_view> views = names_->NamesOf(*division_, part_);
    const std::vector<std::string> names(views.begin(), views.end());
    return use(&names);
  }
  friend bool operator==(const NamePart& a, const NamePart& b) { return a.id() == b.id(); }
  template <typename H>
  friend H AbslHashValue(H h, const NamePart& p) {
    return H::combine(std::move(h), p.id());
  }

 private:
  uint64_t id() const {
    if (division_ != nullptr) return division_->ids[part_];
    return names_ == nullptr ? 0 : names_->id();
  }

  NameSetPtr names_;
  NameSet::DivisionPtr division_;  // null: all of the set
  size_t part_ = 0;
};

}  // namespace fairlead::xds

#endif  // FAIRLEAD_XDS_NAME_SET_H_
