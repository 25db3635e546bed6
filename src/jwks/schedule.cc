#include "jwks/schedule.h"

#include <algorithm>
#include <utility>

#include "jwks/key_set_text.h"

namespace fairlead::jwks {

Schedule::Schedule(Options options, std::function<double()> random)
    : options_(options), random_(std::move(random)) {}

bool Schedule::Want(const Wanted& wanted, Clock::time_point now) {
  for (const auto& [source, timeout] : wanted) {
    const auto [entry, is_new] = entries_.try_emplace(source);
    entry->second.timeout = timeout;
    if (is_new) entry->second.due = now;
  }
  std::erase_if(entries_, [&](const auto& entry) { return !wanted.contains(entry.first); });
  model::KeySets kept = *known_;
  const size_t dropped = std::erase_if(kept, [&](const auto& set) { return !wanted.contains(set.first); });
  if (dropped > 0) known_ = std::make_shared<const model::KeySets>(std::move(kept));
  return dropped > 0;
}

std::vector<Schedule::Order> Schedule::TakeDue(Clock::time_point now) {
  std::vector<Order> orders;
  for (auto& [source, entry] : entries_) {
    if (!entry.due || *entry.due > now) continue;
    entry.due.reset();
    orders.push_back({source, entry.timeout});
  }
  return orders;
}

std::optional<Clock::time_point> Schedule::NextDue() const {
  std::optional<Clock::time_point> next;
  for (const auto& [source, entry] : entries_) {
    if (entry.due && (!next || *entry.due < *next)) next = entry.due;
  }
  return next;
}

bool Schedule::Succeeded(const model::KeySource& source, std::string keys, Clock::time_point now) {
  const auto found = entries_.find(source);
  if (found == entries_.end()) return false;
  Entry& entry = found->second;
  entry.tried = true;
  entry.failures = 0;
  entry.fetched = now;
  entry.due = now + Spread(options_.refresh);
  const auto before = known_->find(source);
  if (before != known_->end() && SameKeys(*before->second, keys)) return false;
  Change(source, std::make_shared<const std::string>(std::move(keys)));
  return true;
}

bool Schedule::Failed(const model::KeySource& source, Clock::time_point now) {
  const auto found = entries_.find(source);
  if (found == entries_.end()) return false;
  Entry& entry = found->second;
  entry.tried = true;
  Clock::duration wait = options_.first_retry;
  for (int i = 0; i < entry.failures && wait < options_.longest_retry; ++i) wait *= 2;
  ++entry.failures;
  entry.due = now + Spread(std::min(wait, options_.longest_retry));
  if (!known_->contains(source) || now - entry.fetched < options_.keep) return false;
  Change(source, nullptr);
  return true;
}

bool Schedule::Settled() const {
  return std::all_of(entries_.begin(), entries_.end(), [](const auto& entry) { return entry.second.tried; });
}

// So that what began together does not stay together.
Clock::duration Schedule::Spread(Clock::duration duration) {
  return std::chrono::duration_cast<Clock::duration>(duration * (0.9 + 0.2 * random_()));
}

// Null: nothing is known any more.
void Schedule::Change(const model::KeySource& source, model::KeySetPtr keys) {
  model::KeySets changed = *known_;
  if (keys == nullptr) {
    changed.erase(source);
  } else {
    changed[source] = std::move(keys);
  }
  known_ = std::make_shared<const model::KeySets>(std::move(changed));
}

}  // namespace fairlead::jwks
