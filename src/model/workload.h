#ifndef FAIRLEAD_MODEL_WORKLOAD_H_
#define FAIRLEAD_MODEL_WORKLOAD_H_

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "base/interned.h"
#include "config/object.h"
#include "model/endpoint.h"

namespace fairlead::model {

// A pod or workload entry by address, and how its services reach it: what tells a connecting proxy who it is.
struct WorkloadInstance {
  WorkloadPtr workload;
  Interned name;  // the pod's or entry's own name
  std::vector<std::string> addresses;
  std::vector<config::ConfigPtr> sources;  // Pod or WorkloadEntry
  bool ready = false;
  bool host_network = false;
};

// A gateway through which another network is reached.
struct NetworkGateway {
  Interned network;
  Interned cluster;
  std::string address;  // IP, or a DNS name that is resolved where it is used
  uint32_t port = 15443;
  uint32_t hbone_port = 0;
  friend bool operator==(const NetworkGateway&, const NetworkGateway&) = default;
  friend bool operator<(const NetworkGateway& a, const NetworkGateway& b) {
    return std::tie(a.network, a.cluster, a.address, a.port) <
           std::tie(b.network, b.cluster, b.address, b.port);
  }
};

}  // namespace fairlead::model

#endif  // FAIRLEAD_MODEL_WORKLOAD_H_
