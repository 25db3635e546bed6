#include "cni/repair.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/log.h"
#include "base/percent.h"
#include "base/strings.h"

namespace fairlead::cni {
namespace {

LogScope repair_log("cni");

constexpr int kMostAttempts = 5;

// A value in a query.
}  // namespace

bool IsBroken(const PodFacts& pod, const NodeOptions& options) {
  if (!options.annotation.empty() && pod.annotations.count(options.annotation) == 0) return false;
  return std::any_of(pod.init_containers.begin(), pod.init_containers.end(),
                     [&](const PodFacts::InitContainer& one) {
                       if (!options.container.empty() && one.name != options.container) return false;
                       if (one.end && (one.end->reason == "Completed" || one.end->exit_code == 0))
                         return false;
                       // The first failure shows in the state, later ones in the last state.
                       const auto& end = one.last_end ? one.last_end : one.end;
                       if (!end || end->exit_code == 0) return false;
                       if (!Trim(options.message).empty() && Trim(options.message) != Trim(end->message))
                         return false;
                       return options.exit_code == "0" || options.exit_code == StrCat(end->exit_code);
                     });
}

std::string SelectorOf(const NodeOptions& options) {
  std::string fields = options.field_selector;
  if (!options.node.empty()) StrAppend(&fields, fields.empty() ? "" : ",", "spec.nodeName=", options.node);
  std::string selector = fields.empty() ? "" : StrCat("fieldSelector=", PercentEncoded(fields));
  if (!options.label_selector.empty())
    StrAppend(&selector, selector.empty() ? "" : "&",
              "labelSelector=", PercentEncoded(options.label_selector));
  return selector;
}

void Repair::OnObject(config::Node object) {
  PodFacts pod = ReadPodFacts(object);
  listed_[pod.uid] = true;
  if (!IsBroken(pod, options_)) {
    waiting_.erase(pod.uid);
    done_.erase(pod.uid);
    return;
  }
  if (done_.count(pod.uid) != 0) return;
  Waiting& waiting = waiting_[pod.uid];
  waiting.pod = std::move(pod);
}

void Repair::OnListEnd() {
  std::erase_if(waiting_, [this](const auto& one) { return listed_.count(one.first) == 0; });
  std::erase_if(done_, [this](const auto& one) { return listed_.count(one.first) == 0; });
}

void Repair::OnGone(config::Node object) {
  const std::string uid(object.Find("metadata").Find("uid").String());
  waiting_.erase(uid);
  done_.erase(uid);
}

absl::Status Repair::RepairOne(const PodFacts& pod) const {
  if (IsOn(options_.repair_pods)) return acts_.redirect(pod);
  if (IsOn(options_.delete_pods)) return acts_.erase(pod);
  if (!IsOn(options_.label_pods) || pod.labels.count(options_.label) != 0) return absl::OkStatus();
  return acts_.label(pod);
}

void Repair::Work(Time now) {
  for (auto next = waiting_.begin(); next != waiting_.end();) {
    auto one = next++;
    Waiting& waiting = one->second;
    if (now < waiting.due) continue;
    const absl::Status status = RepairOne(waiting.pod);
    const std::string name = StrCat(waiting.pod.ns, "/", waiting.pod.name);
    ++waiting.attempts;
    if (status.ok() || absl::IsNotFound(status)) {
      repair_log.Info("Pod {} was broken and is dealt with", name);
    } else if (waiting.attempts < kMostAttempts) {
      repair_log.Warn("Pod {} is broken: {}", name, FromAbsl(status.message()));
      waiting.due = now + std::chrono::seconds(1 << waiting.attempts);
      continue;
    } else {
      repair_log.Error("Pod {} is broken and is given up: {}", name, FromAbsl(status.message()));
    }
    done_[one->first] = true;
    waiting_.erase(one);
  }
}

}  // namespace fairlead::cni
