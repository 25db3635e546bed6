#ifndef FAIRLEAD_MESH_INDEX_PEER_AUTHENTICATION_H_
#define FAIRLEAD_MESH_INDEX_PEER_AUTHENTICATION_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/interned.h"
#include "base/labels.h"
#include "base/strings.h"
#include "config/object.h"

namespace fairlead::mesh {

// mTLS mode of PeerAuthentication. Source: istio.security.v1beta1.PeerAuthentication.
enum class MutualTlsMode : uint8_t { kUnset, kDisable, kPermissive, kStrict };

// portLevelMtls, by port.
using PortMutualTls = std::vector<std::pair<uint32_t, MutualTlsMode>>;

// What PeerAuthentication policies say for one workload, merged mesh < namespace < workload, per port.
struct PeerAuthentication {
  MutualTlsMode mode = MutualTlsMode::kPermissive;
  PortMutualTls ports;  // that the workload's policy sets
  MutualTlsMode ForPort(uint32_t port) const;
  friend bool operator==(const PeerAuthentication&, const PeerAuthentication&) = default;
};

// The policies of one namespace, as written. Of the root namespace those without selector alone: others never
// apply there. Immutable.
struct NamespacePeerAuthentication {
  struct Selecting {
    config::ConfigPtr policy;
    LabelMap selector;  // never empty
    MutualTlsMode mode = MutualTlsMode::kUnset;
    PortMutualTls ports;  // kUnset: as the policy's mode
    friend bool operator==(const Selecting&, const Selecting&) = default;
  };
  config::ConfigPtr for_all;                   // the oldest without selector, null where there is none
  MutualTlsMode mode = MutualTlsMode::kUnset;  // of `for_all`
  std::vector<Selecting> selecting;            // oldest first
  friend bool operator==(const NamespacePeerAuthentication&, const NamespacePeerAuthentication&) = default;
};
using NamespacePeerAuthenticationPtr = std::shared_ptr<const NamespacePeerAuthentication>;

// The mode of the root namespace's policy and a namespace's own, kUnset where neither has one (Istio:
// GetNamespaceMutualTLSMode). Policies with selectors do not count. Null stands for no policies; the root
// namespace's part may be given as its own, too.
MutualTlsMode ForNamespace(const NamespacePeerAuthenticationPtr& mesh,
                           const NamespacePeerAuthenticationPtr& ns);
// For a workload of the namespace with these labels: its oldest policy that selects it counts besides.
PeerAuthentication ForWorkload(const NamespacePeerAuthenticationPtr& mesh,
                               const NamespacePeerAuthenticationPtr& ns, const LabelMap& labels);

// PeerAuthentication policies by namespace. A namespace's part keeps its pointer while its policies are the
// same, and the index keeps its own while all parts do.
class PeerAuthenticationIndex {
 public:
  // Null where the namespace has no policies.
  NamespacePeerAuthenticationPtr Namespace(std::string_view ns) const;
  // The root namespace's part: what holds for the whole mesh.
  const NamespacePeerAuthenticationPtr& Mesh() const { return mesh_; }

  PeerAuthentication ForWorkload(std::string_view ns, const LabelMap& labels) const {
    return mesh::ForWorkload(mesh_, Namespace(ns), labels);
  }
  MutualTlsMode ForNamespace(std::string_view ns) const { return mesh::ForNamespace(mesh_, Namespace(ns)); }
  // What Namespace has, for comparing.
  const StringMap<NamespacePeerAuthenticationPtr>& namespaces() const { return namespaces_; }

 private:
  friend class PeerAuthenticationIndexBuilder;
  NamespacePeerAuthenticationPtr mesh_;
  StringMap<NamespacePeerAuthenticationPtr> namespaces_;  // the root namespace's is mesh_
};

}  // namespace fairlead::mesh

#endif  // FAIRLEAD_MESH_INDEX_PEER_AUTHENTICATION_H_
