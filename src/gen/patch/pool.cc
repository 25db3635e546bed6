#include "gen/patch/pool.h"

#include <re2/re2.h>

#include <algorithm>
#include <compare>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/strings.h"
#include "gen/naming/cluster_name.h"
#include "gen/patch/apply.h"
#include "istio/networking/v1alpha3/envoy_filter.pb.h"

namespace fairlead::gen::patch {
namespace {

using config::ConfigPtr;
using istio::networking::v1alpha3::EnvoyFilter;

bool IsListenerPart(ApplyTo apply_to) {
  return apply_to == EnvoyFilter::LISTENER || apply_to == EnvoyFilter::FILTER_CHAIN ||
         apply_to == EnvoyFilter::NETWORK_FILTER || apply_to == EnvoyFilter::LISTENER_FILTER ||
         apply_to == EnvoyFilter::HTTP_FILTER;
}

bool IsRoutePart(ApplyTo apply_to) {
  return apply_to == EnvoyFilter::ROUTE_CONFIGURATION || apply_to == EnvoyFilter::VIRTUAL_HOST ||
         apply_to == EnvoyFilter::HTTP_ROUTE;
}

// Whether the proxy is one that the patch names by version and metadata.
bool MatchesProxy(const Patch& patch, mesh::View& view) {
  if (patch.for_no_proxy) return false;
  if (patch.proxy_version != nullptr) {
    const std::string version(view.Metadata("ISTIO_VERSION").value_or(""));
    if (version.empty() || !RE2::PartialMatch(version, *patch.proxy_version)) return false;
  }
  const auto& metadata = patch.match().proxy().metadata();
  return std::all_of(metadata.begin(), metadata.end(),
                     [&](const auto& wanted) { return view.Metadata(wanted.first) == wanted.second; });
}

// Policies come as the root namespace's before the client's own, which counts among those of one priority.
// Of one age, names are compared as "name.namespace", as Istio does: "a-b" comes before "a".
void SortByPriority(std::vector<ConfigPtr>* filters) {
  struct Place {
    int32_t priority;
    bool later_namespace;
    int64_t creation_time;
    std::string name;
    auto operator<=>(const Place&) const = default;
  };
  std::vector<std::pair<Place, ConfigPtr>> order;
  order.reserve(filters->size());
  for (const ConfigPtr& filter : *filters) {
    order.push_back({{filter->Spec<EnvoyFilter>().priority(), filter->ns() != filters->front()->ns(),
                      filter->meta().creation_time, StrCat(filter->name().str(), ".", filter->ns().str())},
                     filter});
  }
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  for (size_t i = 0; i < order.size(); ++i) (*filters)[i] = std::move(order[i].second);
}

}  // namespace

bool PatchPool::Concerns(const Patch& patch, Side side) const {
  if (stage_ != Stage::kExtensions && !patch.IsFor(side)) return false;
  switch (stage_) {
    case Stage::kListeners:
      return IsListenerPart(patch.apply_to) || (side == Side::kInbound && IsRoutePart(patch.apply_to));
    case Stage::kRoutes:
      return IsRoutePart(patch.apply_to);
    case Stage::kClusters:
      return patch.apply_to == EnvoyFilter::CLUSTER;
    case Stage::kExtensions:
      return patch.apply_to == EnvoyFilter::EXTENSION_CONFIG;
  }
  return false;
}

PatchSetPtr PatchPool::Intern(Side side, PatchList patches) {
  if (patches.empty()) return nullptr;
  return sets_.GetOrBuild(SetKey{side, std::move(patches)}, [](const SetKey& key) {
    return std::make_shared<const PatchSet>(key.side, key.patches);
  });
}

PatchSetPtr PatchPool::Collect(mesh::View& view, Side side) {
  std::vector<ConfigPtr> filters = view.Policies(config::Kind::kEnvoyFilter);
  SortByPriority(&filters);
  PatchList patches;
  for (const ConfigPtr& filter : filters) {
    const auto read = read_.GetOrBuild(filter, [](const ConfigPtr& object) {
      return std::make_shared<const ReadObject>(ReadObject{ReadPatches(object)});
    });
    for (const PatchPtr& patch : read->patches) {
      // The whole of what was read of an object stays as long as one of its patches is used.
      if (Concerns(*patch, side) && MatchesProxy(*patch, view)) patches.emplace_back(read, patch.get());
    }
  }
  return Intern(side, std::move(patches));
}

template <typename Keep>
PatchSetPtr PatchPool::Narrowed(const PatchSetPtr& set, Keep&& keep) {
  if (set == nullptr || set->renames()) return set;
  PatchList kept;
  std::copy_if(set->all().begin(), set->all().end(), std::back_inserter(kept),
               [&](const PatchPtr& patch) { return keep(*patch); });
  return kept.size() == set->all().size() ? set : Intern(set->side(), std::move(kept));
}

PatchSetPtr PatchPool::ForListener(const PatchSetPtr& set, std::string_view name, uint32_t port) {
  return Narrowed(set, [&](const Patch& patch) {
    if (patch.apply_to == EnvoyFilter::LISTENER && patch.Adds()) return false;
    return IsRoutePart(patch.apply_to) || MatchesListener(patch, name, port);
  });
}

PatchSetPtr PatchPool::ForService(const PatchSetPtr& set, std::string_view host) {
  return Narrowed(set, [&](const Patch& patch) {
    if (patch.Adds()) return false;
    const EnvoyFilter::ClusterMatch& wanted = patch.match().cluster();
    if (!wanted.name().empty()) return ParseClusterName(wanted.name()).host == host;
    return wanted.service().empty() || wanted.service() == host;
  });
}

PatchSetPtr PatchPool::ForCluster(const PatchSetPtr& set, std::string_view name,
                                  const std::vector<std::string_view>& hosts) {
  return Narrowed(set,
                  [&](const Patch& patch) { return !patch.Adds() && MatchesCluster(patch, name, hosts); });
}

}  // namespace fairlead::gen::patch
