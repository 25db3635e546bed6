#ifndef FAIRLEAD_MESH_INDEX_NETWORK_INDEX_H_
#define FAIRLEAD_MESH_INDEX_NETWORK_INDEX_H_

#include <string_view>
#include <vector>

#include "model/workload.h"

namespace fairlead::mesh {

// Which networks there are and how to get to them: MeshNetworks and services labelled
// topology.istio.io/network.
class NetworkIndex {
 public:
  const std::vector<model::NetworkGateway>& All() const { return gateways_; }
  std::vector<model::NetworkGateway> Of(std::string_view network) const;
  std::vector<model::NetworkGateway> Of(std::string_view network, std::string_view cluster) const;

 private:
  friend class NetworkIndexBuilder;
  std::vector<model::NetworkGateway> gateways_;  // sorted
};

}  // namespace fairlead::mesh

#endif  // FAIRLEAD_MESH_INDEX_NETWORK_INDEX_H_
