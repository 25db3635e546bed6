#ifndef FAIRLEAD_GATEWAY_API_STATUS_ROUTE_VERDICT_H_
#define FAIRLEAD_GATEWAY_API_STATUS_ROUTE_VERDICT_H_

#include <string>
#include <vector>

#include "gateway_api/conversion/route.h"

namespace fairlead::gateway_api {

// What a route's status says of one of its parents, whether it is accepted.
struct ParentVerdict {
  std::string ns, name;  // of the parent
  bool accepted = false;
  std::string message;
};

// In the order in which a new status has them.
std::vector<ParentVerdict> ParentVerdicts(const RouteConversion& route);

}  // namespace fairlead::gateway_api

#endif  // FAIRLEAD_GATEWAY_API_STATUS_ROUTE_VERDICT_H_
