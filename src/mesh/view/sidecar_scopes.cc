#include "mesh/view/sidecar_scopes.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>

#include "istio/networking/v1alpha3/sidecar.pb.h"
#include "mesh/view/scope_builder.h"
#include "mesh/view/view.h"
#include "mesh/view/visible_mesh.h"

namespace fairlead::mesh {
namespace {

using config::ConfigPtr;
using istio::networking::v1alpha3::Sidecar;

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

SidecarScopes::Result SidecarScopes::Get(const World& world, const ConfigPtr& sidecar, const Interned& ns,
                                         bool for_router) {
  const auto make = [&](View& view, const SidecarScopePtr& like) {
    ++builds_;
    VisibleMesh visible(&view, ns);
    SidecarScope scope = for_router ? BuildRouterScope(ns, &visible, &variants_)
                                    : BuildSidecarScope(sidecar, ns, &visible, &variants_);
    if (like != nullptr && *scope.imports == *like->imports) scope.imports = like->imports;
    if (like != nullptr && scope == *like) return like;
    return std::make_shared<const SidecarScope>(std::move(scope));
  };
  // A scope is made from the snapshot alone.
  const World snapshot{world.snapshot, nullptr, world.shadow};
  return GetRecorded(cache_, snapshot, Key{sidecar, ns, for_router}, make, std::equal_to<SidecarScope>());
}

void SidecarScopes::Sweep(Clock::time_point now) {
  constexpr auto kIdle = std::chrono::seconds(30);
  constexpr size_t kMost = 20'000;
  cache_.Sweep(now, kIdle, kMost);
  variants_.Sweep();
}

}  // namespace fairlead::mesh
