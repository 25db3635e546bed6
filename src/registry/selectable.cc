#include "registry/selectable.h"

namespace fairlead::registry {

namespace {

// The part of a namespace; an empty one where the index has none.
template <typename Index>
const auto& PartOf(const Index& index, const Interned& ns) {
  static const auto* none = new typename Index::mapped_type;
  const auto it = index.find(ns);
  return it == index.end() ? *none : it->second;
}

template <typename Index>
void SetIn(Index& index, const Interned& ns, const Interned& name, SelectablePtr workload) {
  if (workload != nullptr) {
    index[ns][name] = std::move(workload);
    return;
  }
  const auto it = index.find(ns);
  if (it == index.end()) return;
  it->second.erase(name);
  if (it->second.empty()) index.erase(it);
}

}  // namespace

const SelectableIndex::Pods& SelectableIndex::PodsIn(const Interned& ns) const { return PartOf(pods_, ns); }

const SelectableIndex::Entries& SelectableIndex::EntriesIn(const Interned& ns) const {
  return PartOf(entries_, ns);
}

void SelectableIndex::Set(const Interned& ns, bool is_pod, const Interned& name, SelectablePtr workload) {
  if (is_pod) {
    SetIn(pods_, ns, name, std::move(workload));
  } else {
    SetIn(entries_, ns, name, std::move(workload));
  }
}

SelectablePtr KeepIfEqual(const SelectablePtr& old, SelectableWorkload made) {
  if (old != nullptr && *old->workload == *made.workload) made.workload = old->workload;
  return KeepIfEqual<SelectableWorkload>(old, std::move(made));
}

}  // namespace fairlead::registry
