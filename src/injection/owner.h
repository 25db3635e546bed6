#ifndef FAIRLEAD_INJECTION_OWNER_H_
#define FAIRLEAD_INJECTION_OWNER_H_

#include <nlohmann/json.hpp>
#include <string>

namespace fairlead::injection {

// What a pod belongs to, as templates are told.
struct Owner {
  std::string api_version = "v1", kind = "Pod", name, ns;
};

// The owner of a pod whose name a controller makes: its Deployment rather than the ReplicaSet, its CronJob
// rather than the Job. The pod itself otherwise. Pure.
Owner OwnerOf(const nlohmann::json& pod);

}  // namespace fairlead::injection

#endif  // FAIRLEAD_INJECTION_OWNER_H_
