#include "mesh/builder.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "istio/mesh/v1alpha1/config.pb.h"
#include "mesh/destination_rule_index.h"
#include "mesh/merged_gateway.h"
#include "mesh/object_index.h"
#include "mesh/policy_index.h"
#include "mesh/registry_indexes.h"
#include "mesh/scope_cache.h"
#include "mesh/service_index.h"
#include "mesh/virtual_service_index.h"

namespace fairlead::mesh {

using config::Diagnostic;
using config::Kind;

// One step makes one index; it runs only if its inputs differ from those of the last time.
struct SnapshotBuilder::State {
  model::SettingsPtr settings;
  model::SettingsPtr built_settings;       // of `snapshot`
  std::shared_ptr<MeshSnapshot> snapshot;  // the last one; null at first
  uint64_t revision = 0;

  const config::ObjectStore* store = nullptr;  // whose revisions these are
  std::array<std::optional<uint64_t>, config::KindCount()> revisions;

  bool shadow = false;
  ServiceIndexBuilder service_builder;
  VirtualServiceIndexBuilder virtual_service_builder;
  DestinationRuleIndexBuilder destination_rule_builder;
  std::vector<Diagnostic> virtual_service_problems, destination_rule_problems, policy_problems,
      sidecar_problems;
  std::vector<Diagnostic> problems;

  // Whether the kind changed since it was asked last.
  bool TakeChange(const config::ObjectStore& from, Kind kind) {
    std::optional<uint64_t>& seen = revisions[static_cast<size_t>(kind)];
    const bool changed = seen != from.Revision(kind);
    seen = from.Revision(kind);
    return changed;
  }

  void BuildRegistryIndexes(const model::RegistryOutput& registry, bool new_settings, MeshSnapshot* next);
  void BuildObjectIndexes(const config::ObjectStore& from, bool new_settings, MeshSnapshot* next);
  bool BuildPolicies(const config::ObjectStore& from, bool new_settings, std::vector<Kind> changed,
                     MeshSnapshot* next);
  void NoteEndpointChanges(const model::RegistryChanges& changes, const EndpointIndex& before,
                           MeshSnapshot* next) const;
  void CollectProblems();
};

namespace {

using ShardEditor = decltype(MeshSnapshot::namespace_revisions)::Editor;

// What of an endpoint its service's clusters depend on, besides its identity.
using EndpointTraits = std::tuple<Interned, uint32_t, bool, std::string_view>;

std::set<EndpointTraits> TraitsOf(const model::ServiceEndpoints& endpoints) {
  std::set<EndpointTraits> traits;
  for (const model::EndpointShard& shard : endpoints.shards) {
    for (const model::Endpoint& endpoint : shard.endpoints) {
      traits.emplace(endpoint.port_name, endpoint.service_port, endpoint.workload->tls_mode == "disabled",
                     LabelOr(endpoint.workload->labels, "networking.istio.io/tunnel"));
    }
  }
  return traits;
}

bool SameTraits(const model::ServiceEndpointsPtr& a, const model::ServiceEndpointsPtr& b) {
  if (a == b) return true;
  if (a == nullptr || b == nullptr) return false;
  return a->service_accounts == b->service_accounts && TraitsOf(*a) == TraitsOf(*b);
}

bool SameTargetInputs(const MeshSnapshot& a, const MeshSnapshot& b) {
  return a.settings == b.settings && a.services == b.services && a.workloads == b.workloads &&
         a.external_targets == b.external_targets;
}

bool SameScopeInputs(const MeshSnapshot& a, const MeshSnapshot& b) {
  return a.settings == b.settings && a.services == b.services && a.virtual_services == b.virtual_services &&
         a.destination_rules == b.destination_rules;
}

}  // namespace

SnapshotBuilder::SnapshotBuilder(model::SettingsPtr settings, bool shadow)
    : state_(std::make_unique<State>()) {
  state_->shadow = shadow;
  state_->settings = std::move(settings);
}

SnapshotBuilder::~SnapshotBuilder() = default;

const std::vector<Diagnostic>& SnapshotBuilder::diagnostics() const { return state_->problems; }

void SnapshotBuilder::SetSettings(model::SettingsPtr settings) { state_->settings = std::move(settings); }

SnapshotPtr SnapshotBuilder::Build(const config::ObjectStore& store, const model::RegistryOutput& registry) {
  State& state = *state_;
  if (state.store != &store) state.revisions.fill(std::nullopt);
  state.store = &store;
  const bool new_settings = state.settings != state.built_settings;
  state.built_settings = state.settings;
  auto next = state.snapshot == nullptr ? std::make_shared<MeshSnapshot>()
                                        : std::make_shared<MeshSnapshot>(*state.snapshot);
  next->revision = ++state.revision;
  next->settings = state.settings;
  if (new_settings) next->revisions.settings = next->revision;
  state.BuildRegistryIndexes(registry, new_settings, next.get());
  state.BuildObjectIndexes(store, new_settings, next.get());
  const MeshSnapshot* last = state.snapshot.get();
  if (last == nullptr) {
    next->scopes = std::make_shared<MeshSnapshot::ScopeCache>(state.shadow);
    next->gateways = std::make_shared<MergedGatewayCache>();
  } else if (!SameScopeInputs(*next, *last)) {
    next->scopes = std::make_shared<MeshSnapshot::ScopeCache>(*last->scopes);
  }
  if (last == nullptr || next->networks != last->networks) next->revisions.networks = next->revision;
  if (last == nullptr || next->services != last->services) next->revisions.services = next->revision;
  if (last == nullptr || next->objects != last->objects) next->revisions.objects = next->revision;
  if (last == nullptr || next->peer_authentications != last->peer_authentications) {
    next->revisions.peer_authentications = next->revision;
  }
  if (last == nullptr || !SameTargetInputs(*next, *last)) next->targets_revision = next->revision;
  if (last == nullptr || next->scopes != last->scopes || next->objects != last->objects ||
      next->peer_authentications != last->peer_authentications) {
    next->scopes_revision = next->revision;
    next->gateways->Sweep();
  }
  state.snapshot = next;
  return next;
}

void SnapshotBuilder::State::BuildRegistryIndexes(const model::RegistryOutput& registry, bool new_settings,
                                                  MeshSnapshot* next) {
  const model::RegistryChanges& changes = registry.changes;
  const bool first = next->services == nullptr;
  if (first || changes.services) {
    next->services = service_builder.Build(registry.services);
    ShardEditor edit(&next->namespace_revisions);
    for (const Interned& ns : service_builder.changed_namespaces()) edit[ns].services = next->revision;
  }
  if (first) {
    next->endpoints = EndpointIndexBuilder::Build(registry.endpoints);
    next->revisions.endpoints = next->revisions.endpoint_traits = next->revisions.passthrough_endpoints =
        next->revision;
  } else if (!changes.endpoints.empty()) {
    const auto before = next->endpoints;
    next->endpoints = EndpointIndexBuilder::Update(*before, registry.endpoints, changes.endpoints);
    NoteEndpointChanges(changes, *before, next);
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
    next->networks = NetworkIndexBuilder::Build(registry.network_gateways, *settings);
  }
}

// Which of the parts that InputRevisions tells apart are concerned. `next` has its services already.
void SnapshotBuilder::State::NoteEndpointChanges(const model::RegistryChanges& changes,
                                                 const EndpointIndex& before, MeshSnapshot* next) const {
  InputRevisions& revisions = next->revisions;
  revisions.endpoints = next->revision;
  ShardEditor edit(&next->namespace_revisions);
  for (const auto& [hostname, ns] : changes.endpoints) {
    NamespaceRevisions& of_namespace = edit[ns];
    of_namespace.endpoints = next->revision;
    bool passthrough = false, inlined = false;
    for (const model::ServicePtr& service : next->services->ByHost(hostname)) {
      if (service->ns != ns) continue;
      passthrough |= service->resolution == model::Resolution::kPassthrough;
      inlined |= service->resolution != model::Resolution::kPassthrough &&
                 service->resolution != model::Resolution::kClientSideLb;
    }
    if (passthrough) revisions.passthrough_endpoints = of_namespace.passthrough_endpoints = next->revision;
    if (inlined || !SameTraits(before.Find(hostname, ns), next->endpoints->Find(hostname, ns))) {
      revisions.endpoint_traits = of_namespace.endpoint_traits = next->revision;
    }
  }
}

void SnapshotBuilder::State::BuildObjectIndexes(const config::ObjectStore& from, bool new_settings,
                                                MeshSnapshot* next) {
  bool checked = false;
  if (TakeChange(from, Kind::kVirtualService) || new_settings) {
    virtual_service_problems.clear();
    next->virtual_services = virtual_service_builder.Build(from, *settings, &virtual_service_problems);
    checked = true;
  }
  if (TakeChange(from, Kind::kDestinationRule) || new_settings) {
    destination_rule_problems.clear();
    next->destination_rules = destination_rule_builder.Build(from, *settings, &destination_rule_problems);
    checked = true;
  }
  std::vector<Kind> changed;
  for (Kind kind : ObjectIndexBuilder::Kinds()) {
    if (TakeChange(from, kind)) changed.push_back(kind);
  }
  checked |= BuildPolicies(from, new_settings, changed, next);
  if (!changed.empty() || next->objects == nullptr) {
    next->objects = ObjectIndexBuilder::Build(from, changed, next->objects.get());
  }
  if (std::find(changed.begin(), changed.end(), Kind::kSidecar) != changed.end() || new_settings) {
    sidecar_problems = FindShadowedSidecars(next->objects->Of(Kind::kSidecar));
    checked = true;
  }
  if (checked) CollectProblems();
}

// `changed` are those of ObjectIndexBuilder::Kinds. True: the problems may be others.
bool SnapshotBuilder::State::BuildPolicies(const config::ObjectStore& from, bool new_settings,
                                           std::vector<Kind> changed, MeshSnapshot* next) {
  const std::vector<Kind>& kinds = PolicyIndexBuilder::Kinds();
  std::erase_if(changed,
                [&](Kind kind) { return std::find(kinds.begin(), kinds.end(), kind) == kinds.end(); });
  const bool peers = TakeChange(from, Kind::kPeerAuthentication);
  if (peers) changed.push_back(Kind::kPeerAuthentication);
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
