#include "registration/amended_entries.h"

#include <algorithm>
#include <utility>

#include "config/content_hash.h"
#include "istio/networking/v1alpha3/workload_entry.pb.h"

namespace fairlead::registration {
namespace {

using config::ConfigPtr;
using config::Kind;

EntryName NameOf(const config::ObjectKey& key) { return {key.ns.str(), key.name.str()}; }

bool IsOwnEntry(const config::ObjectKey& key) {
  return key.kind == Kind::kWorkloadEntry && key.cluster.empty();
}

}  // namespace

Entry EntryOf(const config::ConfigObject& object) {
  Entry entry;
  entry.annotations = object.meta().annotations;
  entry.service_account = object.Spec<istio::networking::v1alpha3::WorkloadEntry>().service_account();
  entry.version = object.meta().resource_version;
  if (object.status() == nullptr) return entry;
  for (const auto& condition : object.status()->conditions)
    entry.conditions.push_back({condition.type, condition.status, "", "", ""});
  return entry;
}

std::shared_ptr<const config::ObjectStatus> StatusOf(const std::vector<Condition>& conditions) {
  if (conditions.empty()) return nullptr;
  config::ObjectStatus status;
  for (const Condition& condition : conditions)
    status.conditions.push_back({condition.type, condition.status});
  return std::make_shared<const config::ObjectStatus>(std::move(status));
}

class AmendedEntries::TapSink : public source::Sink {
 public:
  TapSink(AmendedEntries* all, Source* source) : all_(all), source_(source) {}

  // Under the lock, so that an amendment is never overtaken by what it amends.
  void OnChanges(std::vector<config::ObjectChange> changes) override {
    std::lock_guard lock(all_->mutex_);
    for (config::ObjectChange& change : changes) {
      if (!IsOwnEntry(change.key)) continue;
      all_->Note(source_, change.key, change.object);
      if (change.object != nullptr) change.object = all_->Amended(change.object);
    }
    source_->next->OnChanges(std::move(changes));
  }
  void Replace(Kind kind, std::vector<ConfigPtr> objects) override {
    std::lock_guard lock(all_->mutex_);
    if (kind == Kind::kWorkloadEntry) {
      source_->entries.clear();
      for (ConfigPtr& object : objects) {
        if (!IsOwnEntry(config::KeyOf(*object))) continue;
        all_->Note(source_, config::KeyOf(*object), object);
        object = all_->Amended(object);
      }
      std::erase_if(all_->amendments_,
                    [this](const auto& one) { return all_->Holder(one.first) == nullptr; });
    }
    source_->next->Replace(kind, std::move(objects));
  }
  void OnDiagnostics(std::vector<config::Diagnostic> diagnostics) override {
    source_->next->OnDiagnostics(std::move(diagnostics));
  }
  void Synced(Kind kind) override { source_->next->Synced(kind); }
  void OnSynced() override { source_->next->OnSynced(); }

 private:
  AmendedEntries* const all_;
  Source* const source_;
};

std::unique_ptr<source::Sink> AmendedEntries::Tap(source::Sink* next) {
  std::lock_guard lock(mutex_);
  Source* const source = sources_.emplace_back(std::make_unique<Source>(Source{next, {}})).get();
  return std::make_unique<TapSink>(this, source);
}

// As in the mesh, the first source with one of the name counts.
AmendedEntries::Source* AmendedEntries::Holder(const EntryName& name) {
  const auto it = std::find_if(sources_.begin(), sources_.end(),
                               [&name](const auto& source) { return source->entries.contains(name); });
  return it == sources_.end() ? nullptr : it->get();
}

void AmendedEntries::Note(Source* source, const config::ObjectKey& key, const ConfigPtr& object) {
  const EntryName name = NameOf(key);
  if (object != nullptr) {
    source->entries.insert_or_assign(name, object);
    return;
  }
  source->entries.erase(name);
  if (Holder(name) == nullptr) amendments_.erase(name);
}

ConfigPtr AmendedEntries::Amended(const ConfigPtr& object) const {
  const auto it = amendments_.find(NameOf(config::KeyOf(*object)));
  if (it == amendments_.end()) return object;
  const Amendment& amendment = it->second;
  config::ObjectMeta meta = object->meta();
  for (const auto& [key, value] : amendment.set) meta.annotations.insert_or_assign(key, value);
  for (const std::string& key : amendment.removed) meta.annotations.erase(key);
  std::shared_ptr<const config::ObjectStatus> status;
  if (amendment.conditions) {
    status = StatusOf(*amendment.conditions);
  } else if (object->status() != nullptr) {
    status = std::make_shared<const config::ObjectStatus>(*object->status());
  }
  config::ContentHash hash;
  hash.Add(object->content_hash()).Add(meta);
  if (status != nullptr) hash.Add(*status);
  return std::make_shared<const config::ConfigObject>(object->kind(), std::move(meta), object->origin(),
                                                      object->SharedSpec<void>(), hash.value(),
                                                      std::move(status));
}

std::optional<Entry> AmendedEntries::Find(const EntryName& name) const {
  std::lock_guard lock(mutex_);
  const auto it = std::find_if(sources_.begin(), sources_.end(),
                               [&name](const auto& source) { return source->entries.contains(name); });
  if (it == sources_.end()) return std::nullopt;
  Entry entry = EntryOf(*Amended((*it)->entries.at(name)));
  const auto amendment = amendments_.find(name);
  if (amendment != amendments_.end() && amendment->second.conditions)
    entry.conditions = *amendment->second.conditions;
  return entry;
}

absl::Status AmendedEntries::Amend(const EntryName& name, const Step& step) {
  std::lock_guard lock(mutex_);
  Source* const holder = Holder(name);
  if (holder == nullptr) return absl::NotFoundError("no source has the WorkloadEntry any more");
  Amendment& amendment = amendments_[name];
  for (const auto& [key, value] : step.set) {
    amendment.set.insert_or_assign(key, value);
    std::erase(amendment.removed, key);
  }
  for (const std::string& key : step.removed) {
    amendment.set.erase(key);
    if (std::find(amendment.removed.begin(), amendment.removed.end(), key) == amendment.removed.end())
      amendment.removed.push_back(key);
  }
  if (step.kind == Step::Kind::kSetConditions) amendment.conditions = step.conditions;
  ConfigPtr amended = Amended(holder->entries.at(name));
  const config::ObjectKey key = config::KeyOf(*amended);
  holder->next->OnChanges({{key, std::move(amended)}});
  return absl::OkStatus();
}

}  // namespace fairlead::registration
