#ifndef FAIRLEAD_XDS_SUBSCRIBED_NAMES_H_
#define FAIRLEAD_XDS_SUBSCRIBED_NAMES_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "absl/container/btree_set.h"
#include "xds/name_set.h"

namespace fairlead::xds {

// A set of names that one stream has for itself, in order, and how many bytes they are. Not thread-safe.
class NameBag {
 public:
  using Names = absl::btree_set<std::string, std::less<>>;

  bool Add(std::string_view name);     // false: it was there
  bool Remove(std::string_view name);  // false: it was not
  bool Contains(std::string_view name) const { return names_.find(name) != names_.end(); }
  void Clear() { *this = NameBag(); }
  size_t size() const { return names_.size(); }
  size_t bytes() const { return bytes_; }
  size_t memory() const { return bytes_ + names_.size() * sizeof(std::string) * 2; }  // roughly
  bool empty() const { return names_.empty(); }
  Names::const_iterator begin() const { return names_.begin(); }
  Names::const_iterator end() const { return names_.end(); }
  NameSetPtr Set() const { return NameSet::Of({names_.begin(), names_.end()}); }

 private:
  Names names_;
  size_t bytes_ = 0;
};

// The names of one type that a client asks for. They are a shared set and a few changes of it. Many changes,
// or a request for all names, make a new shared set. Adding n names one by one therefore costs work in
// proportion to n log n, and a thousand clients hold equal names once. Not thread-safe.
class SubscribedNames {
 public:
  void Add(std::string_view name);
  void Add(const NameSetPtr& names);
  void Remove(std::string_view name);
  void Replace(NameSetPtr names);
  bool Contains(std::string_view name) const;
  size_t size() const { return base_->size() + added_.size() - removed_.size(); }
  size_t bytes() const { return base_->bytes() + added_.bytes() - removed_.bytes(); }
  bool empty() const { return size() == 0; }
  // Bytes, roughly, that are not the shared set's.
  size_t own_memory() const { return added_.memory() + removed_.memory(); }
  // All names. Not cheap after a change.
  const NameSetPtr& All() const;
  // The shared set, as far as it is made.
  const NameSetPtr& base() const { return base_; }

 private:
  void FoldMany();

  // INVARIANT: added_ has nothing of base_, removed_ nothing else.
  mutable NameSetPtr base_ = NameSet::Empty();
  mutable NameBag added_, removed_;
};

}  // namespace fairlead::xds

#endif  // FAIRLEAD_XDS_SUBSCRIBED_NAMES_H_
