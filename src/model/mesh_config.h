#ifndef FAIRLEAD_MODEL_MESH_CONFIG_H_
#define FAIRLEAD_MODEL_MESH_CONFIG_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/interned.h"
#include "config/diagnostic.h"
#include "config/field_path.h"
#include "config/report.h"
#include "config/tree.h"
#include "model/settings.h"

namespace istio::mesh::v1alpha1 {
class ProxyConfig;
}  // namespace istio::mesh::v1alpha1

// The mesh's own files: MeshConfig and MeshNetworks, YAML or JSON of one document. As istiod does, unknown
// fields are passed over (here with a warning), so that a file for a newer version still works. All functions
// are thread-safe.
namespace fairlead::model {

struct MeshConfigResult {
  std::shared_ptr<const istio::mesh::v1alpha1::MeshConfig> mesh;  // null where the text has mistakes
  std::vector<config::Diagnostic> diagnostics;
};

// The text over `base`, by Istio's rules (mesh.ApplyMeshConfig): a field replaces the base's, whole messages
// and lists too, but defaultConfig and defaultProviders are merged field by field,
// defaultConfig.proxyMetadata by key, extensionProviders by name, and trustDomainAliases are the ones of
// both. An empty text is the base. Settings that Istio refuses (config/check/check.h) are mistakes too.
MeshConfigResult ParseMeshConfig(std::string_view text, const Interned& file,
                                 const istio::mesh::v1alpha1::MeshConfig& base);
// Over DefaultMeshConfig().
MeshConfigResult ParseMeshConfig(std::string_view text, const Interned& file);

// The same of a document that was read before, without Istio's checks; null where it cannot be read.
std::shared_ptr<const istio::mesh::v1alpha1::MeshConfig> ReadMeshConfig(config::Node root,
                                                                        config::Report& report);

// Warns with config::kNoEffectCode of each field of a MeshConfig that is accepted and not acted on.
void NoteNotActedOn(config::Node root, config::Report& report);

struct MeshNetworksResult {
  std::shared_ptr<const istio::mesh::v1alpha1::MeshNetworks> networks;  // null where the text has mistakes
  std::vector<config::Diagnostic> diagnostics;
};

// An empty text means no networks. Networks that Istio refuses are mistakes.
MeshNetworksResult ParseMeshNetworks(std::string_view text, const Interned& file);

// The same of a document that was read before, without Istio's checks; null where it cannot be read.
std::shared_ptr<const istio::mesh::v1alpha1::MeshNetworks> ReadMeshNetworks(config::Node root,
                                                                            config::Report& report);

// Lays a ProxyConfig in text over another one as defaultConfig is laid over the default's; for the annotation
// proxy.istio.io/config too. Returns whether there were no mistakes; with some, `proxy` is of no use.
bool MergeProxyConfig(config::Node node, const config::FieldPath& path, config::Report& report,
                      istio::mesh::v1alpha1::ProxyConfig* proxy);

// What the settings are besides the mesh's own files.
struct SettingsOptions {
  std::string domain = "cluster.local", cluster_id = "Kubernetes", system_namespace = "istio-system";
  Compliance compliance = Compliance::kNone;
  GatewayFeatures gateways;
  Features features;
};

// Settings of what was parsed; null messages stand for the defaults. What did not change since `previous`
// (may be null) keeps its pointer, the settings themselves included.
SettingsPtr MakeSettings(std::shared_ptr<const istio::mesh::v1alpha1::MeshConfig> mesh,
                         std::shared_ptr<const istio::mesh::v1alpha1::MeshNetworks> networks,
                         const SettingsOptions& options, const SettingsPtr& previous = nullptr);
SettingsPtr MakeSettings(std::shared_ptr<const istio::mesh::v1alpha1::MeshConfig> mesh,
                         std::shared_ptr<const istio::mesh::v1alpha1::MeshNetworks> networks,
                         std::string_view domain, std::string_view cluster_id);

}  // namespace fairlead::model

#endif  // FAIRLEAD_MODEL_MESH_CONFIG_H_
