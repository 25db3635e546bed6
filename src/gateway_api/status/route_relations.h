#ifndef FAIRLEAD_GATEWAY_API_STATUS_ROUTE_RELATIONS_H_
#define FAIRLEAD_GATEWAY_API_STATUS_ROUTE_RELATIONS_H_

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "config/object.h"
#include "gateway_api/conversion/route.h"

namespace fairlead::gateway_api {

// What routes say of other objects, by those. Not thread-safe.
class RouteRelations {
 public:
  using GatewayName = std::pair<Interned, Interned>;  // namespace, name

  void Add(const RouteConversion& route) { Change(route, 1); }
  void Remove(const RouteConversion& route) { Change(route, -1); }

  // How many routes are attached to each listener that has any, by the listener's name. The Gateway or
  // ListenerSet is given by its namespace and name: istiod does not tell the two apart either.
  std::map<std::string, size_t> AttachedTo(const Interned& ns, const Interned& name) const;
  // The Gateways that some route names together with a backend.
  std::set<GatewayName> GatewaysNamedWith(const config::ObjectKey& backend) const;

 private:
  void Change(const RouteConversion& route, int by);

  std::map<std::tuple<Interned, Interned, std::string>, std::map<config::ObjectKey, int>> attached_;
  std::map<config::ObjectKey, std::map<GatewayName, int>> named_;
};

}  // namespace fairlead::gateway_api

#endif  // FAIRLEAD_GATEWAY_API_STATUS_ROUTE_RELATIONS_H_
