#ifndef FAIRLEAD_CONTROLLERS_GATEWAY_OBJECTS_H_
#define FAIRLEAD_CONTROLLERS_GATEWAY_OBJECTS_H_

#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "config/tree.h"
#include "controllers/watch_thread.h"
#include "fetch/client.h"
#include "kube/access.h"

namespace fairlead::controllers {

// The label of all that is made for Gateways.
inline constexpr char kManagedLabel[] = "gateway.istio.io/managed";
// The label of Deployments' selectors in releases before 1.24. A selector cannot be changed.
inline constexpr char kOldSelector[] = "istio.io/gateway-name";

// An object of a Gateway's deployment, by its kind, namespace and name.
struct DeployedKey {
  std::string kind, ns, name;
  friend auto operator<=>(const DeployedKey&, const DeployedKey&) = default;
};

// An object of an API server as it is.
struct DeployedObject {
  std::string version;
  // Of what people and controllers write of it: the rest of its metadata, and all but its status.
  Hash128 fingerprint;
  bool managed = false;       // it has the label
  bool old_selector = false;  // of a Deployment: as releases before 1.24 made it
};
DeployedObject ReadDeployed(config::Node object);

// Follows the objects in an API server that are made for Gateways, on a thread of its own, as long as it
// lives. Thread-safe.
class DeployedObjects {
 public:
  // `changed` is called on that thread, after an object came, changed or went, with its namespace and name.
  // The client must outlive this.
  DeployedObjects(kube::ServerAccess access, fetch::Client* client,
                  std::function<void(const DeployedKey&)> changed);

  // Whether each kind was read once, or cannot be.
  bool settled() const;
  // With an empty version: there is none that has the label.
  DeployedObject Find(const DeployedKey& key) const;

 private:
  class Copy;
  std::vector<WatchThread::Collection> Collections();
  void Judge();

  const std::function<void(const DeployedKey&)> changed_;
  mutable std::mutex mutex_;
  std::map<DeployedKey, DeployedObject> objects_;  // guarded by mutex_, as settled_
  bool settled_ = false;
  WatchThread thread_;  // last: it uses what is above
};

}  // namespace fairlead::controllers

#endif  // FAIRLEAD_CONTROLLERS_GATEWAY_OBJECTS_H_
