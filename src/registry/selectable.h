#ifndef FAIRLEAD_REGISTRY_SELECTABLE_H_
#define FAIRLEAD_REGISTRY_SELECTABLE_H_

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/interned.h"
#include "base/sharded_map.h"
#include "base/sorted_map.h"
#include "model/endpoint.h"

namespace fairlead::registry {

// Namespace and name of an object whose kind is clear.
using Name = std::pair<Interned, Interned>;

inline constexpr std::string_view kUnixPrefix = "unix://";

// A ready pod or a healthy WorkloadEntry as selectors find it, or an endpoint written into a ServiceEntry.
// Immutable.
struct SelectableWorkload {
  bool is_pod = false;
  Interned name;                                       // of the object
  model::WorkloadPtr workload;                         // namespace and labels are there
  std::string address;                                 // IP, DNS name, unix:// path or ""
  std::vector<std::string> more_addresses;             // of a pod with dual stack
  std::map<std::string, uint32_t, std::less<>> ports;  // by name
  uint32_t weight = 0;
  model::Health health = model::Health::kUnknown;
  // Its address is a DNS name or a path: of use to ServiceEntries that resolve by DNS alone.
  bool dns_only = false;

  friend bool operator==(const SelectableWorkload&, const SelectableWorkload&) = default;
};
using SelectablePtr = std::shared_ptr<const SelectableWorkload>;

// All selectable workloads by namespace and name.
class SelectableIndex {
 public:
  // A pod's cluster (see config::ObjectMeta) and name.
  using PodName = std::pair<Interned, Interned>;
  // A WorkloadEntry's name and cluster.
  using EntryName = std::pair<Interned, Interned>;
  // Many: not in order.
  using Pods = ShardedMap<PodName, SelectablePtr, absl::Hash<PodName>, std::equal_to<PodName>, 64>;
  using Entries = SortedMap<EntryName, SelectablePtr>;

  const Pods& PodsIn(const Interned& ns) const;
  const Entries& EntriesIn(const Interned& ns) const;
  // Those that pass, in the order in which services list them: pods, then entries, each by name, and those
  // of one name by the clusters' ids.
  template <typename Predicate>
  std::vector<SelectablePtr> Select(const Interned& ns, const Predicate& passes) const {
    std::vector<SelectablePtr> selected;
    for (const auto& [name, workload] : PodsIn(ns)) {
      if (passes(*workload)) selected.push_back(workload);
    }
    std::sort(selected.begin(), selected.end(), [](const SelectablePtr& a, const SelectablePtr& b) {
      return std::tie(a->name, a->workload->cluster) < std::tie(b->name, b->workload->cluster);
    });
    for (const auto& [name, workload] : EntriesIn(ns)) {
      if (passes(*workload)) selected.push_back(workload);
    }
    return selected;
  }
  // Null removes.
  void SetPod(const Interned& ns, const PodName& name, SelectablePtr workload);
  void SetEntry(const Interned& ns, const EntryName& name, SelectablePtr workload);

 private:
  ShardedMap<Interned, Pods> pods_;
  ShardedMap<Interned, Entries> entries_;
};

// `made` as a shared pointer: `old` itself where the contents are equal, so that pointers tell what changed.
template <typename T>
std::shared_ptr<const T> KeepIfEqual(const std::shared_ptr<const T>& old, T made) {
  if (old != nullptr && *old == made) return old;
  return std::make_shared<const T>(std::move(made));
}

// The same for a selectable whose workload was made anew.
SelectablePtr KeepIfEqual(const SelectablePtr& old, SelectableWorkload made);

}  // namespace fairlead::registry

#endif  // FAIRLEAD_REGISTRY_SELECTABLE_H_
