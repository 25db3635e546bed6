#ifndef FAIRLEAD_APP_NODE_PODS_H_
#define FAIRLEAD_APP_NODE_PODS_H_

#include <functional>
#include <optional>
#include <string>

#include "ca/certificate_service.h"
#include "mesh/index/snapshot.h"

namespace fairlead::app {

// The pods of the newest snapshot as node agents are concerned: a look at one, or at those of one namespace.
class NodePods : public ca::Pods {
 public:
  // `snapshot` gives the newest, never null once there is one to ask; thread-safe.
  explicit NodePods(std::function<mesh::SnapshotPtr()> snapshot) : snapshot_(std::move(snapshot)) {}

  std::optional<Pod> Find(const std::string& cluster, const std::string& ns,
                          const std::string& name) const override;
  bool Runs(const std::string& cluster, const std::string& ns, const std::string& service_account,
            const std::string& node) const override;

 private:
  const std::function<mesh::SnapshotPtr()> snapshot_;
};

}  // namespace fairlead::app

#endif  // FAIRLEAD_APP_NODE_PODS_H_
