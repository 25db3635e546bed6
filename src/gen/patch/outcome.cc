#include "gen/patch/outcome.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>

#include "base/label_values.h"
#include "base/metrics.h"
#include "base/strings.h"
#include "gen/resource/warn_once.h"
#include "istio/networking/v1alpha3/envoy_filter.pb.h"

namespace fairlead::gen::patch {
namespace {

using istio::networking::v1alpha3::EnvoyFilter;

LogScope patch_log("envoyfilter");

// Names of objects that metrics tell apart: a series stays as long as the process.
constexpr size_t kMostNames = 2000, kLongestName = 512;

// As Istio labels it.
std::string_view TypeLabel(ApplyTo apply_to) {
  switch (apply_to) {
    case EnvoyFilter::LISTENER:
      return "listener";
    case EnvoyFilter::LISTENER_FILTER:
      return "listenerfilter";
    case EnvoyFilter::FILTER_CHAIN:
      return "filterchain";
    case EnvoyFilter::NETWORK_FILTER:
      return "networkfilter";
    case EnvoyFilter::HTTP_FILTER:
      return "httpfilter";
    case EnvoyFilter::ROUTE_CONFIGURATION:
    case EnvoyFilter::HTTP_ROUTE:
      return "route";
    case EnvoyFilter::VIRTUAL_HOST:
      return "vhost";
    case EnvoyFilter::CLUSTER:
      return "cluster";
    default:
      return "extension";
  }
}

std::string NameOf(const config::ConfigObject& object) {
  return StrCat(object.ns().str(), "/", object.name().str());
}

metrics::Gauge& Status(const config::ConfigObject& object, ApplyTo apply_to, const char* result) {
  static auto* const names = new metrics::LabelValues(kMostNames, kLongestName);
  return metrics::GetGauge(
      "pilot_envoy_filter_status", "Status of Envoy filters whether it was applied or errored.",
      {{"name", names->Of(NameOf(object))}, {"patch", std::string(TypeLabel(apply_to))}, {"result", result}});
}

// The objects whose patches of a kind failed, by name and kind, as the metric tells them apart: each is an
// error until it is mended or gone. Several objects may share a name that stands for all further ones.
class Failures {
 public:
  void Add(const config::ConfigPtr& object, ApplyTo apply_to) {
    metrics::Gauge& gauge = Status(*object, apply_to, "error");
    std::lock_guard lock(mutex_);
    Failed& failed = failed_[&gauge];
    failed.gauge = &gauge;
    if (std::none_of(failed.objects.begin(), failed.objects.end(),
                     [&](const auto& known) { return known.object.lock() == object; }))
      failed.objects.push_back({NameOf(*object), object});
    any_ = true;
    gauge.Set(1);
  }
  // A later version of an object was applied without a failure.
  void Mended(const config::ConfigPtr& object, ApplyTo apply_to) {
    if (!any_) return;
    const std::string name = NameOf(*object);
    metrics::Gauge& gauge = Status(*object, apply_to, "error");
    std::lock_guard lock(mutex_);
    const auto failed = failed_.find(&gauge);
    if (failed == failed_.end()) return;
    Drop(failed, [&](const Known& known) { return known.name == name && known.object.lock() != object; });
  }
  void ForgetGone() {
    if (!any_) return;
    std::lock_guard lock(mutex_);
    for (auto failed = failed_.begin(); failed != failed_.end();)
      Drop(failed++, [](const Known& known) { return known.object.expired(); });
  }

 private:
  struct Known {
    std::string name;
    std::weak_ptr<const config::ConfigObject> object;
  };
  struct Failed {
    metrics::Gauge* gauge = nullptr;
    std::vector<Known> objects;
  };
  using Map = std::map<const metrics::Gauge*, Failed>;

  template <typename Which>
  void Drop(Map::iterator failed, Which&& which) {
    std::erase_if(failed->second.objects, which);
    if (!failed->second.objects.empty()) return;
    failed->second.gauge->Set(0);
    failed_.erase(failed);
    any_ = !failed_.empty();
  }

  std::mutex mutex_;
  Map failed_;
  std::atomic<bool> any_{false};  // most meshes have none, and no proxy waits for the lock
};

Failures& AllFailures() {
  static auto* const failures = new Failures;
  return *failures;
}

}  // namespace

bool PatchOutcome::Skips(const Patch& patch) const {
  return std::find(failed_.begin(), failed_.end(), patch.object) != failed_.end();
}

void PatchOutcome::Fail(const Patch& patch, std::string reason) {
  AddFailed({patch.object});
  failures_.push_back({patch.object, patch.apply_to, std::move(reason)});
}

void PatchOutcome::AddFailed(const std::vector<config::ConfigPtr>& failed) {
  for (const config::ConfigPtr& object : failed) {
    if (std::find(failed_.begin(), failed_.end(), object) == failed_.end()) failed_.push_back(object);
  }
}

void PatchOutcome::Report() const {
  for (const auto& [what, applied] : seen_) {
    metrics::Gauge& gauge = Status(*what.first, what.second, "applied");
    if (applied) gauge.Set(1);
    const auto is_it = [&what = what](const Failure& failure) {
      return failure.object == what.first && failure.apply_to == what.second;
    };
    if (std::none_of(failures_.begin(), failures_.end(), is_it))
      AllFailures().Mended(what.first, what.second);
  }
  for (const Failure& failure : failures_) {
    AllFailures().Add(failure.object, failure.apply_to);
    WarnOnce(patch_log,
             StrCat("EnvoyFilter ", NameOf(*failure.object), ": a patch for ",
                    EnvoyFilter::ApplyTo_Name(failure.apply_to), " is left out: ", failure.reason));
  }
}

void ForgetGoneFailures() { AllFailures().ForgetGone(); }

}  // namespace fairlead::gen::patch
