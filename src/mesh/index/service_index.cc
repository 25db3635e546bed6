#include <algorithm>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "mesh/index/service_index_builder.h"

namespace fairlead::mesh {
namespace {

using model::Registry;
using model::ServicePtr;

const ServiceIndex::Services& NoServices() {
  static const auto* none = new ServiceIndex::Services();
  return *none;
}

std::string_view SourceName(const model::Service& service) {
  return service.source == nullptr ? std::string_view() : service.source->name().str();
}

std::string SelectorPair(std::string_view key, std::string_view value) { return StrCat(key, "=", value); }

bool SelectsPods(const model::Service& service) {
  return service.registry == Registry::kKubernetes && !service.selector.empty();
}

// Calls visit(service) for it as each cluster has it that selects pods by it.
template <typename Visit>
void ForEachSelector(const ServicePtr& service, const Visit& visit) {
  if (SelectsPods(*service)) visit(*service);
  for (const ServicePtr& one : service->in_other_clusters) {
    if (SelectsPods(*one)) visit(*one);
  }
}

// Files each service with a selector under the pair of it that the fewest services of its namespace share, so
// that a look-up meets few that do not match.
StringMap<std::vector<uint32_t>> IndexSelectors(const ServiceIndex::Services& services) {
  StringMap<uint32_t> sharing;  // how many services have a pair
  for (const ServicePtr& service : services) {
    ForEachSelector(service, [&sharing](const model::Service& one) {
      for (const auto& [key, value] : one.selector) ++sharing[SelectorPair(key, value)];
    });
  }
  StringMap<std::vector<uint32_t>> index;
  for (uint32_t i = 0; i < services.size(); ++i) {
    ForEachSelector(services[i], [&](const model::Service& one) {
      const auto rarest = std::min_element(
          one.selector.begin(), one.selector.end(), [&sharing](const auto& a, const auto& b) {
            return sharing[SelectorPair(a.first, a.second)] < sharing[SelectorPair(b.first, b.second)];
          });
      std::vector<uint32_t>& of_pair = index[SelectorPair(rarest->first, rarest->second)];
      if (of_pair.empty() || of_pair.back() != i) of_pair.push_back(i);
    });
  }
  return index;
}

// Of each host that a change of a namespace concerns the service that counts there now, of all that it has
// now; null where there is none left.
absl::flat_hash_map<Interned, ServicePtr> ChooseByHost(const ListChange<ServicePtr>& change,
                                                       const ServiceIndex::Services* all) {
  absl::flat_hash_map<Interned, ServicePtr> chosen;
  for (const ServicePtr& service : change.gone) chosen[service->hostname] = nullptr;
  for (const ServicePtr& service : change.fresh) chosen[service->hostname] = nullptr;
  if (all == nullptr) return chosen;
  for (const ServicePtr& service : *all) {
    const auto of_host = chosen.find(service->hostname);
    if (of_host == chosen.end()) continue;
    ServicePtr& best = of_host->second;
    // Nobody may squat on the name of a Kubernetes service with an older ServiceEntry.
    if (best == nullptr ||
        (best->registry != Registry::kKubernetes && service->registry == Registry::kKubernetes)) {
      best = service;
    }
  }
  return chosen;
}

}  // namespace

bool ServiceBefore(const ServicePtr& a, const ServicePtr& b) {
  if (a->creation_time != b->creation_time) return a->creation_time < b->creation_time;
  if (a->name != b->name) return a->name < b->name;
  if (!(a->ns == b->ns)) return a->ns < b->ns;
  if (a->registry != b->registry) return a->registry < b->registry;
  if (!(a->hostname == b->hostname)) return a->hostname < b->hostname;
  if (a->address != b->address) return a->address < b->address;
  return SourceName(*a) < SourceName(*b);
}

std::shared_ptr<const ServiceIndex> ServiceIndexBuilder::Build(const ShardedSet<ServicePtr>& services) {
  Change change;
  change.fresh.assign(services.begin(), services.end());
  return Apply(ServiceIndex(), change);
}

std::shared_ptr<const ServiceIndex> ServiceIndexBuilder::Update(
    const ServiceIndex& previous, const std::vector<model::ServiceChange>& changes) {
  Change change;
  for (const auto& [before, after] : changes) {
    if (before != nullptr) change.gone.push_back(before);
    if (after != nullptr) change.fresh.push_back(after);
  }
  // Those that came and went again are in both.
  const absl::flat_hash_set<ServicePtr> gone(change.gone.begin(), change.gone.end());
  const absl::flat_hash_set<ServicePtr> fresh(change.fresh.begin(), change.fresh.end());
  std::erase_if(change.gone, [&fresh](const ServicePtr& service) { return fresh.contains(service); });
  std::erase_if(change.fresh, [&gone](const ServicePtr& service) { return gone.contains(service); });
  return Apply(previous, change);
}

std::shared_ptr<const ServiceIndex> ServiceIndexBuilder::Apply(const ServiceIndex& previous,
                                                               const Change& change) {
  auto index = std::make_shared<ServiceIndex>(previous);
  index->all_ = Changed(index->all_.get(), change, ServiceBefore);
  ChangeVisible(change, index.get());
  absl::flat_hash_map<Interned, Change> by_namespace;
  for (const ServicePtr& service : change.gone) by_namespace[service->ns].gone.push_back(service);
  for (const ServicePtr& service : change.fresh) by_namespace[service->ns].fresh.push_back(service);
  for (const auto& [ns, of_namespace] : by_namespace) ChangeNamespace(ns, of_namespace, index.get());
  return index;
}

void ServiceIndexBuilder::ChangeVisible(const Change& change, ServiceIndex* index) {
  Change everywhere;
  absl::flat_hash_map<Interned, Change> exported;
  const auto sort_out = [&](const ServiceIndex::Services& services, auto which) {
    for (const ServicePtr& service : services) {
      if (service->visibility.everywhere) {
        (everywhere.*which).push_back(service);
        continue;
      }
      for (const std::string& ns : service->visibility.namespaces) (exported[ns].*which).push_back(service);
    }
  };
  sort_out(change.gone, &Change::gone);
  sort_out(change.fresh, &Change::fresh);
  if (!everywhere.empty()) {
    index->everywhere_ = Changed(index->everywhere_.get(), everywhere, ServiceBefore);
  }
  for (const auto& [ns, to_namespace] : exported) {
    const ServiceIndex::List* before = index->exported_.Find(ns);
    auto list = Changed(before == nullptr ? nullptr : before->get(), to_namespace, ServiceBefore);
    if (list == nullptr) {
      index->exported_.Erase(ns);
    } else {
      index->exported_[ns] = std::move(list);
    }
  }
}

void ServiceIndexBuilder::ChangeNamespace(const Interned& ns, const Change& change, ServiceIndex* index) {
  const NamespaceServicesPtr before = index->Namespace(ns);
  const auto all = Changed(before == nullptr ? nullptr : &before->all, change, ServiceBefore);
  for (const auto& [host, service] : ChooseByHost(change, all.get())) SetHost(host, ns, service, index);
  if (all == nullptr) {
    index->namespaces_.Erase(ns);
  } else {
    index->namespaces_[ns] =
        std::make_shared<const NamespaceServices>(NamespaceServices{*all, IndexSelectors(*all)});
  }
}

void ServiceIndexBuilder::SetHost(const Interned& host, const Interned& ns, const ServicePtr& service,
                                  ServiceIndex* index) {
  ServiceIndex::Services of_host = index->ByHost(host);
  auto place = std::lower_bound(of_host.begin(), of_host.end(), ns,
                                [](const ServicePtr& s, const Interned& n) { return s->ns < n; });
  const bool known = place != of_host.end() && (*place)->ns == ns;
  if (known ? *place == service : service == nullptr) return;
  if (known) place = of_host.erase(place);
  if (service != nullptr) of_host.insert(place, service);
  if (of_host.empty()) {
    index->by_host_.Erase(host);
  } else {
    index->by_host_[host] = std::make_shared<const ServiceIndex::Services>(std::move(of_host));
  }
}

const ServiceIndex::Services& ServiceIndex::All() const { return all_ == nullptr ? NoServices() : *all_; }

ServiceIndex::Services NamespaceServices::Selecting(const LabelMap& labels, const Interned& cluster) const {
  std::vector<uint32_t> positions;
  for (const auto& [key, value] : labels) {
    const auto it = by_selector_pair.find(SelectorPair(key, value));
    if (it != by_selector_pair.end()) positions.insert(positions.end(), it->second.begin(), it->second.end());
  }
  std::sort(positions.begin(), positions.end());
  positions.erase(std::unique(positions.begin(), positions.end()), positions.end());
  ServiceIndex::Services selecting;
  for (uint32_t position : positions) {
    ServicePtr service = model::InCluster(all[position], cluster);
    if (service != nullptr && SelectsPods(*service) && SelectorMatches(service->selector, labels))
      selecting.push_back(std::move(service));
  }
  return selecting;
}

model::ServicePtr ServiceIndex::Find(std::string_view hostname, std::string_view ns) const {
  for (const ServicePtr& service : ByHost(hostname)) {
    if (service->ns == ns) return service;
  }
  return nullptr;
}

const ServiceIndex::Services& ServiceIndex::ByHost(std::string_view hostname) const {
  const List* of_host = by_host_.Find(hostname);
  return of_host == nullptr ? NoServices() : **of_host;
}

ServiceIndex::List ServiceIndex::Host(std::string_view hostname) const {
  const List* of_host = by_host_.Find(hostname);
  return of_host == nullptr ? nullptr : *of_host;
}

NamespaceServicesPtr ServiceIndex::Namespace(std::string_view ns) const {
  const NamespaceServicesPtr* of_namespace = namespaces_.Find(ns);
  return of_namespace == nullptr ? nullptr : *of_namespace;
}

const ServiceIndex::Services& ServiceIndex::InNamespace(std::string_view ns) const {
  const NamespaceServicesPtr* of_namespace = namespaces_.Find(ns);
  return of_namespace == nullptr ? NoServices() : (*of_namespace)->all;
}

ServiceIndex::Services ServiceIndex::VisibleIn(std::string_view ns) const {
  const List* exported = exported_.Find(ns);
  Services visible;
  visible.reserve((exported == nullptr ? 0 : (*exported)->size()) +
                  (everywhere_ == nullptr ? 0 : everywhere_->size()));
  if (exported != nullptr) visible.insert(visible.end(), (*exported)->begin(), (*exported)->end());
  if (everywhere_ != nullptr) visible.insert(visible.end(), everywhere_->begin(), everywhere_->end());
  return visible;
}

}  // namespace fairlead::mesh
