#ifndef FAIRLEAD_APP_WORKLOAD_ROOTS_H_
#define FAIRLEAD_APP_WORKLOAD_ROOTS_H_

#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "app/discovery_options.h"
#include "controllers/root_writer.h"
#include "controllers/trust_bundle_writer.h"
#include "kube/api_writer.h"

namespace fairlead::app {

// The mesh's root certificates in a cluster, where its workloads find them: in a ConfigMap of each namespace,
// or in one ClusterTrustBundle. Thread-safe. Source: Istio's ENABLE_CLUSTER_TRUST_BUNDLE_API.
class WorkloadRoots {
 public:
  // `view` and `leads` as of RootWriter::Options. The writer must outlive it, or be stopped before it goes.
  WorkloadRoots(const Environment& environment, std::function<controllers::RootWriter::View()> view,
                std::function<bool()> leads, kube::ApiWriter* writer) {
    if (environment.trust_bundles) {
      controllers::TrustBundleWriter::Options options;
      options.leads = std::move(leads);
      bundle_.emplace(std::move(options), writer);
      return;
    }
    controllers::RootWriter::Options options;
    options.config_map = environment.root_config_map;
    options.only_namespace = environment.only_namespace;
    options.view = std::move(view);
    options.leads = std::move(leads);
    maps_.emplace(std::move(options), writer);
  }

  // In PEM, from now on. Nothing is written before.
  void SetRoots(const std::string& roots) {
    if (maps_) maps_->SetRoots(roots);
    if (bundle_) bundle_->SetRoots(roots);
  }
  // What `view` gives may have changed.
  void OnPublished() {
    if (maps_) maps_->OnPublished();
  }
  // This replica leads from now on.
  void OnLeading() {
    if (maps_) maps_->OnLeading();
    if (bundle_) bundle_->OnLeading();
  }
  // They need `view`.
  bool are_in_config_maps() const { return maps_.has_value(); }

 private:
  std::optional<controllers::RootWriter> maps_;           // one of the two
  std::optional<controllers::TrustBundleWriter> bundle_;  // likewise
};

}  // namespace fairlead::app

#endif  // FAIRLEAD_APP_WORKLOAD_ROOTS_H_
