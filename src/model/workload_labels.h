#ifndef FAIRLEAD_MODEL_WORKLOAD_LABELS_H_
#define FAIRLEAD_MODEL_WORKLOAD_LABELS_H_

#include <string_view>

#include "base/labels.h"
#include "model/endpoint.h"

// The labels that say where a workload runs. Sources: Kubernetes' well-known labels; Istio's resource labels
// reference.
namespace fairlead::model {

inline constexpr std::string_view kRegionLabel = "topology.kubernetes.io/region";
inline constexpr std::string_view kZoneLabel = "topology.kubernetes.io/zone";
inline constexpr std::string_view kSubzoneLabel = "topology.istio.io/subzone";
inline constexpr std::string_view kNetworkLabel = "topology.istio.io/network";
inline constexpr std::string_view kClusterLabel = "topology.istio.io/cluster";
inline constexpr std::string_view kHostnameLabel = "kubernetes.io/hostname";
inline constexpr std::string_view kTlsModeLabel = "security.istio.io/tlsMode";

// `labels` with what is known of the workload's place added, so that policies can select by it: locality,
// cluster, node and network where they are not empty. The network label is kept where the workload has one of
// its own; the others are overwritten (Istio: AugmentLabels).
LabelMap WithTopologyLabels(LabelMap labels, std::string_view cluster, const Locality& locality,
                            std::string_view node, std::string_view network);

// The locality that labels ask for: topology.istio.io/locality, or the older istio-locality, whose dots stand
// for slashes unless it has slashes; "" where there is neither.
std::string LocalityLabelOf(const LabelMap& labels);

}  // namespace fairlead::model

#endif  // FAIRLEAD_MODEL_WORKLOAD_LABELS_H_
