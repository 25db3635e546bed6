#ifndef FAIRLEAD_MESH_INDEX_ENDPOINT_TRAITS_H_
#define FAIRLEAD_MESH_INDEX_ENDPOINT_TRAITS_H_

#include <string>
#include <utility>
#include <vector>

#include "model/endpoint.h"
#include "model/service.h"

namespace fairlead::mesh {

// What clusters that list no endpoints are made from of a service's endpoints, and nothing else of them. A
// value; thread-safe to read.
class EndpointTraits {
 public:
  explicit EndpointTraits(model::ServiceEndpointsPtr endpoints = nullptr)  // null: there are none
      : endpoints_(std::move(endpoints)) {}

  // SPIFFE identities, sorted, unique.
  const std::vector<std::string>& identities() const;
  // Whether a port has endpoints, all of which take HTTP tunnels.
  bool AllTakeTunnels(const model::ServicePort& port) const;
  // Whether a port has endpoints, none of which refuses mutual TLS.
  bool NoneRefusesMutualTls(const model::ServicePort& port) const;

  // Whether all of the above is the same for any port.
  friend bool operator==(const EndpointTraits& a, const EndpointTraits& b);

 private:
  model::ServiceEndpointsPtr endpoints_;
};

}  // namespace fairlead::mesh

#endif  // FAIRLEAD_MESH_INDEX_ENDPOINT_TRAITS_H_
