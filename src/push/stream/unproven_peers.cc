#include "push/stream/unproven_peers.h"

#include <algorithm>
#include <utility>

#include "push/stream/push_metrics.h"

namespace fairlead::push {
namespace {

// Of the memory a stream has one of so many parts.
constexpr size_t kShareOfStream = 16;
// Of one thread, for each address; more is taken only while nobody else wants it.
constexpr double kShareOfThread = 0.25;
constexpr double kBurst = 0.2;  // seconds that are not counted at first

double DebtAt(double debt, Clock::time_point since, Clock::time_point now) {
  return std::max(0.0, debt - Seconds(now - since) * kShareOfThread);
}

// What a set of names takes. Route types answer each name that is asked for, known or not: beyond those that
// a proxy may need, names stand for resources of their own.
size_t CostOf(const xds::HeldNames& names) {
  constexpr size_t kName = 48, kAnswer = 600, kAnswersNotCounted = 500, kOrdinaryLength = 256;
  const size_t count = names.set->size(), bytes = names.set->bytes();
  size_t cost = count * kName + bytes;
  if (!names.answered) return cost;
  if (count > kAnswersNotCounted) cost += (count - kAnswersNotCounted) * kAnswer;
  if (bytes > count * kOrdinaryLength) cost += 3 * bytes;
  return cost;
}

}  // namespace

std::unique_ptr<UnprovenPeers::Account> UnprovenPeers::Open(std::string_view host) {
  std::lock_guard lock(mutex_);
  ++hosts_[std::string(host)].accounts;
  return std::make_unique<Account>(shared_from_this(), host);
}

void UnprovenPeers::SetServices(size_t count) {
  std::lock_guard lock(mutex_);
  services_ = count;
}

// What is less than before always fits.
bool UnprovenPeers::Charge(Host* host, size_t before, size_t now) {
  const size_t most = Room();
  const bool fits = now <= before || (held_ - before + now <= most && host->held - before + now <= most / 2 &&
                                      now <= most / kShareOfStream);
  if (!fits) return false;
  held_ = held_ - before + now;
  host->held = host->held - before + now;
  return true;
}

void UnprovenPeers::Drop(const Names& names) {
  for (const xds::HeldNames& one : names) {
    const auto set = sets_.find(one.set.get());
    if (set == sets_.end() || --set->second.accounts > 0) continue;
    const auto host = hosts_.find(set->second.host);
    Charge(&host->second, set->second.charged, 0);
    if (host->second.accounts == 0 && host->second.held == 0) hosts_.erase(host);
    sets_.erase(set);
  }
}

UnprovenPeers::Account::~Account() {
  std::lock_guard lock(peers_->mutex_);
  Host* host = &peers_->hosts_[host_];
  peers_->Charge(host, charged_, 0);
  peers_->waiting_ -= waiting_;
  host->waiting -= waiting_;
  peers_->Drop(names_);
  const auto at = peers_->hosts_.find(host_);
  if (--at->second.accounts == 0 && at->second.held == 0) peers_->hosts_.erase(at);
}

bool UnprovenPeers::Account::Hold(size_t own, Names names) {
  const UnprovenLimits& limits = peers_->limits_;
  std::lock_guard lock(peers_->mutex_);
  Host* const host = &peers_->hosts_[host_];
  const size_t charged = own - std::min(own, limits.of_stream);
  if (!peers_->Charge(host, charged_, charged)) return false;
  charged_ = charged;
  // The new ones first, so that those which stay are not dropped meanwhile.
  const Names before = std::exchange(names_, {});
  bool fits = true;
  for (xds::HeldNames& one : names) {
    const auto [set, made] = peers_->sets_.try_emplace(one.set.get(), Set{0, 0, host_});
    if (made) {
      const size_t cost = CostOf(one), free = std::min(cost, limits.of_stream - free_names_);
      if (!peers_->Charge(host, 0, cost - free)) {
        peers_->sets_.erase(set);
        fits = false;
        break;
      }
      free_names_ += free;
      set->second.charged = cost - free;
    }
    ++set->second.accounts;
    names_.push_back(std::move(one));
  }
  peers_->Drop(before);
  return fits;
}

bool UnprovenPeers::Account::Wait(size_t bytes) {
  const UnprovenLimits& limits = peers_->limits_;
  if (bytes <= limits.large_request) return true;
  std::lock_guard lock(peers_->mutex_);
  // What would hold too much is not worth to be read.
  if (bytes > peers_->Room() / kShareOfStream) return false;
  const size_t most = limits.waiting + peers_->services_ * limits.memory_of_service;
  Host* const host = &peers_->hosts_[host_];
  if (peers_->waiting_ + bytes > most || host->waiting + bytes > most / 2) return false;
  waiting_ += bytes;
  peers_->waiting_ += bytes;
  host->waiting += bytes;
  return true;
}

void UnprovenPeers::Account::NoteTaken() {
  std::lock_guard lock(peers_->mutex_);
  peers_->waiting_ -= waiting_;
  peers_->hosts_[host_].waiting -= waiting_;
  waiting_ = 0;
}

void UnprovenPeers::Account::Spend(double seconds, Clock::time_point now) {
  std::lock_guard lock(peers_->mutex_);
  Host& host = peers_->hosts_[host_];
  host.debt = DebtAt(host.debt, host.since, now) + seconds;
  host.since = now;
}

bool UnprovenPeers::Account::InDebt(Clock::time_point now) const {
  std::lock_guard lock(peers_->mutex_);
  const auto host = peers_->hosts_.find(host_);
  return host != peers_->hosts_.end() && DebtAt(host->second.debt, host->second.since, now) > kBurst;
}

}  // namespace fairlead::push
