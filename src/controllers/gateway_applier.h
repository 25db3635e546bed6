#ifndef FAIRLEAD_CONTROLLERS_GATEWAY_APPLIER_H_
#define FAIRLEAD_CONTROLLERS_GATEWAY_APPLIER_H_

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "absl/status/status.h"
#include "base/clock.h"
#include "controllers/gateway_objects.h"
#include "kube/api_writer.h"

namespace fairlead::controllers {

// Applies the objects of Gateways' deployments, one after the other. What is as it was applied is left alone;
// so is what somebody else has made under the same name. One thread at a time, not the writer's.
class GatewayApplier {
 public:
  // How it went with one object.
  struct Outcome {
    absl::Status
        status;  // not OK: as ApiAnswer says, or InvalidArgument where the object is none of a Gateway's
    bool written = false;   // a request that writes was sent, and succeeded
    bool repaired = false;  // likewise, of an object that was applied before and edited since
    bool waits = false;     // the copy of the server's objects is late: to be looked at again
    bool foreign = false;   // there is one that is somebody else's
  };
  // An object with what it must be.
  struct Wanted {
    nlohmann::json object;
    std::string ns;               // of the Gateway
    std::string gateway;          // its name
    std::string deployment_name;  // of the objects
    std::string service_account;
    std::string manager;
  };

  // `valid`: see ApiRequest. The objects and the writer must outlive it.
  GatewayApplier(kube::ApiWriter* writer, const DeployedObjects* objects, std::function<bool()> valid)
      : writer_(writer), objects_(objects), valid_(std::move(valid)) {}

  Outcome Apply(const Wanted& wanted);
  // What was applied for a Gateway counts no more.
  void Forget(const std::string& ns, const std::string& gateway);

 private:
  // What was last applied, for which Gateway, and the object as it came out.
  struct Sent {
    std::string gateway, text;
    std::string before;  // the version in the copy then
    Hash128 after;
    Clock::time_point at;
    bool seen = false;  // the copy had it since
  };
  absl::Status FindLive(const std::string& path, DeployedObject* live) const;
  absl::Status KeepOldSelector(const std::string& path, nlohmann::json* object) const;
  kube::ApiAnswer Ask(kube::ApiRequest request) const;

  kube::ApiWriter* const writer_;
  const DeployedObjects* const objects_;
  const std::function<bool()> valid_;
  std::map<DeployedKey, Sent> sent_;
};

}  // namespace fairlead::controllers

#endif  // FAIRLEAD_CONTROLLERS_GATEWAY_APPLIER_H_
