#include "registry/kubernetes/workload_name.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "base/labels.h"
#include "base/strings.h"

namespace fairlead::registry {
namespace {

// "reviews-v1" of the ReplicaSet "reviews-v1-6d8f9": its name without the hash that `label` repeats.
std::optional<std::string> WithoutHash(std::string_view name, const LabelMap& labels,
                                       std::string_view label) {
  const std::string_view hash = LabelOr(labels, label);
  if (hash.empty() || !name.ends_with(hash)) return std::nullopt;
  const std::string suffix = StrCat("-", hash);
  if (name.ends_with(suffix)) name.remove_suffix(suffix.size());
  return std::string(name);
}

// "backup" of the Job "backup-28391040": a CronJob appends the minute of the run.
std::string CronJobOrJob(std::string_view name) {
  constexpr size_t kShortestTime = 8, kLongestTime = 10;
  const size_t dash = name.rfind('-');
  if (dash == std::string_view::npos || dash == 0) return std::string(name);
  const std::string_view digits = name.substr(dash + 1);
  const bool is_time = digits.size() >= kShortestTime && digits.size() <= kLongestTime &&
                       std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; });
  return std::string(is_time ? name.substr(0, dash) : name);
}

std::string NameByController(const config::OwnerReference& controller, const LabelMap& labels) {
  if (controller.kind == "ReplicaSet") {
    for (std::string_view label : {"pod-template-hash", "rollouts-pod-template-hash"}) {
      if (auto name = WithoutHash(controller.name, labels, label)) return *name;
    }
  } else if (controller.kind == "ReplicationController") {
    if (const std::string_view name = LabelOr(labels, "deploymentconfig"); !name.empty())
      return std::string(name);
  } else if (controller.kind == "Job") {
    return CronJobOrJob(controller.name);
  }
  return controller.name;
}

}  // namespace

std::string WorkloadNameOfPod(const config::ObjectMeta& pod) {
  if (const auto it = pod.labels.find("service.istio.io/workload-name"); it != pod.labels.end())
    return it->second;
  const auto controller = std::find_if(pod.owners.begin(), pod.owners.end(),
                                       [](const config::OwnerReference& owner) { return owner.controller; });
  // A pod whose name nobody generated was written by hand, whoever owns it.
  if (pod.generate_name.empty() || controller == pod.owners.end()) return pod.name.str();
  return NameByController(*controller, pod.labels);
}

}  // namespace fairlead::registry
