#include "registry/selectable.h"

namespace fairlead::registry {

const SelectableIndex::Pods& SelectableIndex::PodsIn(const Interned& ns) const {
  static const auto* none = new Pods();
  const Pods* pods = pods_.Find(ns);
  return pods == nullptr ? *none : *pods;
}

const SelectableIndex::Entries& SelectableIndex::EntriesIn(const Interned& ns) const {
  static const auto* none = new Entries();
  const Entries* entries = entries_.Find(ns);
  return entries == nullptr ? *none : *entries;
}

void SelectableIndex::SetPod(const Interned& ns, const PodName& name, SelectablePtr workload) {
  if (workload != nullptr) {
    pods_[ns][name] = std::move(workload);
  } else if (pods_.contains(ns)) {
    Pods& pods = pods_[ns];
    pods.Erase(name);
    if (pods.empty()) pods_.Erase(ns);
  }
}

void SelectableIndex::SetEntry(const Interned& ns, const EntryName& name, SelectablePtr workload) {
  if (workload != nullptr) {
    entries_[ns].Set(name, std::move(workload));
  } else if (entries_.contains(ns)) {
    Entries& entries = entries_[ns];
    entries.Erase(name);
    if (entries.empty()) entries_.Erase(ns);
  }
}

SelectablePtr KeepIfEqual(const SelectablePtr& old, SelectableWorkload made) {
  if (old != nullptr && *old->workload == *made.workload) made.workload = old->workload;
  return KeepIfEqual<SelectableWorkload>(old, std::move(made));
}

}  // namespace fairlead::registry
