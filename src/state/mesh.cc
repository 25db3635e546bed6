#include "state/mesh.h"

#include <utility>

#include "config/no_effect.h"

namespace fairlead::state {

using config::ConfigPtr;
using config::ObjectChange;

namespace {

// Whether the mesh acts on an object of this name: another cluster brings services and endpoints alone.
bool Counts(const config::ObjectKey& key) {
  return key.cluster.empty() || config::CountsFromEveryCluster(key.kind);
}

// Of each object that another cluster has in vain.
std::vector<config::Diagnostic> UnusedOfOtherClusters(const config::ObjectStore& store) {
  std::vector<config::Diagnostic> all;
  for (const Interned& cluster : store.OtherClusters()) {
    for (const config::KindInfo& kind : config::AllKinds()) {
      if (config::CountsFromEveryCluster(kind.kind)) continue;
      for (const auto& [name, object] : store.All(kind.kind, cluster)) {
        config::Diagnostic& diagnostic = all.emplace_back();
        diagnostic.severity = config::Severity::kWarning;
        diagnostic.code = config::kNoEffectCode;
        diagnostic.file = object->origin().file.str();
        diagnostic.line = object->origin().line;
        diagnostic.object = config::KeyOf(*object);
        diagnostic.message =
            "this has no effect: of other clusters than the control plane's own only services, endpoints, "
            "pods, nodes and namespaces are read";
      }
    }
  }
  return all;
}

}  // namespace

Mesh::Mesh(std::vector<std::unique_ptr<Derivation>> derivations)
    : derivations_(std::move(derivations)), derived_(derivations_.size()) {}

Mesh::Mesh(const Mesh& other)
    : written_(other.written_),
      derived_(other.derived_),
      amended_(other.amended_),
      objects_(other.objects_),
      settings_(other.settings_),
      key_sets_(other.key_sets_),
      trust_bundle_(other.trust_bundle_),
      registries_(other.registries_),
      builder_(other.builder_ == nullptr ? nullptr
                                         : std::make_unique<mesh::SnapshotBuilder>(*other.builder_)),
      snapshot_(other.snapshot_) {
  for (const auto& derivation : other.derivations_) derivations_.push_back(derivation->Clone());
}

Mesh::Change Mesh::Apply(std::span<const ObjectChange> changes, const model::SettingsPtr& settings) {
  Change result;
  result.objects = written_.Apply(changes);
  const bool new_settings = settings != nullptr && settings != settings_;
  const bool found_out =
      snapshot_ != nullptr && (snapshot_->key_sets != key_sets_ || snapshot_->trust_bundle != trust_bundle_);
  if (snapshot_ != nullptr && !new_settings && !found_out && result.objects.empty()) return result;
  if (new_settings) settings_ = settings;
  if (builder_ == nullptr) {
    builder_ = std::make_unique<mesh::SnapshotBuilder>(settings_);
  } else if (new_settings) {
    builder_->SetSettings(settings_);
  }
  builder_->SetKeySets(key_sets_);
  builder_->SetTrustBundle(trust_bundle_);
  if (snapshot_ == nullptr || !result.objects.empty()) {
    const mesh::WrittenObjects* before = snapshot_ == nullptr ? nullptr : snapshot_->written.get();
    builder_->SetWritten(std::make_shared<const mesh::WrittenObjects>(before, written_, result.objects));
  }
  const std::vector<ObjectChange> effective = Derive(result.objects, &result.statuses);
  snapshot_ = builder_->Build(objects_, registries_.Apply(objects_, effective, settings_));
  registries_.DropChanges();
  result.snapshot = snapshot_;
  return result;
}

// What changes in objects_ by changes of what is written: those and what the steps make of them.
std::vector<ObjectChange> Mesh::Derive(std::vector<ObjectChange> changed,
                                       std::vector<StatusWrite>* statuses) {
  if (amended_.size() > 0) {  // what has changed is to be looked at as it is written
    std::vector<ObjectChange> raw = changed;
    for (ObjectChange& change : raw) change.object = nullptr;
    amended_.Apply(raw);
  }
  std::vector<ObjectChange> all = Show(changed);
  std::vector<ObjectChange> seen = all;  // by the next step
  std::erase_if(seen, [](const ObjectChange& change) { return !change.key.cluster.empty(); });
  for (size_t i = 0; i < derivations_.size(); ++i) {
    Derivation::Outcome outcome = derivations_[i]->Apply(objects_, seen, settings_);
    statuses->insert(statuses->end(), std::make_move_iterator(outcome.statuses.begin()),
                     std::make_move_iterator(outcome.statuses.end()));
    std::vector<ObjectChange> made = Show(derived_[i].Apply(outcome.objects));
    for (ObjectChange& change : Show(amended_.Apply(outcome.amended))) made.push_back(std::move(change));
    seen.insert(seen.end(), made.begin(), made.end());
    all.insert(all.end(), made.begin(), made.end());
  }
  return all;
}

// Brings objects_ up to date with what is written and made now for these keys; what that changes.
std::vector<ObjectChange> Mesh::Show(std::span<const ObjectChange> changed) {
  if (derivations_.empty()) {
    objects_ = written_;
    std::vector<ObjectChange> counting(changed.begin(), changed.end());
    std::erase_if(counting, [](const ObjectChange& change) { return !Counts(change.key); });
    return counting;
  }
  std::vector<ObjectChange> now;
  now.reserve(changed.size());
  for (const ObjectChange& change : changed) {
    const config::ObjectKey& key = change.key;
    if (!Counts(key)) continue;
    ConfigPtr object = written_.Find(key);
    if (ConfigPtr amended = object == nullptr ? nullptr : amended_.Find(key)) object = std::move(amended);
    for (auto step = derived_.rbegin(); object == nullptr && step != derived_.rend(); ++step)
      object = step->Find(key);
    now.push_back({key, std::move(object)});
  }
  return objects_.Apply(now);
}

std::vector<config::Diagnostic> Mesh::Diagnostics() const {
  std::vector<config::Diagnostic> all;
  const auto add = [&all](const std::vector<config::Diagnostic>& some) {
    all.insert(all.end(), some.begin(), some.end());
  };
  for (const auto& derivation : derivations_) add(derivation->Diagnostics());
  add(registries_.output().diagnostics);
  if (builder_ != nullptr) add(builder_->diagnostics());
  add(UnusedOfOtherClusters(written_));
  return all;
}

}  // namespace fairlead::state
