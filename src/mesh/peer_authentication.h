#ifndef FAIRLEAD_MESH_PEER_AUTHENTICATION_H_
#define FAIRLEAD_MESH_PEER_AUTHENTICATION_H_

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "base/interned.h"
#include "base/labels.h"
#include "base/strings.h"
#include "config/object.h"
#include "model/service.h"

namespace fairlead::mesh {

// mTLS mode of PeerAuthentication. Source: istio.security.v1beta1.PeerAuthentication.
enum class MutualTlsMode : uint8_t { kUnset, kDisable, kPermissive, kStrict };

// What PeerAuthentication policies say for one workload, merged mesh < namespace < workload, per port.
struct PeerAuthentication {
  MutualTlsMode mode = MutualTlsMode::kPermissive;
  std::vector<std::pair<uint32_t, MutualTlsMode>>
      ports;  // portLevelMtls that the workload's policy sets, by port
  MutualTlsMode ForPort(uint32_t port) const;
  friend bool operator==(const PeerAuthentication&, const PeerAuthentication&) = default;
};

class PeerAuthenticationIndex {
 public:
  PeerAuthentication ForWorkload(std::string_view ns, const LabelMap& labels) const;
  // Mesh and namespace policies only, kUnset where none applies (Istio: GetNamespaceMutualTLSMode).
  MutualTlsMode ForNamespace(std::string_view ns) const;
  // What a client may assume of a whole service: its namespace's mode, kPermissive where no policy says,
  // kUnset for a service outside the mesh. Policies with selectors do not count; nor do endpoints: for a
  // service with passthrough resolution or load balancing a caller that finds an endpoint without sidecar, or
  // none at all, must assume kDisable first (Istio: BestEffortInferServiceMTLSMode).
  MutualTlsMode ForService(const model::Service& service, const model::ServicePort& port) const;

 private:
  friend class PeerAuthenticationIndexBuilder;
  StringMap<std::vector<config::ConfigPtr>> policies_;  // by namespace, oldest first, those with selectors
  StringMap<config::ConfigPtr> namespace_policies_;     // the oldest without selector
  Interned root_namespace_;
  MutualTlsMode mesh_mode_ = MutualTlsMode::kUnset;
  StringMap<MutualTlsMode> namespace_modes_;
};

}  // namespace fairlead::mesh

#endif  // FAIRLEAD_MESH_PEER_AUTHENTICATION_H_
