#ifndef FAIRLEAD_REGISTRY_NETWORKS_H_
#define FAIRLEAD_REGISTRY_NETWORKS_H_

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/interned.h"
#include "base/ip_address.h"
#include "base/labels.h"
#include "model/settings.h"
#include "model/workload.h"

namespace fairlead::registry {

// Which network an endpoint of a cluster is on, and which gateways MeshNetworks names. A plain value, made
// of the settings, the cluster's id and the labels of its system namespace. Source:
// istio.mesh.v1alpha1.MeshNetworks.
class NetworkLookup {
 public:
  NetworkLookup() = default;
  // `problems` is told what in MeshNetworks is of no use.
  NetworkLookup(const model::Settings& settings, const Interned& cluster,
                const LabelMap& system_namespace_labels, std::vector<std::string>* problems);

  // The first of: the workload's label topology.istio.io/network, the system namespace's, the network that
  // lists this cluster in fromRegistry, the network with the widest fromCidr around `ip`; else "".
  Interned NetworkOf(std::string_view ip, const LabelMap& labels) const;

  // Gateways that MeshNetworks gives an address; the same for every cluster.
  const std::vector<model::NetworkGateway>& static_gateways() const { return static_gateways_; }
  // Gateways that it names by registryServiceName, by that host; they lack an address.
  const std::map<std::string, std::vector<model::NetworkGateway>, std::less<>>& service_gateways() const {
    return service_gateways_;
  }
  friend bool operator==(const NetworkLookup&, const NetworkLookup&) = default;

 private:
  struct Range {
    IpPrefix prefix;
    Interned network;
    friend bool operator==(const Range& a, const Range& b) {
      return a.prefix.address == b.prefix.address && a.prefix.bits == b.prefix.bits && a.network == b.network;
    }
  };
  void AddNetworks(const model::Settings& settings, const Interned& cluster,
                   std::vector<std::string>* problems);

  Interned system_network_;
  Interned registry_network_;
  std::vector<Range> ranges_;  // widest first
  std::vector<model::NetworkGateway> static_gateways_;
  std::map<std::string, std::vector<model::NetworkGateway>, std::less<>> service_gateways_;
};

}  // namespace fairlead::registry

#endif  // FAIRLEAD_REGISTRY_NETWORKS_H_
