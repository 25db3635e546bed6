#include "mesh/builder.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <set>
#include <tuple>
#include <utility>

#include "base/unique_id.h"
#include "mesh/index/destination_rule_index.h"
#include "mesh/index/object_index_builder.h"
#include "mesh/index/policy_index.h"
#include "mesh/index/registry_index_builders.h"
#include "mesh/index/service_index_builder.h"
#include "mesh/index/virtual_service_index_builder.h"
#include "mesh/view/gateway_scopes.h"
#include "mesh/view/sidecar_scopes.h"

namespace fairlead::mesh {

using config::Diagnostic;
using config::Kind;

struct SnapshotBuilder::State {
  // An index of the objects, as a row: it is made again where objects of its kinds or the settings changed.
  struct IndexRow {
    std::vector<Kind> kinds;
    // Makes the index anew in `next`, and gives the problems of its objects.
    std::vector<Diagnostic> (State::*make)(const config::ObjectStore& now, MeshSnapshot* next);
  };
  static const std::array<IndexRow, 6>& IndexRows();

  model::SettingsPtr settings;
  model::KeySetsPtr key_sets;
  model::TrustBundlePtr trust_bundle;
  model::SecretReadersPtr secret_readers;
  std::shared_ptr<const WrittenObjects> written;
  config::ObjectStore before;  // the objects of `snapshot`
  SnapshotPtr snapshot;        // the last one; null at first

  VirtualServiceIndexBuilder virtual_service_builder;
  DestinationRuleIndexBuilder destination_rule_builder;
  std::array<std::vector<Diagnostic>, 6> problems_of_rows;
  std::vector<Diagnostic> problems;
  uint64_t problems_revision = 0;

  bool Changed(const config::ObjectStore& now, Kind kind) const {
    return now.Revision(kind) != before.Revision(kind);
  }

  void BuildRegistryIndexes(const model::RegistryOutput& registry, bool new_settings, MeshSnapshot* next);
  void BuildObjectIndexes(const config::ObjectStore& now, bool new_settings, MeshSnapshot* next);
  void CollectProblems();

  std::vector<Diagnostic> MakeVirtualServices(const config::ObjectStore& now, MeshSnapshot* next);
  std::vector<Diagnostic> MakeDestinationRules(const config::ObjectStore& now, MeshSnapshot* next);
  std::vector<Diagnostic> MakePolicies(const config::ObjectStore& now, MeshSnapshot* next);
  std::vector<Diagnostic> MakePeerAuthentications(const config::ObjectStore& now, MeshSnapshot* next);
  std::vector<Diagnostic> MakeObjects(const config::ObjectStore& now, MeshSnapshot* next);
  std::vector<Diagnostic> CheckSidecars(const config::ObjectStore& now, MeshSnapshot* next);
};

// In this order: a later one may read what an earlier one made.
const std::array<SnapshotBuilder::State::IndexRow, 6>& SnapshotBuilder::State::IndexRows() {
  static const auto* const rows = new std::array<IndexRow, 6>{{
      {{Kind::kVirtualService}, &State::MakeVirtualServices},
      {{Kind::kDestinationRule}, &State::MakeDestinationRules},
      {PolicyIndexBuilder::Kinds(), &State::MakePolicies},
      {{Kind::kPeerAuthentication}, &State::MakePeerAuthentications},
      {ObjectIndexBuilder::Kinds(), &State::MakeObjects},
      {{Kind::kSidecar}, &State::CheckSidecars},
  }};
  return *rows;
}

namespace {

// Rises by one with every snapshot of the process, whichever mesh it is of.
uint64_t NextRevision() {
  static std::atomic<uint64_t> last{0};
  return last.fetch_add(1) + 1;
}

}  // namespace

SnapshotBuilder::SnapshotBuilder(model::SettingsPtr settings) : state_(std::make_unique<State>()) {
  state_->settings = std::move(settings);
}

SnapshotBuilder::SnapshotBuilder(const SnapshotBuilder& other)
    : state_(std::make_unique<State>(*other.state_)) {}

SnapshotBuilder::~SnapshotBuilder() = default;

const std::vector<Diagnostic>& SnapshotBuilder::diagnostics() const { return state_->problems; }

uint64_t SnapshotBuilder::diagnostics_revision() const { return state_->problems_revision; }

void SnapshotBuilder::SetSettings(model::SettingsPtr settings) { state_->settings = std::move(settings); }

void SnapshotBuilder::SetKeySets(model::KeySetsPtr key_sets) { state_->key_sets = std::move(key_sets); }

void SnapshotBuilder::SetTrustBundle(model::TrustBundlePtr trust_bundle) {
  state_->trust_bundle = std::move(trust_bundle);
}

void SnapshotBuilder::SetSecretReaders(model::SecretReadersPtr secret_readers) {
  state_->secret_readers = std::move(secret_readers);
}

void SnapshotBuilder::SetWritten(std::shared_ptr<const WrittenObjects> written) {
  state_->written = std::move(written);
}

SnapshotPtr SnapshotBuilder::Build(const config::ObjectStore& store, const model::RegistryOutput& registry) {
  State& state = *state_;
  const bool new_settings = state.snapshot == nullptr || state.settings != state.snapshot->settings;
  auto next = state.snapshot == nullptr ? std::make_shared<MeshSnapshot>()
                                        : std::make_shared<MeshSnapshot>(*state.snapshot);
  next->id = NextUniqueId();
  next->revision = NextRevision();
  next->settings = state.settings;
  next->key_sets = state.key_sets;
  next->trust_bundle = state.trust_bundle;
  next->secret_readers = state.secret_readers;
  next->written = state.written;
  state.BuildRegistryIndexes(registry, new_settings, next.get());
  state.BuildObjectIndexes(store, new_settings, next.get());
  if (next->scopes == nullptr) next->scopes = std::make_shared<SidecarScopes>();
  if (next->gateway_scopes == nullptr) next->gateway_scopes = std::make_shared<GatewayScopes>();
  state.before = store;
  state.snapshot = next;
  return next;
}

void SnapshotBuilder::State::BuildRegistryIndexes(const model::RegistryOutput& registry, bool new_settings,
                                                  MeshSnapshot* next) {
  const model::RegistryChanges& changes = registry.changes;
  const bool first = next->services == nullptr;
  if (first) {
    next->services = ServiceIndexBuilder::Build(registry.services);
  } else if (!changes.services.empty()) {
    next->services = ServiceIndexBuilder::Update(*next->services, changes.services);
  }
  if (first) {
    next->endpoints = EndpointIndexBuilder::Build(registry.endpoints);
  } else if (!changes.endpoints.empty()) {
    next->endpoints = EndpointIndexBuilder::Update(*next->endpoints, registry.endpoints, changes.endpoints);
  }
  if (first || changes.external_targets) {
    next->external_targets = ExternalTargetIndexBuilder::Build(registry.external_targets);
  }
  if (first) {
    next->workloads = WorkloadIndexBuilder::Build(registry.workloads);
  } else if (!changes.workloads.empty()) {
    next->workloads = WorkloadIndexBuilder::Update(*next->workloads, changes.workloads);
  }
  if (first || changes.network_gateways || new_settings) {
    next->networks = NetworkIndexBuilder::Build(registry.network_gateways, *settings, next->networks);
  }
}

void SnapshotBuilder::State::BuildObjectIndexes(const config::ObjectStore& now, bool new_settings,
                                                MeshSnapshot* next) {
  bool new_problems = false;
  for (size_t i = 0; i < IndexRows().size(); ++i) {
    const IndexRow& row = IndexRows()[i];
    const bool changed =
        std::any_of(row.kinds.begin(), row.kinds.end(), [&](Kind kind) { return Changed(now, kind); });
    if (!changed && !new_settings) continue;
    std::vector<Diagnostic> found = (this->*row.make)(now, next);
    new_problems |= !found.empty() || !problems_of_rows[i].empty();
    problems_of_rows[i] = std::move(found);
  }
  if (new_problems) CollectProblems();
}

std::vector<Diagnostic> SnapshotBuilder::State::MakeVirtualServices(const config::ObjectStore& now,
                                                                    MeshSnapshot* next) {
  std::vector<Diagnostic> found;
  next->virtual_services = virtual_service_builder.Build(now, before, *settings, &found);
  return found;
}

std::vector<Diagnostic> SnapshotBuilder::State::MakeDestinationRules(const config::ObjectStore& now,
                                                                     MeshSnapshot* next) {
  std::vector<Diagnostic> found;
  next->destination_rules = destination_rule_builder.Build(now, before, *settings, &found);
  return found;
}

std::vector<Diagnostic> SnapshotBuilder::State::MakePolicies(const config::ObjectStore& now,
                                                             MeshSnapshot* next) {
  std::vector<Kind> changed;
  for (const Kind kind : PolicyIndexBuilder::Kinds()) {
    if (Changed(now, kind)) changed.push_back(kind);
  }
  next->policies = PolicyIndexBuilder::Build(now, settings->root_namespace, changed, next->policies);
  return {};
}

std::vector<Diagnostic> SnapshotBuilder::State::MakePeerAuthentications(const config::ObjectStore& /*now*/,
                                                                        MeshSnapshot* next) {
  std::vector<Diagnostic> found;
  next->peer_authentications =
      PeerAuthenticationIndexBuilder::Build(*next->policies, next->peer_authentications, &found);
  return found;
}

std::vector<Diagnostic> SnapshotBuilder::State::MakeObjects(const config::ObjectStore& now,
                                                            MeshSnapshot* next) {
  next->objects = ObjectIndexBuilder::Build(now, before, next->objects);
  return {};
}

std::vector<Diagnostic> SnapshotBuilder::State::CheckSidecars(const config::ObjectStore& /*now*/,
                                                              MeshSnapshot* next) {
  return FindShadowedSidecars(next->objects->Of(Kind::kSidecar));
}

void SnapshotBuilder::State::CollectProblems() {
  ++problems_revision;
  problems.clear();
  for (const std::vector<Diagnostic>& some : problems_of_rows)
    problems.insert(problems.end(), some.begin(), some.end());
  std::sort(problems.begin(), problems.end(), [](const Diagnostic& a, const Diagnostic& b) {
    return std::tie(a.object, a.path, a.message) < std::tie(b.object, b.path, b.message);
  });
  const auto same = [](const Diagnostic& a, const Diagnostic& b) {
    return a.object == b.object && a.path == b.path && a.message == b.message;
  };
  problems.erase(std::unique(problems.begin(), problems.end(), same), problems.end());
}

}  // namespace fairlead::mesh
