#ifndef FAIRLEAD_GEN_LISTENER_OUTBOUND_MEMO_H_
#define FAIRLEAD_GEN_LISTENER_OUTBOUND_MEMO_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "base/labels.h"
#include "base/unique_id.h"
#include "cache/resource.h"
#include "gen/listener/outbound_collect.h"
#include "mesh/snapshot.h"

namespace fairlead::gen::listener {

// The outbound listeners of one scope and profile, encoded, in the order of their names. Immutable.
struct OutboundSet {
  const uint64_t id = NextUniqueId();
  struct Entry {
    cache::ResourcePtr resource;
    Interned endpoint;  // as in OutboundListener
  };
  std::vector<Entry> listeners;
  absl::flat_hash_set<Interned> endpoints;  // all that are named in the entries; usually none
  std::vector<Interned> mixed_endpoints;    // addresses for which the set does not hold; usually none

  // Whether a proxy at this address has a listener of this name from here.
  bool HasListener(const Interned& name, const Interned& own_address) const;
};
using OutboundSetPtr = std::shared_ptr<const OutboundSet>;

// Remembers which outbound listeners proxies have by everything that decides about them, so that a thousand
// workloads of a namespace need one collection, and none while nothing changes. Thread-safe.
class OutboundMemo {
 public:
  // Together with what was read (OutboundReads), all that CollectOutbound looks at.
  struct Key {
    uint64_t imports_id;          // SidecarScope::imports_id, or
    mesh::SidecarScopePtr scope;  // where it has none, the scope itself; else null
    Profiles profiles;
    model::AddressView view;
    ReservedPorts reserved;
    std::string ns;      // metadata NAMESPACE, which matches of VirtualServices name
    std::string domain;  // for short names of aliases

    friend bool operator==(const Key&, const Key&) = default;
    template <typename H>
    friend H AbslHashValue(H h, const Key& k) {
      return H::combine(std::move(h), k.imports_id, k.scope.get(), k.profiles.full.get(), k.profiles.l4.get(),
                        k.view, k.reserved, k.ns, k.domain);
    }
  };

  // Null where nothing that still holds is known.
  OutboundSetPtr Find(const Key& key, const Request& request);
  void Keep(const Key& key, const Request& request, OutboundReads reads, OutboundSetPtr set);
  // Forgets what was not asked for during the last few sweeps.
  void Sweep();

 private:
  struct Variant {
    std::optional<LabelMap> labels;  // nullopt: they make no difference
    std::vector<std::pair<model::ServicePtr, model::ServiceEndpointsPtr>> endpoints;
    std::shared_ptr<const mesh::EndpointIndex> checked;  // the index that `endpoints` were last compared with
    OutboundSetPtr set;
  };
  struct Entry {
    std::vector<Variant> variants;
    uint32_t used = 0;
  };
  static bool Holds(const mesh::MeshSnapshot& snapshot, Variant* variant);

  std::mutex mutex_;
  absl::flat_hash_map<Key, Entry> entries_;
  uint32_t generation_ = 0;
};

}  // namespace fairlead::gen::listener

#endif  // FAIRLEAD_GEN_LISTENER_OUTBOUND_MEMO_H_
