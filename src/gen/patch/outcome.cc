#include "gen/patch/outcome.h"

#include <algorithm>

#include "base/label_values.h"
#include "base/metrics.h"
#include "base/strings.h"
#include "gen/naming/warn_once.h"
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

}  // namespace

bool Outcome::Skips(const Patch& patch) const {
  return std::find(failed_.begin(), failed_.end(), patch.object) != failed_.end();
}

void Outcome::Fail(const Patch& patch, std::string reason) {
  AddFailed({patch.object});
  failures_.push_back({patch.object, patch.apply_to, std::move(reason)});
}

void Outcome::AddFailed(const std::vector<config::ConfigPtr>& failed) {
  for (const config::ConfigPtr& object : failed) {
    if (std::find(failed_.begin(), failed_.end(), object) == failed_.end()) failed_.push_back(object);
  }
}

void Outcome::Report() const {
  for (const auto& [what, applied] : seen_) {
    metrics::Gauge& gauge = Status(*what.first, what.second, "applied");
    if (applied) gauge.Set(1);
  }
  for (const Failure& failure : failures_) {
    Status(*failure.object, failure.apply_to, "error").Set(1);
    WarnOnce(patch_log,
             StrCat("EnvoyFilter ", NameOf(*failure.object), ": a patch for ",
                    EnvoyFilter::ApplyTo_Name(failure.apply_to), " is left out: ", failure.reason));
  }
}

}  // namespace fairlead::gen::patch
