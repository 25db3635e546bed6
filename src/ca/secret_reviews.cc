#include "ca/secret_reviews.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/log.h"
#include "base/strings.h"
#include "base/thread.h"
#include "kube/review.h"

namespace fairlead::ca {
namespace {

using model::ClusterAccount;
using model::SecretAccess;

LogScope sds_log("sds");

std::string NameOf(const ClusterAccount& who) {
  return StrCat(who.account.str(), who.cluster.empty() ? "" : " of cluster ", who.cluster.str());
}

}  // namespace

SecretReviews::~SecretReviews() { Stop(); }

void SecretReviews::Start() {
  options_.take(Readers());
  thread_ = RequireThread([this] { Run(); });
}

void SecretReviews::Stop() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void SecretReviews::Want(const ClusterAccount& account) const {
  {
    std::lock_guard lock(mutex_);
    if (accounts_.contains(account)) return;
    if (accounts_.size() >= options_.most) {
      if (!std::exchange(full_, true))
        sds_log.Warn("more than {} accounts ask for secrets: {} and others get none", options_.most,
                     NameOf(account));
      return;
    }
    accounts_.emplace(account, Account());
    woken_ = true;
  }
  wake_.notify_all();
}

// REQUIRES: mutex_ held, or no thread runs yet.
model::SecretReadersPtr SecretReviews::Readers() {
  auto readers = std::make_shared<model::SecretReaders>();
  readers->reviewer = shared_from_this();
  for (const auto& [who, account] : accounts_) {
    if (account.access != SecretAccess::kUnknown) readers->verdicts.emplace(who, account.access);
  }
  return readers;
}

void SecretReviews::Run() {
  std::unique_lock lock(mutex_);
  Clock::time_point told{};
  while (!stopping_) {
    const auto now = Clock::now();
    std::vector<ClusterAccount> due;
    auto next = now + std::chrono::hours(1);
    for (auto& [who, account] : accounts_) {
      if (account.asked) continue;
      if (account.due <= now) {
        account.asked = true;
        due.push_back(who);
      } else {
        next = std::min(next, account.due);
      }
    }
    model::SecretReadersPtr news;
    if (changed_ && now >= told + options_.gather) {
      news = Readers();
      changed_ = false;
      told = now;
    } else if (changed_) {
      next = std::min(next, told + options_.gather);
    }
    woken_ = false;
    lock.unlock();
    for (const ClusterAccount& who : due) Ask(who);
    if (news != nullptr) options_.take(std::move(news));
    lock.lock();
    if (due.empty()) wake_.wait_until(lock, next, [this] { return stopping_ || woken_; });
  }
}

void SecretReviews::Ask(const ClusterAccount& who) {
  if (!who.cluster.empty() && !options_.other_clusters) return Note(who, SecretAccess::kDenied);
  const std::string_view account = who.account;
  const size_t slash = account.find('/');
  options_.send(who.cluster.str(),
                kube::SecretReviewRequest(account.substr(0, slash), account.substr(slash + 1)),
                [self = weak_from_this(), who](const kube::ApiAnswer& answer) {
                  if (const auto reviews = self.lock()) reviews->OnAnswer(who, answer);
                });
}

void SecretReviews::OnAnswer(const ClusterAccount& who, const kube::ApiAnswer& answer) {
  const absl::StatusOr<bool> allowed = kube::ReadAccessReview(answer);
  if (allowed.ok()) return Note(who, *allowed ? SecretAccess::kAllowed : SecretAccess::kDenied);
  if (absl::IsCancelled(allowed.status())) return;
  std::string trouble(FromAbsl(allowed.status().message()));
  {
    std::lock_guard lock(mutex_);
    Account& account = accounts_[who];
    account.asked = false;
    account.due = Clock::now() + std::min(options_.most_retry,
                                          options_.first_retry * (1 << std::min(account.failures++, 10)));
    woken_ = true;
    if (account.trouble != trouble)
      sds_log.Warn("whether {} may have secrets is not known yet: {}", NameOf(who), trouble);
    account.trouble = std::move(trouble);
  }
  wake_.notify_all();
}

void SecretReviews::Note(const ClusterAccount& who, SecretAccess access) {
  {
    std::lock_guard lock(mutex_);
    Account& account = accounts_[who];
    if (account.access != access) {
      sds_log.Info("{} {} have the secrets of its namespace", NameOf(who),
                   access == SecretAccess::kAllowed ? "may" : "may not");
      changed_ = true;
    }
    account.access = access;
    account.asked = false;
    account.failures = 0;
    account.trouble.clear();
    account.due =
        Clock::now() + (access == SecretAccess::kAllowed ? options_.keep_allowed : options_.keep_denied);
    woken_ = true;
  }
  wake_.notify_all();
}

}  // namespace fairlead::ca
