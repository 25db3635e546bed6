#ifndef FAIRLEAD_CONFIG_CHECK_PARTS_H_
#define FAIRLEAD_CONFIG_CHECK_PARTS_H_

#include <string>
#include <string_view>

#include "config/check/names.h"
#include "config/spot.h"
#include "istio/mesh/v1alpha1/config.pb.h"
#include "istio/networking/v1alpha3/destination_rule.pb.h"
#include "istio/networking/v1alpha3/gateway.pb.h"
#include "istio/networking/v1alpha3/sidecar.pb.h"
#include "istio/networking/v1alpha3/virtual_service.pb.h"
#include "istio/networking/v1alpha3/workload_entry.pb.h"
#include "istio/type/v1beta1/selector.pb.h"

// Checks of what several kinds have.
namespace fairlead::config::check {

namespace net = istio::networking::v1alpha3;

template <typename Map>
void CheckLabels(const Map& labels, const Spot& at) {
  for (const auto& [key, value] : labels) at.Field(key).Refuse(LabelProblem(key, value));
}

// A selector's labels: no wildcards, and a warning where there is none. False where something is wrong.
template <typename Map>
bool CheckSelectedLabels(const Map& labels, const Spot& at) {
  bool good = true;
  for (const auto& [key, value] : labels) {
    const bool wild = key.find('*') != std::string::npos || value.find('*') != std::string::npos;
    if (key.empty()) at.Error("invalid-value", "a label's key may not be empty");
    if (wild) at.Field(key).Error("invalid-value", "wildcards are not supported in selectors");
    good = good && !wild && !key.empty();
  }
  if (labels.empty())
    at.Warn("selects-all", "the selector has no labels: it selects every workload of the namespace");
  return good;
}

void CheckTarget(const istio::type::v1beta1::PolicyTargetReference& target, const Spot& at);

// `selector`, `targetRef` and `targetRefs` of a policy: one of them at most.
template <typename Policy>
void CheckTargets(const Policy& policy, const Spot& spec) {
  int kinds = policy.has_selector() + (policy.targetrefs_size() > 0);
  if constexpr (requires { policy.targetref(); }) {
    kinds += policy.has_targetref();
    if (policy.has_targetref()) CheckTarget(policy.targetref(), Spot(spec, "targetRef"));
  }
  if (kinds > 1) spec.Error("conflict", "only one of selector and targetRefs may be set");
  const Spot selector(spec, "selector");
  if (policy.has_selector())
    CheckSelectedLabels(policy.selector().match_labels(), Spot(selector, "matchLabels"));
  const Spot targets(spec, "targetRefs");
  for (int i = 0; i < policy.targetrefs_size(); ++i)
    CheckTarget(policy.targetrefs(i), Spot(targets, static_cast<size_t>(i)));
}

enum class ExportOf { kServiceEntry, kRuleWithSelector, kOther };
void CheckExportTo(const google::protobuf::RepeatedPtrField<std::string>& names, ExportOf kind,
                   const Spot& at);

// Whether warnings count: Istio loses those of some places.
enum class Warnings { kKept, kLost };

void CheckTrafficPolicy(const net::TrafficPolicy& policy, Warnings warnings, const Spot& at);
void CheckConnectionPool(const net::ConnectionPoolSettings& pool, const Spot& at,
                         bool http2_keepalive = true);
void CheckOutlierDetection(const net::OutlierDetection& outlier, Warnings warnings, const Spot& at);
void CheckLocalityLb(const net::LocalityLoadBalancerSetting& lb, bool outlier, Warnings warnings,
                     const Spot& at);
void CheckZoneAwareLb(const net::ZoneAwareLoadBalancerSetting& lb, bool outlier, Warnings warnings,
                      const Spot& at);
// `ns`: of the object; "" for the mesh's own settings.
void CheckClientTls(const net::ClientTLSSettings& tls, std::string_view ns, const Spot& at);
void CheckServerTls(const net::ServerTLSSettings& tls, const Spot& at);
void CheckDestination(const net::Destination& destination, const Spot& at);
void CheckRetries(const net::HTTPRetry& retries, const Spot& at);
void CheckGatewayNames(const google::protobuf::RepeatedPtrField<std::string>& names, Warnings warnings,
                       bool gateway_api, const Spot& at);

template <typename Duration>
void CheckDuration(const Duration& duration, const Spot& at) {
  at.Refuse(DurationProblem(duration));
}

inline void CheckNotNegative(int64_t number, const Spot& at) {
  if (number < 0) at.Error("out-of-range", "the number may not be negative");
}

inline void CheckPercent(double percent, const Spot& at) {
  if (!(percent >= 0 && percent <= 100)) at.Error("out-of-range", "a percentage is in 0..100");
}

}  // namespace fairlead::config::check

#endif  // FAIRLEAD_CONFIG_CHECK_PARTS_H_
