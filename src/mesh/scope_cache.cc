#include "mesh/scope_cache.h"

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "istio/networking/v1alpha3/sidecar.pb.h"
#include "mesh/scope_builder.h"

namespace fairlead::mesh {
namespace {

using config::ConfigPtr;
using istio::networking::v1alpha3::Sidecar;

LogScope mesh_log("mesh");

// Whether a virtual service routes what is not HTTP: such routes are part of listeners.
bool HasStreamRoutes(const VirtualService& virtual_service) {
  return virtual_service.spec->tls_size() + virtual_service.spec->tcp_size() > 0;
}

// Whether the virtual services with such routes are the same, in the same order.
bool SameStreamRoutes(const EgressListener& a, const EgressListener& b) {
  if (a.virtual_services == b.virtual_services) return true;
  auto x = a.virtual_services.begin(), y = b.virtual_services.begin();
  const auto next = [](auto* at, const auto& all) {
    *at = std::find_if(*at, all.end(), [](const VirtualServicePtr& v) { return HasStreamRoutes(*v); });
    return *at != all.end();
  };
  for (;; ++x, ++y) {
    const bool more_x = next(&x, a.virtual_services), more_y = next(&y, b.virtual_services);
    if (more_x != more_y) return false;
    if (!more_x) return true;
    if (*x != *y) return false;
  }
}

bool SameImports(const EgressListener& a, const EgressListener& b) {
  return a.spec == b.spec && a.match_port == b.match_port && a.services == b.services &&
         SameStreamRoutes(a, b);
}

bool SameRoutes(const EgressListener& a, const EgressListener& b) {
  return a.virtual_services == b.virtual_services &&
         a.most_specific_virtual_service == b.most_specific_virtual_service;
}

template <typename Predicate>
bool AllEgress(const SidecarScope& a, const SidecarScope& b, Predicate same) {
  return std::equal(a.egress.begin(), a.egress.end(), b.egress.begin(), b.egress.end(), same);
}

// Everything else in a scope follows from what is compared here and in SameRoutes.
bool SameImports(const SidecarScope& a, const SidecarScope& b) {
  return a.ns == b.ns && a.object == b.object && a.outbound_traffic_policy == b.outbound_traffic_policy &&
         a.services == b.services && a.destination_rules == b.destination_rules &&
         AllEgress(a, b, [](const auto& x, const auto& y) { return SameImports(x, y); });
}

bool SameRoutes(const SidecarScope& a, const SidecarScope& b) {
  return AllEgress(a, b, [](const auto& x, const auto& y) { return SameRoutes(x, y); });
}

bool Selects(const Sidecar& sidecar, const LabelMap& labels) {
  const auto& wanted = sidecar.workload_selector().labels();
  return std::all_of(wanted.begin(), wanted.end(), [&labels](const auto& label) {
    auto it = labels.find(label.first);
    return it != labels.end() && it->second == label.second;
  });
}

// The Sidecar for a workload among those of one namespace, oldest first: one that selects it, else one for
// all.
ConfigPtr ChooseSidecar(const std::vector<ConfigPtr>& sidecars, const LabelMap& labels) {
  ConfigPtr for_all;
  for (const ConfigPtr& candidate : sidecars) {
    const Sidecar& spec = candidate->Spec<Sidecar>();
    if (!spec.has_workload_selector()) {
      if (for_all == nullptr) for_all = candidate;
    } else if (Selects(spec, labels)) {
      return candidate;
    }
  }
  return for_all;
}

ConfigPtr ChooseForAll(const std::vector<ConfigPtr>& sidecars) {
  auto it = std::find_if(sidecars.begin(), sidecars.end(), [](const ConfigPtr& candidate) {
    return !candidate->Spec<Sidecar>().has_workload_selector();
  });
  return it == sidecars.end() ? nullptr : *it;
}

}  // namespace

std::vector<config::Diagnostic> FindShadowedSidecars(const std::vector<ConfigPtr>& sidecars) {
  std::vector<config::Diagnostic> shadowed;
  StringMap<ConfigPtr> first;
  for (const ConfigPtr& sidecar : sidecars) {
    if (sidecar->Spec<Sidecar>().has_workload_selector()) continue;
    const auto [winner, is_new] = first.try_emplace(sidecar->ns().str(), sidecar);
    if (is_new) continue;
    shadowed.push_back({.severity = config::Severity::kWarning,
                        .code = "duplicate-sidecar",
                        .file = sidecar->origin().file.str(),
                        .line = sidecar->origin().line,
                        .object = config::KeyOf(*sidecar),
                        .path = "",
                        .message = StrCat("ignored: ", config::Describe(config::KeyOf(*winner->second)),
                                          " is older and has no workloadSelector either")});
  }
  return shadowed;
}

MeshSnapshot::ScopeCache::ScopeCache(ScopeCache& previous)
    : shadow_(previous.shadow_), variants_(previous.variants_), builds_(previous.builds_) {
  std::lock_guard lock(previous.mutex_);
  for (const auto& [key, entry] : previous.entries_) {
    auto next = std::make_shared<Entry>();
    {
      std::lock_guard entry_lock(entry->mutex);
      const bool used = entry->now.scope != nullptr;
      next->earlier = used ? entry->now : entry->earlier;
      next->unused = used ? 0 : entry->unused + 1;
    }
    if (next->unused <= kKeepUnused) entries_.emplace(key, std::move(next));
  }
  variants_->Sweep();
}

std::shared_ptr<MeshSnapshot::ScopeCache::Entry> MeshSnapshot::ScopeCache::FindOrAdd(Key key) {
  std::lock_guard lock(mutex_);
  std::shared_ptr<Entry>& entry = entries_[std::move(key)];
  if (entry == nullptr) entry = std::make_shared<Entry>();
  return entry;
}

MeshSnapshot::ScopeCache::Made MeshSnapshot::ScopeCache::Make(const MeshSnapshot& snapshot,
                                                              const ConfigPtr& sidecar, std::string_view ns,
                                                              bool for_router, const Made& earlier) {
  const bool holds = earlier.scope != nullptr && earlier.reads->Hold(snapshot);
  if (holds && !shadow_) return earlier;
  ++*builds_;
  auto reads = std::make_shared<ScopeReads>(snapshot, ns);
  std::shared_ptr<SidecarScope> scope = for_router
                                            ? BuildRouterScope(ns, reads.get(), variants_.get())
                                            : BuildSidecarScope(sidecar, ns, reads.get(), variants_.get());
  reads->Finish();
  const bool same_imports = earlier.scope != nullptr && SameImports(*earlier.scope, *scope);
  scope->imports_id = same_imports ? earlier.scope->imports_id : scope->id;
  const bool unchanged = same_imports && SameRoutes(*earlier.scope, *scope);
  if (holds && !unchanged) {
    mesh_log.Error("the scope of {} has changed, but what it says it was made from has not", ns);
  }
  return {unchanged ? earlier.scope : SidecarScopePtr(std::move(scope)), std::move(reads)};
}

SidecarScopePtr MeshSnapshot::ScopeCache::Get(const MeshSnapshot& snapshot, const ConfigPtr& sidecar,
                                              std::string_view ns, bool for_router) {
  const std::shared_ptr<Entry> entry = FindOrAdd({sidecar, std::string(ns), for_router});
  std::call_once(entry->made, [&] {
    Made made = Make(snapshot, sidecar, ns, for_router, entry->earlier);
    std::lock_guard lock(entry->mutex);
    entry->now = std::move(made);
    entry->earlier = {};
  });
  return entry->now.scope;
}

SidecarScopePtr MeshSnapshot::ScopeFor(std::string_view ns, const LabelMap& labels) const {
  ConfigPtr sidecar = ChooseSidecar(objects->Of(config::Kind::kSidecar, ns), labels);
  if (sidecar == nullptr) {
    sidecar = ChooseForAll(objects->Of(config::Kind::kSidecar, settings->root_namespace));
  }
  return scopes->Get(*this, sidecar, ns, false);
}

SidecarScopePtr MeshSnapshot::DefaultScopeFor(std::string_view ns) const {
  return scopes->Get(*this, nullptr, ns, true);
}

}  // namespace fairlead::mesh
