#include "mesh/builder.h"

#include <algorithm>
#include <atomic>
#include <set>
#include <tuple>
#include <utility>

#include "istio/mesh/v1alpha1/config.pb.h"
#include "mesh/destination_rule_index.h"
#include "mesh/merged_gateway.h"
#include "mesh/object_index.h"
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
  config::ObjectStore store;  // as it was for `snapshot`
  SnapshotPtr snapshot;       // the last one; null at first

  bool shadow = false;
  VirtualServiceIndexBuilder virtual_service_builder;
  DestinationRuleIndexBuilder destination_rule_builder;
  std::vector<Diagnostic> virtual_service_problems, destination_rule_problems, policy_problems,
      sidecar_problems;
  std::vector<Diagnostic> problems;

  bool Changed(const config::ObjectStore& from, Kind kind) const {
    return from.Revision(kind) != store.Revision(kind);
  }

  void BuildRegistryIndexes(const model::RegistryOutput& registry, bool new_settings, MeshSnapshot* next);
  void BuildObjectIndexes(const config::ObjectStore& from, bool new_settings, MeshSnapshot* next);
  void NoteEndpointChanges(const model::RegistryChanges& changes, const EndpointIndex& before,
                           MeshSnapshot* next) const;
  void CollectProblems();
};

namespace {

// Rises by one with every snapshot of the process, whichever mesh it is of.
uint64_t NextRevision() {
  static std::atomic<uint64_t> last{0};
  return last.fetch_add(1) + 1;
}

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

SnapshotBuilder::SnapshotBuilder(const SnapshotBuilder& other)
    : state_(std::make_unique<State>(*other.state_)) {}

SnapshotBuilder::~SnapshotBuilder() = default;

const std::vector<Diagnostic>& SnapshotBuilder::diagnostics() const { return state_->problems; }

void SnapshotBuilder::SetSettings(model::SettingsPtr settings) { state_->settings = std::move(settings); }

SnapshotPtr SnapshotBuilder::Build(const config::ObjectStore& store, const model::RegistryOutput& registry) {
  State& state = *state_;
  const bool new_settings = state.snapshot == nullptr || state.settings != state.snapshot->settings;
  auto next = state.snapshot == nullptr ? std::make_shared<MeshSnapshot>()
                                        : std::make_shared<MeshSnapshot>(*state.snapshot);
  next->revision = NextRevision();
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
    for (const model::ServicePtr& service : registry.services)
      next->namespace_revisions[service->ns].services = next->revision;
  } else if (!changes.services.empty()) {
    next->services = ServiceIndexBuilder::Update(*next->services, changes.services);
    for (const auto& [before, after] : changes.services)
      next->namespace_revisions[(after == nullptr ? before : after)->ns].services = next->revision;
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
    next->networks = NetworkIndexBuilder::Build(registry.network_gateways, *settings, next->networks);
  }
}

// Which of the parts that InputRevisions tells apart are concerned. `next` has its services already.
void SnapshotBuilder::State::NoteEndpointChanges(const model::RegistryChanges& changes,
                                                 const EndpointIndex& before, MeshSnapshot* next) const {
  InputRevisions& revisions = next->revisions;
  revisions.endpoints = next->revision;
  for (const auto& [hostname, ns] : changes.endpoints) {
    NamespaceRevisions& of_namespace = next->namespace_revisions[ns];
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
  const bool new_root = snapshot == nullptr || snapshot->settings->root_namespace != settings->root_namespace;
  if (Changed(from, Kind::kPeerAuthentication) || new_root) {
    policy_problems.clear();
    next->peer_authentications =
        PeerAuthenticationIndexBuilder::Build(from, settings->root_namespace, &policy_problems);
    checked = true;
  }
  next->objects = ObjectIndexBuilder::Build(from, store, next->objects);
  if (Changed(from, Kind::kSidecar) || new_settings) {
    sidecar_problems = FindShadowedSidecars(next->objects->Of(Kind::kSidecar));
    checked = true;
  }
  if (checked) CollectProblems();
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
