#ifndef FAIRLEAD_GATEWAY_API_PARENT_H_
#define FAIRLEAD_GATEWAY_API_PARENT_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "gateway_api/group_kind.h"

namespace fairlead::gateway_api {

// What a route can be attached to: a listener, or the mesh.
struct Parent {
  std::string internal_name;  // of the derived Istio Gateway, "namespace/name"; "mesh"
  std::vector<GroupKind> allowed_kinds;
  std::vector<std::string> hosts;  // as an Istio Gateway's: "namespace/host"; none: every host
  std::string hostname;            // the listener's, as written; "" for every host
  std::string section;             // the listener's name
  int64_t port = 0;
  std::string protocol;

  friend bool operator==(const Parent&, const Parent&) = default;
};
// Of one Gateway or ListenerSet, in the order of its listeners.
using Parents = std::vector<Parent>;
using ParentsPtr = std::shared_ptr<const Parents>;

}  // namespace fairlead::gateway_api

#endif  // FAIRLEAD_GATEWAY_API_PARENT_H_
