#ifndef FAIRLEAD_MESH_VIEW_GATEWAY_SCOPES_H_
#define FAIRLEAD_MESH_VIEW_GATEWAY_SCOPES_H_

#include "base/clock.h"
#include "base/interned.h"
#include "cache/recorded.h"
#include "mesh/index/merged_gateway.h"
#include "mesh/view/reads.h"

namespace fairlead::mesh {

// What the routers of a mesh serve, and of all meshes that came of it: one value for routers that the same
// Gateways select and whose services lead to the same ports. Thread-safe.
class GatewayScopes {
 public:
  using Result = cache::Recorded<MergedGateway, Reads>;

  // Of the client, which must be a router; a Gateway without servers in it where none selects it: never null.
  // Reads of the client its namespace, the labels that selectors name and where its services' ports lead.
  Result Get(const World& world);
  // How many values are kept.
  size_t size() const { return cache_.size(); }
  // Forgets what nobody holds or asked for lately. To be called every few seconds.
  void Sweep(Clock::time_point now) { cache_.Sweep(now); }

 private:
  cache::RecordedCache<Interned, MergedGateway, Reads> cache_;  // by namespace
};

}  // namespace fairlead::mesh

#endif  // FAIRLEAD_MESH_VIEW_GATEWAY_SCOPES_H_
