#include "source/cluster/remote_feed.h"

#include <utility>

#include "base/strings.h"

namespace fairlead::source {

using config::ConfigPtr;
using config::ObjectChange;

std::vector<ObjectChange> DifferenceOf(const RemoteFeed::Objects& before, const RemoteFeed::Objects& now) {
  std::vector<ObjectChange> changes;
  auto old = before.begin();
  for (const auto& [key, object] : now) {
    for (; old != before.end() && old->first < key; ++old) changes.push_back({old->first, nullptr});
    const bool known = old != before.end() && old->first == key;
    if (!known || old->second->content_hash() != object->content_hash()) changes.push_back({key, object});
    if (known) ++old;
  }
  for (; old != before.end(); ++old) changes.push_back({old->first, nullptr});
  return changes;
}

RemoteFeed::RemoteFeed(const Target* target, std::string cluster, std::string kubeconfig)
    : target_(target), cluster_(std::move(cluster)), kubeconfig_(std::move(kubeconfig)) {}

RemoteFeed::~RemoteFeed() { Stop(); }

absl::Status RemoteFeed::Start(std::unique_ptr<Source> source) {
  source_ = std::move(source);
  return source_->Start(this);
}

void RemoteFeed::Stop() {
  if (source_ != nullptr) source_->Stop();
}

void RemoteFeed::OnChanges(std::vector<ObjectChange> changes) {
  std::lock_guard lock(*target_->mutex);
  for (const ObjectChange& change : changes) {
    if (change.object == nullptr) {
      objects_.erase(change.key);
    } else {
      objects_[change.key] = change.object;
    }
  }
  if (open_) target_->sink->OnChanges(std::move(changes));
}

void RemoteFeed::Replace(config::Kind kind, std::vector<ConfigPtr> objects) {
  Objects before, now;
  {
    std::lock_guard lock(*target_->mutex);
    for (const auto& [key, object] : objects_) {
      if (key.kind == kind) before.emplace(key, object);
    }
  }
  for (ConfigPtr& object : objects) now.emplace(config::KeyOf(*object), std::move(object));
  OnChanges(DifferenceOf(before, now));
}

// Of an object the message says which cluster's it is.
void RemoteFeed::OnDiagnostics(std::vector<config::Diagnostic> diagnostics) {
  for (config::Diagnostic& one : diagnostics) {
    if (!one.object) one.message = StrCat("cluster ", cluster_, ": ", one.message);
  }
  {
    std::lock_guard lock(*target_->mutex);
    diagnostics_ = std::move(diagnostics);
  }
  target_->on_news();
}

void RemoteFeed::OnSynced() {
  {
    std::lock_guard lock(*target_->mutex);
    synced_ = true;
  }
  target_->on_news();
}

void RemoteFeed::Open(RemoteFeed* before) {
  std::vector<ObjectChange> changes =
      DifferenceOf(before == nullptr ? Objects() : before->objects_, objects_);
  if (before != nullptr) before->open_ = false;
  open_ = true;
  if (!changes.empty()) target_->sink->OnChanges(std::move(changes));
}

void RemoteFeed::Withdraw() {
  if (!std::exchange(open_, false)) return;
  std::vector<ObjectChange> changes = DifferenceOf(objects_, {});
  if (!changes.empty()) target_->sink->OnChanges(std::move(changes));
}

std::vector<std::string> RemoteFeed::Awaited() const {
  return source_ == nullptr ? std::vector<std::string>() : source_->Awaited();
}

}  // namespace fairlead::source
