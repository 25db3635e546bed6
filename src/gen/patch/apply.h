#ifndef FAIRLEAD_GEN_PATCH_APPLY_H_
#define FAIRLEAD_GEN_PATCH_APPLY_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "gen/patch/outcome.h"
#include "gen/patch/patch.h"

namespace envoy::config::cluster::v3 {
class Cluster;
}
namespace envoy::config::core::v3 {
class TypedExtensionConfig;
}
namespace envoy::config::listener::v3 {
class Listener;
}
namespace envoy::config::route::v3 {
class RouteConfiguration;
}

// Patches change messages. All of it is pure but for `outcome`, which says what came of each patch. A patch
// that cannot be applied leaves the message unchanged. Later patches of its EnvoyFilter are left out, too, as
// they may depend on it.
namespace fairlead::gen::patch {

// Everything but additions of listeners. With Side::kInbound the routes in it are patched first. False: the
// listener is removed. Source: Istio's ApplyListenerPatches.
bool PatchListener(const PatchSet& patches, envoy::config::listener::v3::Listener* listener,
                   PatchOutcome* outcome);

// The ports of a gateway's route configuration for matches: the service ports that lead to the port in its
// name, or that port.
using GatewayPorts = std::vector<uint32_t>;

// `ports`: of a gateway; null for others. Source: Istio's ApplyRouteConfigurationPatches.
void PatchRoutes(const PatchSet& patches, const GatewayPorts* ports,
                 envoy::config::route::v3::RouteConfiguration* routes, PatchOutcome* outcome);

// `hosts`: see PatchPool::ForCluster. False: the cluster is removed. Source: Istio's ApplyClusterMerge.
bool PatchCluster(const PatchSet& patches, const std::vector<std::string_view>& hosts,
                  envoy::config::cluster::v3::Cluster* cluster, PatchOutcome* outcome);

// The messages that are added as they are, in order.
std::vector<const envoy::config::listener::v3::Listener*> AddedListeners(const PatchSet& patches,
                                                                         PatchOutcome* outcome);
std::vector<const envoy::config::cluster::v3::Cluster*> AddedClusters(const PatchSet& patches,
                                                                      PatchOutcome* outcome);
// The first one of a name; null if there is none.
const envoy::config::core::v3::TypedExtensionConfig* AddedExtension(const PatchSet& patches,
                                                                    std::string_view name);

// Whether a patch is for a listener of that name and port (0: a socket of another kind).
bool MatchesListener(const Patch& patch, std::string_view name, uint32_t port);
// Whether it is for a cluster of that name.
bool MatchesCluster(const Patch& patch, std::string_view name, const std::vector<std::string_view>& hosts);

}  // namespace fairlead::gen::patch

#endif  // FAIRLEAD_GEN_PATCH_APPLY_H_
