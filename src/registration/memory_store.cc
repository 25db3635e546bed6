#include "registration/memory_store.h"

#include <pthread.h>

#include <utility>

#include "base/hash.h"
#include "base/strings.h"
#include "base/thread.h"
#include "config/content_hash.h"
#include "istio/networking/v1alpha3/workload_entry.pb.h"

namespace fairlead::registration {
namespace {

using config::Kind;

constexpr char kApiVersion[] = "networking.istio.io/v1";

}  // namespace

// Says nothing but what the store tells.
class MemoryStore::RegisteredSource : public source::Source {
 public:
  explicit RegisteredSource(MemoryStore* store) : store_(store) {}
  ~RegisteredSource() override { Stop(); }
  absl::Status Start(source::Sink* sink) override {
    store_->SetSink(sink);
    sink->OnSynced();
    return absl::OkStatus();
  }
  void Stop() override {
    if (store_ != nullptr) std::exchange(store_, nullptr)->SetSink(nullptr);
  }
  std::string Name() const override { return "registration"; }

 private:
  MemoryStore* store_;
};

MemoryStore::MemoryStore(size_t most_entries)
    : most_entries_(most_entries), thread_(RequireThread([this] {
        pthread_setname_np(pthread_self(), "registration");
        while (loop_.Turn()) {
        }
      })) {}

void MemoryStore::Stop() {
  loop_.Stop();
  if (thread_.joinable()) thread_.join();
}

std::unique_ptr<source::Source> MemoryStore::MakeSource() { return std::make_unique<RegisteredSource>(this); }

void MemoryStore::SetSink(source::Sink* sink) {
  std::lock_guard lock(mutex_);
  sink_ = sink;
}

void MemoryStore::Run(Work work, Clock::time_point at) {
  if (at == Clock::time_point{}) return loop_.Post(std::move(work));
  loop_.Post([this, at, work = std::move(work)]() mutable { loop_.At(at, std::move(work)); });
}

void MemoryStore::Read(const EntryName& name, OnRead done) {
  const auto it = registered_.find(name);
  if (it == registered_.end()) return done(amended_.Find(name));
  const NewEntry& made = it->second.made;
  done(Entry{made.annotations, made.spec->service_account(), it->second.conditions});
}

// Nothing but this thread writes: what was read is so still, unless a source has let go of it.
void MemoryStore::Write(const EntryName& name, const Step& step, const Entry* /*read*/, OnWritten done) {
  const bool registered = registered_.contains(name);
  if (!registered && step.kind != Step::Kind::kCreate) return done(amended_.Amend(name, step));
  absl::Status status = Change(name, step);
  if (status.ok()) Tell(name);
  done(std::move(status));
}

absl::Status MemoryStore::Change(const EntryName& name, const Step& step) {
  if (step.kind == Step::Kind::kCreate) {
    if (registered_.size() >= most_entries_)
      return absl::ResourceExhaustedError(StrCat(most_entries_, " WorkloadEntries are registered already"));
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    registered_.insert_or_assign(
        name, Registered{*step.made, {}, std::chrono::duration_cast<std::chrono::seconds>(now).count()});
    return absl::OkStatus();
  }
  if (step.kind == Step::Kind::kDelete) {
    registered_.erase(name);
    return absl::OkStatus();
  }
  Registered& entry = registered_.at(name);
  if (step.kind == Step::Kind::kSetConditions) {
    entry.conditions = step.conditions;
    return absl::OkStatus();
  }
  for (const auto& [key, value] : step.set) entry.made.annotations.insert_or_assign(key, value);
  for (const std::string& key : step.removed) entry.made.annotations.erase(key);
  return absl::OkStatus();
}

// The mesh has the entry as it is now.
void MemoryStore::Tell(const EntryName& name) {
  const config::ObjectKey key{Kind::kWorkloadEntry, Interned(name.ns), Interned(name.name)};
  config::ObjectChange change{key, nullptr};
  if (const auto it = registered_.find(name); it != registered_.end()) {
    const Registered& entry = it->second;
    config::ObjectMeta meta;
    meta.name = key.name;
    meta.ns = key.ns;
    meta.labels = entry.made.labels;
    meta.annotations = entry.made.annotations;
    meta.creation_time = entry.creation_time;
    meta.owners.push_back({kApiVersion, "WorkloadGroup", entry.made.group->name().str(), true});
    const auto status = StatusOf(entry.conditions);
    config::ContentHash hash;
    hash.Add(meta).Add(StableHash(entry.made.spec->SerializeAsString()));
    if (status != nullptr) hash.Add(*status);
    change.object = std::make_shared<const config::ConfigObject>(Kind::kWorkloadEntry, std::move(meta),
                                                                 config::Origin{{}, 0, Interned(kApiVersion)},
                                                                 entry.made.spec, hash.value(), status);
  }
  std::lock_guard lock(mutex_);
  if (sink_ != nullptr) sink_->OnChanges({std::move(change)});
}

}  // namespace fairlead::registration
