#include <algorithm>
#include <tuple>

#include "istio/mesh/v1alpha1/network.pb.h"
#include "mesh/index/endpoint_traits.h"
#include "mesh/index/registry_index_builders.h"

namespace fairlead::mesh {
namespace {

using WorkloadList = WorkloadIndex::List;

bool IsPod(const model::WorkloadInstance& workload) {
  return !workload.sources.empty() && workload.sources.front()->kind() == config::Kind::kPod;
}

std::vector<const model::WorkloadInstance*> Those(const WorkloadList* sharing, bool pods) {
  std::vector<const model::WorkloadInstance*> found;
  if (sharing == nullptr) return found;
  for (const WorkloadIndex::Workload& workload : *sharing) {
    if (IsPod(*workload) == pods) found.push_back(workload.get());
  }
  return found;
}

std::pair<Interned, Interned> PodName(const model::WorkloadInstance& pod) {
  return {WorkloadIndex::PlaceOf(pod.workload->ns, pod.sources.front()->cluster()), pod.name};
}

// Pods, then workload entries, then pods that share their node's address with others; each by namespace, name
// and cluster.
bool PreferredByAddress(const WorkloadIndex::Workload& a, const WorkloadIndex::Workload& b) {
  const auto rank = [](const model::WorkloadInstance& w) { return w.host_network ? 2 : IsPod(w) ? 0 : 1; };
  const int rank_a = rank(*a), rank_b = rank(*b);
  return std::tie(rank_a, a->workload->ns, a->name, a->workload->cluster) <
         std::tie(rank_b, b->workload->ns, b->name, b->workload->cluster);
}

}  // namespace

std::shared_ptr<const EndpointIndex> EndpointIndexBuilder::Build(const Endpoints& endpoints) {
  std::vector<model::ServiceKey> all;
  all.reserve(endpoints.size());
  for (const auto& [service, of_service] : endpoints) all.push_back(service);
  return Update(EndpointIndex(), endpoints, all);
}

std::shared_ptr<const EndpointIndex> EndpointIndexBuilder::Update(
    const EndpointIndex& previous, const Endpoints& endpoints,
    const std::vector<model::ServiceKey>& changed) {
  absl::flat_hash_map<Interned, std::shared_ptr<NamespaceEndpoints>> edited;
  for (const auto& [host, ns] : changed) {
    const model::ServiceEndpointsPtr* now = endpoints.Find(model::ServiceKey{host, ns});
    const model::ServiceEndpointsPtr after = now == nullptr ? nullptr : *now;
    std::shared_ptr<NamespaceEndpoints>& of_namespace = edited[ns];
    const model::ServiceEndpointsPtr before_change = previous.Find(host, ns);
    if (of_namespace == nullptr) {
      if (before_change == after) continue;
      const NamespaceEndpointsPtr before = previous.Namespace(ns);
      of_namespace = before == nullptr ? std::make_shared<NamespaceEndpoints>()
                                       : std::make_shared<NamespaceEndpoints>(*before);
    }
    if (EndpointTraits(before_change) != EndpointTraits(after))
      of_namespace->traits_ = std::make_shared<const char>();
    if (after == nullptr) {
      of_namespace->by_host_.Erase(host);
    } else {
      of_namespace->by_host_[host] = after;
    }
  }
  auto index = std::make_shared<EndpointIndex>(previous);
  for (auto& [ns, of_namespace] : edited) {
    if (of_namespace == nullptr) continue;
    if (of_namespace->by_host_.empty()) {
      index->namespaces_.Erase(ns);
    } else {
      index->namespaces_[ns] = std::move(of_namespace);
    }
  }
  return index;
}

model::ServiceEndpointsPtr NamespaceEndpoints::Find(std::string_view hostname) const {
  const model::ServiceEndpointsPtr* found = by_host_.Find(hostname);
  return found == nullptr ? nullptr : *found;
}

model::ServiceEndpointsPtr EndpointIndex::Find(std::string_view hostname, std::string_view ns) const {
  const NamespaceEndpointsPtr* of_namespace = namespaces_.Find(ns);
  return of_namespace == nullptr ? nullptr : (*of_namespace)->Find(hostname);
}

NamespaceEndpointsPtr EndpointIndex::Namespace(std::string_view ns) const {
  const NamespaceEndpointsPtr* of_namespace = namespaces_.Find(ns);
  return of_namespace == nullptr ? nullptr : *of_namespace;
}

std::shared_ptr<const ExternalTargetIndex> ExternalTargetIndexBuilder::Build(
    const ShardedMap<Interned, std::shared_ptr<const model::ExternalTargets>>& targets) {
  auto index = std::make_shared<ExternalTargetIndex>();
  index->by_address_ = targets;
  return index;
}

std::shared_ptr<const model::ExternalTargets> ExternalTargetIndex::At(std::string_view ip) const {
  const auto* targets = by_address_.Find(Interned(ip));
  return targets == nullptr ? nullptr : *targets;
}

std::shared_ptr<const WorkloadIndex> WorkloadIndexBuilder::Build(
    const ShardedSet<WorkloadIndex::Workload>& workloads) {
  std::vector<model::WorkloadChange> all;
  all.reserve(workloads.size());
  for (const WorkloadIndex::Workload& workload : workloads) all.push_back({nullptr, workload});
  return Update(WorkloadIndex(), all);
}

std::shared_ptr<const WorkloadIndex> WorkloadIndexBuilder::Update(
    const WorkloadIndex& previous, const std::vector<model::WorkloadChange>& changes) {
  auto index = std::make_shared<WorkloadIndex>(previous);
  auto& by_address = index->by_address_;
  auto& pods = index->pods_;
  for (const auto& [before, after] : changes) {
    if (before == nullptr) continue;
    for (const std::string& address : before->addresses) {
      WorkloadIndex::Sharing& sharing = by_address[address];
      auto rest = sharing == nullptr ? WorkloadList() : WorkloadList(*sharing);
      std::erase(rest, before);
      if (rest.empty()) {
        by_address.Erase(address);
      } else {
        sharing = std::make_shared<const WorkloadList>(std::move(rest));
      }
    }
    if (IsPod(*before)) pods.Erase(PodName(*before));
  }
  for (const auto& [before, after] : changes) {
    if (after == nullptr) continue;
    for (const std::string& address : after->addresses) {
      WorkloadIndex::Sharing& sharing = by_address[address];
      auto more = sharing == nullptr ? WorkloadList() : WorkloadList(*sharing);
      more.insert(std::upper_bound(more.begin(), more.end(), after, PreferredByAddress), after);
      sharing = std::make_shared<const WorkloadList>(std::move(more));
    }
    if (IsPod(*after)) pods[PodName(*after)] = after;
  }
  return index;
}

const model::WorkloadInstance* WorkloadIndex::FindByAddress(std::string_view ip) const {
  const Sharing* sharing = by_address_.Find(ip);
  return sharing == nullptr ? nullptr : (*sharing)->front().get();
}

const model::WorkloadInstance* WorkloadIndex::FindPod(std::string_view ns, std::string_view name) const {
  const Workload* pod = pods_.Find(std::make_pair(ns, name));
  return pod == nullptr ? nullptr : pod->get();
}

WorkloadIndex::Sharing WorkloadIndex::At(std::string_view ip) const {
  const Sharing* sharing = by_address_.Find(ip);
  return sharing == nullptr ? nullptr : *sharing;
}

Interned WorkloadIndex::PlaceOf(const Interned& ns, const Interned& cluster) {
  return cluster.empty() ? ns : Interned(StrCat(ns.str(), " ", cluster.str()));
}

WorkloadIndex::Workload WorkloadIndex::Pod(std::string_view place, std::string_view name) const {
  const Workload* pod = pods_.Find(std::make_pair(place, name));
  return pod == nullptr ? nullptr : *pod;
}

std::vector<const model::WorkloadInstance*> WorkloadIndex::EntriesOf(const List* sharing) {
  return Those(sharing, /*pods=*/false);
}

std::vector<const model::WorkloadInstance*> WorkloadIndex::PodsOf(const List* sharing) {
  return Those(sharing, /*pods=*/true);
}

std::shared_ptr<const NetworkIndex> NetworkIndexBuilder::Build(
    std::vector<model::NetworkGateway> gateways, const model::Settings& settings,
    const std::shared_ptr<const NetworkIndex>& last) {
  for (const auto& [network, spec] : settings.networks->networks()) {
    for (const auto& gateway : spec.gateways()) {
      if (gateway.address().empty()) continue;  // by service name: the registries know its addresses
      model::NetworkGateway from_settings;
      from_settings.network = network;
      from_settings.address = gateway.address();
      from_settings.port = gateway.port();
      gateways.push_back(std::move(from_settings));
    }
  }
  std::sort(gateways.begin(), gateways.end());
  gateways.erase(std::unique(gateways.begin(), gateways.end()), gateways.end());
  if (last != nullptr && last->gateways_ == gateways) return last;
  auto index = std::make_shared<NetworkIndex>();
  index->gateways_ = std::move(gateways);
  return index;
}

std::vector<model::NetworkGateway> NetworkIndex::Of(std::string_view network) const {
  std::vector<model::NetworkGateway> found;
  for (const model::NetworkGateway& gateway : gateways_) {
    if (gateway.network == network) found.push_back(gateway);
  }
  return found;
}

std::vector<model::NetworkGateway> NetworkIndex::Of(std::string_view network,
                                                    std::string_view cluster) const {
  std::vector<model::NetworkGateway> found;
  for (const model::NetworkGateway& gateway : gateways_) {
    if (gateway.network == network && gateway.cluster == cluster) found.push_back(gateway);
  }
  return found;
}

}  // namespace fairlead::mesh
