#ifndef FAIRLEAD_REGISTRY_MESH_FACTS_H_
#define FAIRLEAD_REGISTRY_MESH_FACTS_H_

#include <string>
#include <vector>

#include "base/interned.h"
#include "model/discovery_filter.h"
#include "model/settings.h"
#include "registry/networks.h"

namespace fairlead::registry {

// What every service and endpoint of one cluster depends on. A change of it makes all of the cluster be
// looked at again.
struct MeshFacts {
  model::SettingsPtr settings;
  Interned cluster;         // its id: settings->cluster_id for the control plane's own
  Interned object_cluster;  // how its objects name it (see config::ObjectMeta): "" for that one
  model::DiscoveryFilter filter;
  NetworkLookup networks;
  std::vector<std::string> problems;  // of the settings, as the user should be told

  friend bool operator==(const MeshFacts&, const MeshFacts&) = default;
};

}  // namespace fairlead::registry

#endif  // FAIRLEAD_REGISTRY_MESH_FACTS_H_
