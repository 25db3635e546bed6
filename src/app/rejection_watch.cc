#include "app/rejection_watch.h"

#include <chrono>
#include <utility>

#include "base/metrics.h"
#include "push/stream/rejection_report.h"

namespace fairlead::app {
namespace {

constexpr auto kQuiet = std::chrono::milliseconds(100);
constexpr auto kAtMost = std::chrono::seconds(1);

metrics::Gauge& RejectingProxies() {
  return metrics::GetGauge("fairlead_proxies_rejecting",
                           "Connected proxies that go on without something that they rejected.");
}
metrics::Gauge& PoliciesNotInForce() {
  return metrics::GetGauge(
      "fairlead_policies_not_in_force",
      "Policies of which some connected proxy runs an older version, or none, as it rejects the newest.");
}

}  // namespace

RejectionWatch::RejectionWatch() : rejections_([this] { after_quiet_.Touch(); }) {}

void RejectionWatch::Start(Options options) {
  options_ = std::move(options);
  RejectingProxies().Set(0);
  PoliciesNotInForce().Set(0);
  after_quiet_.Start({"rejections", kQuiet, kAtMost, [this] { Tell(); }});
}

void RejectionWatch::OnPublished() {
  if (!rejections_.empty()) after_quiet_.Touch();
}

std::vector<config::Diagnostic> RejectionWatch::Diagnostics() const {
  std::lock_guard lock(mutex_);
  return told_;
}

void RejectionWatch::Tell() {
  const state::MeshObjects objects = options_.objects();
  push::RejectionReport report = push::ReportOf(
      rejections_.Current(), [&](const config::ObjectKey& key) { return objects.FindWritten(key); });
  RejectingProxies().Set(static_cast<double>(report.proxies));
  PoliciesNotInForce().Set(static_cast<double>(report.policies_not_in_force));
  {
    std::lock_guard lock(mutex_);
    told_ = report.diagnostics;
  }
  options_.sink->OnDiagnostics(std::move(report.diagnostics));
  options_.on_told();
}

}  // namespace fairlead::app
