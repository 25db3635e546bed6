#ifndef FAIRLEAD_CONTROLLERS_SERVICE_EXPORTER_H_
#define FAIRLEAD_CONTROLLERS_SERVICE_EXPORTER_H_

#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/interned.h"
#include "config/store.h"
#include "controllers/look_soon.h"
#include "kube/api_writer.h"

namespace fairlead::controllers {

// Makes a ServiceExport for each Service of the control plane's own cluster, as long as this replica leads.
// Each Service is exported once: an export that somebody deletes is not made again by the same leader. The
// Service owns it, so that it goes with the Service. Source: Istio's autoServiceExportController.
class ServiceExporter {
 public:
  struct Options {
    std::function<config::ObjectStore()> objects;  // on the writer's thread
    std::function<bool()> leads;                   // any thread
    // Whether the mesh keeps the Service in its cluster; on the writer's thread.
    std::function<bool(const config::ConfigObject& service)> cluster_local;
    std::string group = "multicluster.x-k8s.io", version = "v1alpha1";  // of ServiceExports
    std::chrono::milliseconds quiet{100};
    std::chrono::milliseconds pause{30'000};  // after the server said that it has no such kind
  };
  // The writer must outlive it, or be stopped before it goes.
  ServiceExporter(Options options, kube::ApiWriter* writer);

  // Services may have changed. Thread-safe.
  void OnPublished() { soon_.Plan(); }
  // This replica leads from now on. On the writer's thread.
  void OnLeading();

 private:
  using Name = std::pair<Interned, Interned>;

  void Look();
  void Create(const config::ConfigObject& service);
  void OnCreated(const Name& name, const kube::ApiAnswer& answer);

  const Options options_;
  kube::ApiWriter* const writer_;
  LookSoon soon_;
  // Of the writer's thread.
  std::map<Name, std::string> exported_;  // uid of each Service that was dealt with
  Clock::time_point not_before_{};
  std::string trouble_;  // as last logged
};

}  // namespace fairlead::controllers

#endif  // FAIRLEAD_CONTROLLERS_SERVICE_EXPORTER_H_
