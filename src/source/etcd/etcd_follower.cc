#include "source/etcd/etcd_follower.h"

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include "base/strings.h"
#include "config/content_hash.h"
#include "config/lost_policy.h"
#include "source/etcd/etcd_objects.h"

namespace fairlead::source {
namespace {

std::string OriginOf(const SourceUrl& url) {
  SourceUrl origin = url;
  origin.path.clear();
  return origin.Name();
}

// With the numbers that an API server would give it: what is written of it counts for this version alone.
config::ConfigPtr WithRevision(const config::ConfigObject& object, const EtcdKey& key) {
  config::ObjectMeta meta = object.meta();
  meta.resource_version = StrCat(key.mod_revision);
  meta.generation = key.version;
  config::ContentHash hash;
  hash.Add(object.content_hash()).Add(meta);
  const auto status =
      object.status() == nullptr ? nullptr : std::make_shared<const config::ObjectStatus>(*object.status());
  return std::make_shared<const config::ConfigObject>(object.kind(), std::move(meta), object.origin(),
                                                      object.SharedSpec<void>(), hash.value(), status);
}

}  // namespace

EtcdFollower::EtcdFollower(EtcdOptions options)
    : AskingFollower({options.url.Name(), "etcd", "the keys"},
                     {options.first_backoff, options.most_backoff, options.seed}),
      options_(std::move(options)),
      origin_(OriginOf(options_.url)),
      client_(options_) {}

absl::Status EtcdFollower::Follow() {
  absl::Status status = revision_ == 0 ? List() : absl::OkStatus();
  if (status.ok()) status = Watch();
  if (status.code() != absl::StatusCode::kOutOfRange) return status;
  revision_ = 0;
  if (pause_.failures() > 0) return status;
  pause_.Next();
  return absl::OkStatus();
}

absl::Status EtcdFollower::List() {
  absl::StatusOr<EtcdRange> range = client_.ReadAll(options_.Prefix());
  if (!range.ok()) return range.status();
  revision_ = range->revision;
  const bool handed = thread_.HandOver([this, &range] { TakeList(*range); });
  return handed ? absl::OkStatus() : absl::CancelledError("stopped");
}

absl::Status EtcdFollower::Watch() {
  const std::string prefix = options_.Prefix();
  return client_.Watch({prefix, EndOfPrefix(prefix), revision_ + 1}, [&](const EtcdNews& news) {
    pause_.Reset();
    if (!thread_.HandOver([this, &news] { TakeNews(news); })) return false;
    // Of a watch that catches up, the header is ahead of the events. A beginning says nothing of either.
    for (const EtcdNews::Event& event : news.events) revision_ = std::max(revision_, event.key.mod_revision);
    if (news.events.empty() && !news.created) revision_ = std::max(revision_, news.revision);
    return true;
  });
}

void EtcdFollower::TakeList(const EtcdRange& range) {
  std::set<std::string> names;
  for (const EtcdKey& key : range.keys) names.insert(key.key);
  for (const EtcdKey& key : range.keys) Put(key);
  view_->RetainOnly([&names](const std::string& name) { return names.contains(name); });
  ForgetTrouble();
  view_->NoteAnswer();
  view_->SetComplete();
}

void EtcdFollower::TakeNews(const EtcdNews& news) {
  ForgetTrouble();
  view_->NoteAnswer();
  for (const EtcdNews::Event& event : news.events) {
    if (event.deleted) {
      view_->Remove(event.key.key);
    } else {
      Put(event.key);
    }
  }
}

void EtcdFollower::Put(const EtcdKey& key) {
  const auto known = view_->parts().find(key.key);
  const PlatformPart* before = known == view_->parts().end() ? nullptr : known->second.get();
  PlatformPart part =
      ReadEtcdValue(origin_, options_.Prefix(), key.key, key.value, before, options_.deny_lost);
  std::erase_if(part.objects, [this](const config::ConfigPtr& object) {
    return !options_.platform.selector.Matches(object->meta().labels) &&
           !config::IsDenialOfLost(config::KeyOf(*object));
  });
  if (options_.writes && part.text == key.value) {
    for (config::ConfigPtr& object : part.objects) object = WithRevision(*object, key);
  }
  view_->Put(key.key, std::move(part));
}

}  // namespace fairlead::source
