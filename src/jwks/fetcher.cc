#include "jwks/fetcher.h"

#include <pthread.h>

#include <algorithm>
#include <random>
#include <utility>

#include "base/log.h"
#include "base/metrics.h"
#include "base/strings.h"
#include "base/thread.h"
#include "jwks/key_set_text.h"
#include "jwks/wanted.h"
#include "mesh/index/policy_index.h"

namespace fairlead::jwks {
namespace {

LogScope jwks_log("jwks");

struct JwksMetrics {
  metrics::Counter& fetched =
      metrics::GetCounter("pilot_jwks_resolver_network_fetch_success_total", "Key sets that were fetched.");
  metrics::Counter& failed = metrics::GetCounter("pilot_jwks_resolver_network_fetch_fail_total",
                                                 "Attempts to fetch a key set that failed.");
  metrics::Gauge& wanted =
      metrics::GetGauge("fairlead_jwks_key_sets_wanted", "Key sets that RequestAuthentications refer to.");
  metrics::Gauge& known = metrics::GetGauge("fairlead_jwks_key_sets_known", "Those of them that are known.");
};

JwksMetrics& Metrics() {
  static auto* metrics = new JwksMetrics;
  return *metrics;
}

std::function<double()> Randomness() {
  return [engine = std::mt19937(std::random_device{}()),
          spread = std::uniform_real_distribution<double>()]() mutable { return spread(engine); };
}

std::string NameOf(const model::KeySource& source) {
  return source.uri.empty() ? StrCat("issuer ", source.issuer.str()) : source.uri.str();
}

bool IsHttp(std::string_view uri) {
  const std::string_view scheme = uri.substr(0, uri.find("://"));
  return EqualsIgnoreCase(scheme, "http") || EqualsIgnoreCase(scheme, "https");
}

}  // namespace

Fetcher::Fetcher(Options options, Publish publish, OnSettled on_settled)
    : options_(std::move(options)),
      publish_(std::move(publish)),
      on_settled_(std::move(on_settled)),
      schedule_(options_.schedule, Randomness()),
      downloads_(options_.downloads) {
  Metrics();
}

Fetcher::~Fetcher() { Stop(); }

void Fetcher::Want(const mesh::MeshSnapshot& snapshot) {
  {
    std::lock_guard lock(mutex_);
    const bool hybrid = snapshot.settings->features.key_fetch == model::KeyFetch::kHybrid;
    const auto services = hybrid ? snapshot.services : nullptr;
    if (stopping_ || (last_ == snapshot.policies && last_services_ == services)) return;
    last_ = snapshot.policies;
    last_services_ = services;
    Wanted wanted = WantedKeySets(snapshot);
    if (!thread_.joinable()) {
      if (wanted.empty()) {
        settled_ = true;
        return;
      }
      thread_ = RequireThread([this] {
        pthread_setname_np(pthread_self(), "jwks");
        Run();
      });
    }
    wanted_ = std::move(wanted);
  }
  downloads_.Wake();
}

void Fetcher::Stop() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  downloads_.Wake();
  if (thread_.joinable()) thread_.join();
}

void Fetcher::Run() {
  started_ = Clock::now();
  for (;;) {
    {
      std::lock_guard lock(mutex_);
      if (stopping_) return;
    }
    if (const auto wanted = TakeWanted()) {
      if (schedule_.Want(*wanted, Clock::now())) publish_(schedule_.known());
      std::erase_if(problems_, [&](const auto& problem) { return !wanted->contains(problem.first); });
    }
    Metrics().wanted.Set(static_cast<double>(schedule_.wanted()));
    Metrics().known.Set(static_cast<double>(schedule_.known()->size()));
    for (const Schedule::Order& order : schedule_.TakeDue(Clock::now())) Start(order);
    CheckSettled();
    downloads_.Wait(UntilNext());
  }
}

std::optional<Wanted> Fetcher::TakeWanted() {
  std::lock_guard lock(mutex_);
  return std::exchange(wanted_, std::nullopt);
}

void Fetcher::Start(const Schedule::Order& order) {
  const auto& [source, timeout] = order;
  if (!source.uri.empty()) return GetKeys(source, source.uri.str(), timeout);
  const std::string uri = DiscoveryUri(source.issuer);
  if (!IsHttp(uri)) return Finish(source, absl::InvalidArgumentError("the issuer is no URL of a web server"));
  downloads_.Get(uri, timeout,
                 [this, source = source, timeout = timeout](absl::StatusOr<std::string> document) {
                   if (!document.ok()) return Finish(source, document.status());
                   const absl::StatusOr<std::string> found = KeySetUri(*document);
                   if (!found.ok()) return Finish(source, found.status());
                   GetKeys(source, *found, timeout);
                 });
}

void Fetcher::GetKeys(const model::KeySource& source, const std::string& uri, Clock::duration timeout) {
  if (!IsHttp(uri))
    return Finish(source, absl::InvalidArgumentError(StrCat(uri, " is no URL of a web server")));
  downloads_.Get(uri, timeout, [this, source](absl::StatusOr<std::string> keys) {
    if (keys.ok()) {
      if (absl::Status status = CheckKeySet(*keys); !status.ok()) keys = status;
    }
    Finish(source, std::move(keys));
  });
}

void Fetcher::Finish(const model::KeySource& source, absl::StatusOr<std::string> keys) {
  (keys.ok() ? Metrics().fetched : Metrics().failed).Add();
  Report(source, keys.status());
  const Clock::time_point now = Clock::now();
  const bool changed =
      keys.ok() ? schedule_.Succeeded(source, *std::move(keys), now) : schedule_.Failed(source, now);
  if (changed) publish_(schedule_.known());
}

// Once when it comes up or is another, and once when it is gone.
void Fetcher::Report(const model::KeySource& source, const absl::Status& status) {
  const auto known = problems_.find(source);
  if (status.ok()) {
    if (known == problems_.end()) return;
    problems_.erase(known);
    return jwks_log.Info("the keys of {} can be fetched again", NameOf(source));
  }
  const std::string why(status.message());
  if (known != problems_.end() && known->second == why) return;
  problems_[source] = why;
  const bool kept = schedule_.known()->contains(source);
  jwks_log.Warn("the keys of {} cannot be fetched: {}; {}", NameOf(source), why,
                kept ? "those of before stay" : "tokens are refused");
}

void Fetcher::CheckSettled() {
  if (settled_) return;
  if (!schedule_.Settled() && Clock::now() - started_ < options_.settle) return;
  settled_ = true;
  on_settled_();
}

Clock::duration Fetcher::UntilNext() const {
  const Clock::time_point now = Clock::now();
  Clock::time_point next = now + std::chrono::minutes(1);
  if (const auto due = schedule_.NextDue()) next = std::min(next, *due);
  if (!settled_) next = std::min(next, started_ + options_.settle);
  return std::max(next - now, Clock::duration(std::chrono::milliseconds(1)));
}

}  // namespace fairlead::jwks
