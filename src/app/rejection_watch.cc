#include "app/rejection_watch.h"

#include <pthread.h>

#include <chrono>
#include <utility>

#include "base/clock.h"
#include "base/metrics.h"
#include "base/thread.h"
#include "push/rejection_report.h"

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

RejectionWatch::RejectionWatch()
    : rejections_([this] {
        {
          std::lock_guard lock(mutex_);
          changed_ = true;
          ++changes_;
        }
        wake_.notify_one();
      }) {}

RejectionWatch::~RejectionWatch() { Stop(); }

void RejectionWatch::Start(Options options) {
  options_ = std::move(options);
  RejectingProxies().Set(0);
  PoliciesNotInForce().Set(0);
  thread_ = RequireThread([this] {
    pthread_setname_np(pthread_self(), "rejections");
    Run();
  });
}

void RejectionWatch::OnPublished() {
  if (rejections_.empty()) return;
  {
    std::lock_guard lock(mutex_);
    changed_ = true;
  }
  wake_.notify_one();
}

std::vector<config::Diagnostic> RejectionWatch::Diagnostics() const {
  std::lock_guard lock(mutex_);
  return told_;
}

void RejectionWatch::Stop() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void RejectionWatch::Run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [this] { return stopping_ || changed_; });
    const Clock::time_point latest = Clock::now() + kAtMost;
    for (uint64_t seen = changes_ + 1; !stopping_ && seen != changes_ && Clock::now() < latest;) {
      seen = changes_;
      wake_.wait_for(lock, kQuiet, [this] { return stopping_; });
    }
    if (stopping_) return;
    changed_ = false;
    lock.unlock();
    Tell();
    lock.lock();
  }
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
