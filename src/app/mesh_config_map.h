#ifndef FAIRLEAD_APP_MESH_CONFIG_MAP_H_
#define FAIRLEAD_APP_MESH_CONFIG_MAP_H_

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "config/object.h"
#include "source/source.h"

namespace fairlead::app {

// A sink in front of another one that tells what the ConfigMap of the mesh's settings says, whenever that
// changes. A ConfigMap that goes, or loses a key, says nothing: what it said last stays. `next` must outlive
// it. Source: Istio's kubemesh, key `mesh` and `meshNetworks` of the ConfigMap `istio`.
class MeshConfigMap : public source::Sink {
 public:
  struct Texts {
    // Each is called with where the text is from, for people, and the text.
    std::function<void(const std::string& where, const std::string& text)> mesh, networks;
  };
  MeshConfigMap(std::string ns, std::string name, Texts texts, source::Sink* next)
      : ns_(std::move(ns)), name_(std::move(name)), texts_(std::move(texts)), next_(next) {}

  void OnChanges(std::vector<config::ObjectChange> changes) override;
  void Replace(config::Kind kind, std::vector<config::ConfigPtr> objects) override;
  void OnDiagnostics(std::vector<config::Diagnostic> diagnostics) override {
    next_->OnDiagnostics(std::move(diagnostics));
  }
  void Synced(config::Kind kind) override { next_->Synced(kind); }
  void OnSynced() override { next_->OnSynced(); }

 private:
  void Look(const config::ConfigObject& object);

  const std::string ns_, name_;
  const Texts texts_;
  source::Sink* const next_;
  std::string mesh_, networks_;  // as last told
};

// The ConfigMap's name: "istio", of a revision with a name of its own "istio-REVISION". Source: Istio's
// getMeshConfigMapName.
std::string MeshConfigMapName(const std::string& revision);

}  // namespace fairlead::app

#endif  // FAIRLEAD_APP_MESH_CONFIG_MAP_H_
