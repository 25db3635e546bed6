#ifndef FAIRLEAD_MODEL_SETTINGS_H_
#define FAIRLEAD_MODEL_SETTINGS_H_

#include <memory>
#include <string>

namespace istio::mesh::v1alpha1 {
class MeshConfig;
class MeshNetworks;
}  // namespace istio::mesh::v1alpha1

namespace fairlead::model {

// The mesh-wide settings: MeshConfig over istiod's defaults, and what was started with. Immutable; a change
// makes a new object, and equal settings keep their pointer.
struct Settings {
  std::shared_ptr<const istio::mesh::v1alpha1::MeshConfig> mesh;        // never null; defaults filled in
  std::shared_ptr<const istio::mesh::v1alpha1::MeshNetworks> networks;  // never null; may be empty
  std::string domain = "cluster.local";                                 // --domain
  std::string cluster_id = "Kubernetes";                                // --clusterID
  std::string root_namespace = "istio-system";                          // of MeshConfig
  // --namespace: where the control plane itself runs; a topology.istio.io/network label there names the
  // network of everything that does not say otherwise. Not the same as MeshConfig's rootNamespace.
  std::string system_namespace = "istio-system";
  std::string trust_domain = "cluster.local";  // of MeshConfig
};
using SettingsPtr = std::shared_ptr<const Settings>;

// istiod's MeshConfig before a user's file is merged over it (Istio: mesh.DefaultMeshConfig).
std::shared_ptr<const istio::mesh::v1alpha1::MeshConfig> DefaultMeshConfig();

}  // namespace fairlead::model

#endif  // FAIRLEAD_MODEL_SETTINGS_H_
