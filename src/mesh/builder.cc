#include "mesh/builder.h"

#include <algorithm>
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

// One step makes one index; it runs only if its inputs differ from those of the last time.
struct SnapshotBuilder::State {
  model::SettingsPtr settings;
  model::KeySetsPtr key_sets;
  model::TrustBundlePtr trust_bundle;
  std::shared_ptr<const WrittenObjects> written;
  config::ObjectStore store;  // as it was for `snapshot`
  SnapshotPtr snapshot;       // the last one; null at first

  VirtualServiceIndexBuilder virtual_service_builder;
  DestinationRuleIndexBuilder destination_rule_builder;
  std::vector<Diagnostic> virtual_service_problems, destination_rule_problems, policy_problems,
      sidecar_problems;
  std::vector<Diagnostic> problems;
  uint64_t problems_revision = 0;

  bool Changed(const config::ObjectStore& from, Kind kind) const {
    return from.Revision(kind) != store.Revision(kind);
  }

  void BuildRegistryIndexes(const model::RegistryOutput& registry, bool new_settings, MeshSnapshot* next);
  void BuildObjectIndexes(const config::ObjectStore& from, bool new_settings, MeshSnapshot* next);
  bool BuildPolicies(const config::ObjectStore& from, bool new_settings, MeshSnapshot* next);
  void CollectProblems();
};

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
  next->written = state.written;
  state.BuildRegistryIndexes(registry, new_settings, next.get());
  state.BuildObjectIndexes(store, new_settings, next.get());
  if (next->scopes == nullptr) next->scopes = std::make_shared<SidecarScopes>();
  if (next->gateway_scopes == nullptr) next->gateway_scopes = std::make_shared<GatewayScopes>();
  state.store = store;
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

void SnapshotBuilder::State::BuildObjectIndexes(const config::ObjectStore& from, bool new_settings,
                                                MeshSnapshot* next) {
  bool checked = false;
  if (Changed(from, Kind::kVirtualService) || new_settings) {
    virtual_service_problems.clear();
    next->virtual_services = virtual_service_builder.Build(from, store, *settings, &virtual_service_problems);
    checked = true;
  }
  if (Changed(from, Kind::kDestinationRule) || new_settings) {
    destination_rule_problems.clear();
    next->destination_rules =
        destination_rule_builder.Build(from, store, *settings, &destination_rule_problems);
    checked = true;
  }
  checked |= BuildPolicies(from, new_settings, next);
  next->objects = ObjectIndexBuilder::Build(from, store, next->objects);
  if (Changed(from, Kind::kSidecar) || new_settings) {
    sidecar_problems = FindShadowedSidecars(next->objects->Of(Kind::kSidecar));
    checked = true;
  }
  if (checked) CollectProblems();
}

// True: the problems may be others.
bool SnapshotBuilder::State::BuildPolicies(const config::ObjectStore& from, bool new_settings,
                                           MeshSnapshot* next) {
  std::vector<Kind> changed;
  for (const Kind kind : PolicyIndexBuilder::Kinds()) {
    if (Changed(from, kind)) changed.push_back(kind);
  }
  const bool peers = Changed(from, Kind::kPeerAuthentication);
  if (!changed.empty() || new_settings) {
    next->policies = PolicyIndexBuilder::Build(from, settings->root_namespace, changed, next->policies);
  }
  if (!peers && !new_settings) return false;
  policy_problems.clear();
  next->peer_authentications =
      PeerAuthenticationIndexBuilder::Build(*next->policies, next->peer_authentications, &policy_problems);
  return true;
}

void SnapshotBuilder::State::CollectProblems() {
  ++problems_revision;
  problems.clear();
  for (const auto* some :
       {&virtual_service_problems, &destination_rule_problems, &policy_problems, &sidecar_problems}) {
    problems.insert(problems.end(), some->begin(), some->end());
  }
  std::sort(problems.begin(), problems.end(), [](const Diagnostic& a, const Diagnostic& b) {
    return std::tie(a.object, a.path, a.message) < std::tie(b.object, b.path, b.message);
  });
  const auto same = [](const Diagnostic& a, const Diagnostic& b) {
    return a.object == b.object && a.path == b.path && a.message == b.message;
  };
  problems.erase(std::unique(problems.begin(), problems.end(), same), problems.end());
}

}  // namespace fairlead::mesh
