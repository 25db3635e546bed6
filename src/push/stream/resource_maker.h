#ifndef FAIRLEAD_PUSH_STREAM_RESOURCE_MAKER_H_
#define FAIRLEAD_PUSH_STREAM_RESOURCE_MAKER_H_

#include <cstdint>
#include <functional>
#include <utility>

#include "mesh/view/proxy_scope.h"
#include "mesh/view/view.h"
#include "push/stream/object_types.h"
#include "push/stream/part_cache.h"

namespace fairlead::push {

class ResourceMaker;

// mesh::ComputeProxyScope, or a test's own.
using FindScope = std::function<mesh::ProxyScopePtr(const mesh::MeshSnapshot&, const model::ProxyPtr&,
                                                    const mesh::ProxyScopePtr& previous, bool shadow)>;

// One proxy in one snapshot: what it would be sent. Valid as long as its maker.
class ProxyView {
 public:
  ProxyView(ResourceMaker* maker, mesh::SnapshotPtr snapshot, mesh::ProxyScopePtr proxy_scope)
      : scope(std::move(proxy_scope)), maker_(maker), snapshot_(std::move(snapshot)) {}
  bool Serves(xds::TypeId type) const;
  // REQUIRES: Serves(type). `names` null: everything.
  xds::ResourceSetPtr Make(xds::TypeId type, const xds::NameSetPtr& names) const;
  const mesh::ProxyScopePtr scope;

 private:
  ResourceMaker* maker_;
  mesh::SnapshotPtr snapshot_;
};

// What makes resources: the generators of all types, and what they made before, for any proxy in any
// snapshot. Thread-safe.
class ResourceMaker {
 public:
  // A variant may have no type that `generators` lack. `shadow`: everything is made anew and compared with
  // what was made before and should still hold, for tests.
  ResourceMaker(Generators generators, GeneratorVariants variants, ObjectTypes objects, FindScope find_scope,
                bool shadow);

  // The types that are served, as a mask of xds::MaskOf.
  uint32_t served() const { return served_; }
  bool Serves(xds::TypeId type) const { return (served_ & xds::MaskOf(type)) != 0; }
  // REQUIRES: Serves(type).
  gen::Generator& GeneratorFor(xds::TypeId type, const model::Proxy& proxy) const;
  const ObjectTypes& objects() const { return objects_; }
  PartCache& parts() { return parts_; }

  // A proxy in a snapshot; `previous` may be its scope in an earlier one, or null.
  mesh::ProxyScopePtr ScopeOf(const mesh::MeshSnapshot& snapshot, const model::ProxyPtr& proxy,
                              const mesh::ProxyScopePtr& previous) const {
    return find_scope_(snapshot, proxy, previous, shadow_);
  }
  ProxyView ViewIn(mesh::SnapshotPtr snapshot, const model::ProxyPtr& proxy,
                   const mesh::ProxyScopePtr& previous);
  // What generators read for a client.
  mesh::World WorldOf(const mesh::MeshSnapshot& snapshot, const mesh::ProxyScope& client) const {
    return {snapshot, &client, shadow_};
  }

  // Forgets what was not used lately. To be called every few seconds.
  void Sweep(Clock::time_point now);

 private:
  const Generators generators_;
  const GeneratorVariants variants_;
  const ObjectTypes objects_;
  const FindScope find_scope_;
  const bool shadow_;
  const uint32_t served_;
  PartCache parts_;
};

}  // namespace fairlead::push

#endif  // FAIRLEAD_PUSH_STREAM_RESOURCE_MAKER_H_
