#ifndef FAIRLEAD_REGISTRY_MESH_FACTS_H_
#define FAIRLEAD_REGISTRY_MESH_FACTS_H_

#include <string>
#include <vector>

#include "base/interned.h"
#include "model/discovery_filter.h"
#include "model/settings.h"
#include "registry/networks.h"

namespace fairlead::registry {

// What every service and endpoint depends on. A change of it makes everything be looked at again.
struct MeshFacts {
  model::SettingsPtr settings;
  Interned cluster;  // settings->cluster_id
  model::DiscoveryFilter filter;
  NetworkLookup networks;
  std::vector<std::string> problems;  // of the settings, as the user should be told

  friend bool operator==(const MeshFacts&, const MeshFacts&) = default;
};

}  // namespace fairlead::registry

#endif  // FAIRLEAD_REGISTRY_MESH_FACTS_H_
