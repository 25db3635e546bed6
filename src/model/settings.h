#ifndef FAIRLEAD_MODEL_SETTINGS_H_
#define FAIRLEAD_MODEL_SETTINGS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "model/compliance.h"
#include "model/features.h"

namespace istio::mesh::v1alpha1 {
class MeshConfig;
class MeshNetworks;
}  // namespace istio::mesh::v1alpha1

namespace fairlead::model {

// The parts of MeshConfig, by who reads them: the table of fields is in settings_parts.cc.
enum class SettingsPart : uint8_t {
  kRegistries,     // registry/: services, workloads and who sees them
  kIndexes,        // mesh/: who sees routing objects, which namespace is the root
  kScopes,         // mesh/: scopes of Sidecars
  kProxyConfig,    // the ProxyConfig of proxies that bring none
  kEndpoints,      // gen/endpoint
  kClusters,       // gen/cluster
  kListeners,      // gen/listener, gen/telemetry
  kRoutes,         // gen/route
  kAuthorization,  // gen/security
};
inline constexpr size_t kSettingsPartCount = 9;

// What istiod's environment says of gateways, under the same names.
struct GatewayFeatures {
  bool own_namespace_only = false;  // PILOT_SCOPE_GATEWAY_TO_NAMESPACE: routers take Gateways of their own
  bool filter_clusters = false;     // PILOT_FILTER_GATEWAY_CLUSTER_CONFIG: clusters of routed services alone
  bool quic = false;                // PILOT_ENABLE_QUIC_LISTENERS
  bool strict_merging = true;       // PILOT_ENABLE_STRICT_GATEWAY_MERGING
  friend bool operator==(const GatewayFeatures&, const GatewayFeatures&) = default;
};

struct Settings;
using SettingsPtr = std::shared_ptr<const Settings>;
using MeshConfigPtr = std::shared_ptr<const istio::mesh::v1alpha1::MeshConfig>;

// The mesh-wide settings: MeshConfig over istiod's defaults, and what was started with. Immutable; a change
// makes a new object, and equal settings keep their pointer (WithPrevious, in settings_parts.h).
struct Settings {
  MeshConfigPtr mesh;                                                   // never null; defaults filled in
  std::shared_ptr<const istio::mesh::v1alpha1::MeshNetworks> networks;  // never null; may be empty
  std::string domain = "cluster.local";                                 // --domain
  std::string cluster_id = "Kubernetes";                                // --clusterID
  std::string root_namespace = "istio-system";                          // of MeshConfig
  // --namespace: where the control plane itself runs; a topology.istio.io/network label there names the
  // network of everything that does not say otherwise. Not the same as MeshConfig's rootNamespace.
  std::string system_namespace = "istio-system";
  std::string trust_domain = "cluster.local";  // of MeshConfig
  Compliance compliance = Compliance::kNone;   // of TLS between proxies
  GatewayFeatures gateways;
  Features features;

  // MeshConfig cut down to what one consumer reads. Its pointer stays from one settings to the next while
  // these fields are equal. Settings that WithPrevious did not make have no parts: the whole stands for each.
  const MeshConfigPtr& Part(SettingsPart part) const {
    const MeshConfigPtr& own = parts[static_cast<size_t>(part)];
    return own == nullptr ? mesh : own;
  }
  std::array<MeshConfigPtr, kSettingsPartCount> parts;  // of WithPrevious
  // Settings whose MeshConfig is the part's, and which have no MeshNetworks: what one consumer reads of all
  // settings. The pointer stays as that of the part does.
  std::array<SettingsPtr, kSettingsPartCount> cut_down;  // of WithPrevious
};

// What one consumer reads of the settings: the whole where they have no parts.
inline const SettingsPtr& CutDownTo(SettingsPart part, const SettingsPtr& settings) {
  const SettingsPtr& own = settings->cut_down[static_cast<size_t>(part)];
  return own == nullptr ? settings : own;
}

// istiod's MeshConfig before a user's file is merged over it (Istio: mesh.DefaultMeshConfig).
MeshConfigPtr DefaultMeshConfig();

}  // namespace fairlead::model

#endif  // FAIRLEAD_MODEL_SETTINGS_H_
