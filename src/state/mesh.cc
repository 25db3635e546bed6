#include "state/mesh.h"

#include <utility>

#include "config/read/no_effect.h"

namespace fairlead::state {

using config::ConfigPtr;
using config::ObjectChange;

namespace {

// Whether the mesh acts on an object of this name: another cluster brings services, endpoints,
// WorkloadEntries and the Secrets of the gateways there.
bool Counts(const config::ObjectKey& key) {
  return key.cluster.empty() || config::CountsFromEveryCluster(key.kind) || key.kind == config::Kind::kSecret;
}

// Of an object that another cluster has in vain.
config::Diagnostic UnusedOfOtherCluster(const config::ConfigObject& object) {
  config::Diagnostic diagnostic;
  diagnostic.severity = config::Severity::kWarning;
  diagnostic.code = config::kNoEffectCode;
  diagnostic.file = object.origin().file.str();
  diagnostic.line = object.origin().line;
  diagnostic.object = config::KeyOf(object);
  diagnostic.message =
      "this has no effect: of other clusters than the control plane's own only services with their exports "
      "and imports, endpoints, pods, nodes, namespaces, workload entries and secrets are read";
  return diagnostic;
}

}  // namespace

Mesh::Mesh(std::vector<std::unique_ptr<Derivation>> derivations)
    : derivations_(std::move(derivations)),
      derived_(derivations_.size()),
      diagnostics_(derivations_.size() + kAccounts, std::make_shared<std::vector<config::Diagnostic>>()) {}

Mesh::Mesh(const Mesh& other)
    : now_(other.now_),
      derived_(other.derived_),
      amended_(other.amended_),
      facts_(other.facts_),
      registries_(other.registries_),
      builder_(other.builder_ == nullptr ? nullptr
                                         : std::make_unique<mesh::SnapshotBuilder>(*other.builder_)),
      snapshot_(other.snapshot_),
      unused_(other.unused_),
      diagnostics_(other.diagnostics_) {
  for (const auto& derivation : other.derivations_) derivations_.push_back(derivation->Clone());
}

Mesh::Change Mesh::Apply(std::span<const ObjectChange> changes, const model::Facts& facts) {
  Change result;
  bool moved = false;
  result.objects = now_.Write(changes, &moved);
  Stale stale(diagnostics_.size(), moved);
  const auto begin = stale.begin() + static_cast<ptrdiff_t>(derivations_.size());
  if (TakeFacts(facts) || snapshot_ == nullptr || !result.objects.empty()) {
    if (snapshot_ == nullptr || !result.objects.empty()) {
      const mesh::WrittenObjects* before = snapshot_ == nullptr ? nullptr : snapshot_->written.get();
      builder_->SetWritten(std::make_shared<const mesh::WrittenObjects>(before, written(), result.objects));
    }
    if (NoteUnused(result.objects)) begin[kOtherClusters] = true;
    const uint64_t problems = builder_->diagnostics_revision();
    const std::vector<ObjectChange> effective = Derive(result.objects, &stale);
    const model::RegistryOutput& output = registries_.Apply(objects(), effective, settings());
    if (output.changes.diagnostics) begin[kRegistries] = true;
    snapshot_ = builder_->Build(objects(), output);
    if (builder_->diagnostics_revision() != problems) begin[kIndexes] = true;
    registries_.DropChanges();
    result.snapshot = snapshot_;
  }
  for (size_t account = 0; account < stale.size(); ++account) {
    if (!stale[account]) continue;
    std::vector<config::Diagnostic> all = DiagnosticsOf(account);
    for (config::Diagnostic& one : all) one = now_.Placed(std::move(one));
    diagnostics_[account] = std::make_shared<const std::vector<config::Diagnostic>>(std::move(all));
  }
  return result;
}

// Whether any is another now.
bool Mesh::TakeFacts(const model::Facts& facts) {
  const model::Facts before = facts_;
  facts_.Update(facts);
  if (builder_ == nullptr) {
    builder_ = std::make_unique<mesh::SnapshotBuilder>(settings());
  } else if (before == facts_) {
    return false;
  }
  builder_->SetSettings(settings());
  builder_->SetKeySets(facts_.Get<model::KeySets>());
  builder_->SetTrustBundle(facts_.Get<model::TrustBundle>());
  builder_->SetSecretReaders(facts_.Get<model::SecretReaders>());
  return true;
}

// Keeps what other clusters have in vain; whether that is something else now.
bool Mesh::NoteUnused(std::span<const ObjectChange> changed) {
  bool any = false;
  for (const ObjectChange& change : changed) {
    if (Counts(change.key)) continue;
    any = true;
    if (change.object == nullptr) {
      unused_.Erase(change.key);
    } else {
      unused_.Set(change.key, change.object);
    }
  }
  return any;
}

// What changes in objects() by changes of what is written: those and what the steps make of them.
std::vector<ObjectChange> Mesh::Derive(std::vector<ObjectChange> changed, Stale* stale) {
  if (amended_.size() > 0) {  // what has changed is to be looked at as it is written
    std::vector<ObjectChange> raw = changed;
    for (ObjectChange& change : raw) change.object = nullptr;
    amended_.Apply(raw);
  }
  std::vector<ObjectChange> all = Show(changed);
  std::vector<ObjectChange> seen = all;  // by the next step
  std::erase_if(seen, [](const ObjectChange& change) { return !change.key.cluster.empty(); });
  for (size_t i = 0; i < derivations_.size(); ++i) {
    Derivation::Outcome outcome = derivations_[i]->Apply(objects(), seen, settings());
    if (outcome.diagnostics) (*stale)[i] = true;
    std::vector<ObjectChange> made = Show(derived_[i].Apply(outcome.objects));
    for (ObjectChange& change : Show(amended_.Apply(outcome.amended))) made.push_back(std::move(change));
    seen.insert(seen.end(), made.begin(), made.end());
    all.insert(all.end(), made.begin(), made.end());
  }
  return all;
}

// Brings objects() up to date with what is written and made now for these keys; what that changes.
std::vector<ObjectChange> Mesh::Show(std::span<const ObjectChange> changed) {
  if (derivations_.empty()) {
    now_.all_ = now_.written_;
    std::vector<ObjectChange> counting(changed.begin(), changed.end());
    std::erase_if(counting, [](const ObjectChange& change) { return !Counts(change.key); });
    return counting;
  }
  std::vector<ObjectChange> now;
  now.reserve(changed.size());
  for (const ObjectChange& change : changed) {
    const config::ObjectKey& key = change.key;
    if (!Counts(key)) continue;
    ConfigPtr object = written().Find(key);
    if (ConfigPtr amended = object == nullptr ? nullptr : amended_.Find(key)) object = std::move(amended);
    for (auto step = derived_.rbegin(); object == nullptr && step != derived_.rend(); ++step)
      object = step->Find(key);
    now.push_back({key, std::move(object)});
  }
  return now_.all_.Apply(now);
}

std::vector<config::Diagnostic> Mesh::DiagnosticsOf(size_t account) const {
  if (account < derivations_.size()) return derivations_[account]->Diagnostics();
  switch (static_cast<Account>(account - derivations_.size())) {
    case kRegistries:
      return registries_.output().diagnostics;
    case kIndexes:
      return builder_->diagnostics();
    default:
      break;
  }
  std::vector<config::Diagnostic> all;
  for (const auto& [key, object] : unused_) all.push_back(UnusedOfOtherCluster(*object));
  return all;
}

std::vector<config::Diagnostic> Mesh::Diagnostics() const {
  std::vector<config::Diagnostic> all;
  for (const config::DiagnosticList& some : diagnostics_) all.insert(all.end(), some->begin(), some->end());
  return all;
}

}  // namespace fairlead::state
