#include "xds/subscribed_names.h"

namespace fairlead::xds {

bool NameBag::Add(std::string_view name) {
  const bool fresh = names_.emplace(name).second;
  if (fresh) bytes_ += name.size();
  return fresh;
}

bool NameBag::Remove(std::string_view name) {
  const auto found = names_.find(name);
  if (found == names_.end()) return false;
  bytes_ -= name.size();
  names_.erase(found);
  return true;
}

void SubscribedNames::Add(std::string_view name) {
  if (base_->Contains(name)) {
    removed_.Remove(name);
  } else {
    added_.Add(name);
  }
  FoldMany();
}

void SubscribedNames::Add(const NameSetPtr& names) {
  if (empty()) return Replace(names);
  for (const std::string& name : names->names()) Add(name);
}

void SubscribedNames::Remove(std::string_view name) {
  if (base_->Contains(name)) {
    removed_.Add(name);
  } else {
    added_.Remove(name);
  }
  FoldMany();
}

void SubscribedNames::Replace(NameSetPtr names) {
  base_ = std::move(names);
  added_.Clear();
  removed_.Clear();
}

bool SubscribedNames::Contains(std::string_view name) const {
  return added_.Contains(name) || (base_->Contains(name) && !removed_.Contains(name));
}

const NameSetPtr& SubscribedNames::All() const {
  if (added_.empty() && removed_.empty()) return base_;
  base_ = NameSet::Changed(base_, added_.Set(), removed_.Set());
  added_.Clear();
  removed_.Clear();
  return base_;
}

// A fold copies the set: it must have been changed by a part of itself since the last one.
void SubscribedNames::FoldMany() {
  constexpr size_t kFew = 64;
  if (added_.size() + removed_.size() > kFew + base_->size() / 2) All();
}

}  // namespace fairlead::xds
