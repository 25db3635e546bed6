#ifndef FAIRLEAD_INJECTION_ANNOTATIONS_H_
#define FAIRLEAD_INJECTION_ANNOTATIONS_H_

// Names that injection reads or writes. Source: Istio's resource annotations and labels
// (https://istio.io/latest/docs/reference/config/annotations, …/labels).
namespace fairlead::injection {

inline constexpr char kInject[] = "sidecar.istio.io/inject";  // label and annotation
inline constexpr char kTemplates[] = "inject.istio.io/templates";
inline constexpr char kInterceptionMode[] = "sidecar.istio.io/interceptionMode";
inline constexpr char kStatusPort[] = "status.sidecar.istio.io/port";
inline constexpr char kMergeMetrics[] = "prometheus.istio.io/merge-metrics";
inline constexpr char kSecurePort[] = "prometheus.istio.io/secure-port";
inline constexpr char kProxyConfig[] = "proxy.istio.io/config";
inline constexpr char kOverrides[] = "proxy.istio.io/overrides";
inline constexpr char kStatus[] = "sidecar.istio.io/status";
inline constexpr char kNativeSidecar[] = "sidecar.istio.io/nativeSidecar";
inline constexpr char kProxyImageType[] = "sidecar.istio.io/proxyImageType";
inline constexpr char kRewriteProbes[] = "sidecar.istio.io/rewriteAppHTTPProbers";
inline constexpr char kNetworkLabel[] = "topology.istio.io/network";

inline constexpr char kProxy[] = "istio-proxy";
inline constexpr char kInit[] = "istio-init";
inline constexpr char kValidation[] = "istio-validation";
inline constexpr char kCoreDump[] = "enable-core-dump";

inline constexpr char kClusterVariable[] = "ISTIO_META_CLUSTER_ID";
inline constexpr char kNetworkVariable[] = "ISTIO_META_NETWORK";

}  // namespace fairlead::injection

#endif  // FAIRLEAD_INJECTION_ANNOTATIONS_H_
