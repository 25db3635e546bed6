#ifndef FAIRLEAD_MESH_SCOPE_READS_H_
#define FAIRLEAD_MESH_SCOPE_READS_H_

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "base/interned.h"
#include "mesh/destination_rule_index.h"
#include "mesh/snapshot.h"

namespace fairlead::mesh {

// A snapshot as the maker of one scope reads it: whatever is asked for is noted, so that later snapshots can
// be asked whether it is still the same there. Most scopes read few namespaces, and so outlive what happens
// in others. Used by one thread while the scope is made; then immutable.
class ScopeReads {
 public:
  // For a scope of clients in `ns`. `snapshot` must live until Finish is called.
  ScopeReads(const MeshSnapshot& snapshot, std::string_view ns);
  // The scope is made: nothing but Hold may be called from now on.
  void Finish();

  // Whether all that was read is the same in another snapshot: the scope would come out as it did.
  bool Hold(const MeshSnapshot& snapshot) const;

  const model::Settings& settings() const { return *settings_; }
  // All services that clients of the namespace see, as ServiceIndex::VisibleIn has them.
  ServiceIndex::Services VisibleServices();
  // Those of them that live in one of these namespaces, in the same order.
  ServiceIndex::Services VisibleServices(const std::vector<std::string_view>& from);
  // As ServiceIndex::Find.
  model::ServicePtr FindService(std::string_view hostname, std::string_view from);
  // The service that a route to `host` leads to: the one of the own namespace, whatever its exportTo, else
  // the best visible one; null where there is none.
  model::ServicePtr Destination(const std::string& host);
  // As VirtualServiceIndex::VisibleIn, of those for sidecars.
  VirtualServiceIndex::List CompetingVirtualServices();
  // The same, but in each of VirtualServiceIndex's groups the namespace's own Gateway API routes go first.
  VirtualServiceIndex::List VisibleVirtualServices();
  // Those of them that live in one of these namespaces.
  VirtualServiceIndex::List VisibleVirtualServices(const std::vector<std::string_view>& from);
  // As DestinationRuleIndex::Lookup.
  DestinationRuleIndex::List Rules(const model::Service& service);

 private:
  model::ServicePtr ResolveDestination(const MeshSnapshot& snapshot, std::string_view host) const;
  const NamespaceServices* ServicesIn(std::string_view ns);
  const NamespaceRules* RulesIn(const Interned& ns);

  const MeshSnapshot* snapshot_;  // null once the scope is made
  const Interned ns_;
  const model::SettingsPtr settings_;
  // Of each sort of index what was read: the whole of it (else null), or parts by namespace.
  std::shared_ptr<const ServiceIndex> services_;
  std::shared_ptr<const VirtualServiceIndex> virtual_services_;
  absl::flat_hash_map<std::string, NamespaceServicesPtr> services_in_;
  absl::flat_hash_map<std::string, VirtualServiceIndex::ListPtr> virtual_services_in_;
  absl::flat_hash_map<Interned, NamespaceRulesPtr> rules_in_;
  // Where routes lead that do not stay in the own namespace.
  absl::flat_hash_map<std::string, model::ServicePtr> destinations_;
};

}  // namespace fairlead::mesh

#endif  // FAIRLEAD_MESH_SCOPE_READS_H_
