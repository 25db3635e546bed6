#include "mesh/service_index.h"

#include <algorithm>
#include <string>
#include <utility>

namespace fairlead::mesh {
namespace {

using model::Registry;
using model::ServicePtr;

const ServiceIndex::Services& NoServices() {
  static const auto* none = new ServiceIndex::Services();
  return *none;
}

const ServiceIndex::Services& FindOrNone(const StringMap<ServiceIndex::Services>& map, std::string_view key) {
  auto it = map.find(key);
  return it == map.end() ? NoServices() : it->second;
}

// Keeps one service of a host in each namespace, in order of the namespaces.
void AddByHost(ServiceIndex::Services* of_host, const ServicePtr& service) {
  auto place = std::lower_bound(of_host->begin(), of_host->end(), service->ns,
                                [](const ServicePtr& s, const Interned& ns) { return s->ns < ns; });
  if (place == of_host->end() || !((*place)->ns == service->ns)) {
    of_host->insert(place, service);
  } else if ((*place)->registry != Registry::kKubernetes && service->registry == Registry::kKubernetes) {
    // Nobody may squat on the name of a Kubernetes service with an older ServiceEntry.
    *place = service;
  }
}

std::string SelectorPair(std::string_view ns, std::string_view key, std::string_view value) {
  return StrCat(ns, " ", key, "=", value);
}

bool SelectsPods(const model::Service& service) {
  return service.registry == Registry::kKubernetes && !service.selector.empty();
}

// Files each service with a selector under the pair of it that the fewest services of its namespace share, so
// that a look-up meets few that do not match.
StringMap<std::vector<uint32_t>> IndexSelectors(const ServiceIndex::Services& services) {
  StringMap<uint32_t> sharing;
  for (const ServicePtr& service : services) {
    if (!SelectsPods(*service)) continue;
    for (const auto& [key, value] : service->selector) ++sharing[SelectorPair(service->ns, key, value)];
  }
  StringMap<std::vector<uint32_t>> index;
  for (uint32_t i = 0; i < services.size(); ++i) {
    const model::Service& service = *services[i];
    if (!SelectsPods(service)) continue;
    const auto rarest = std::min_element(service.selector.begin(), service.selector.end(),
                                         [&sharing, &service](const auto& a, const auto& b) {
                                           return sharing[SelectorPair(service.ns, a.first, a.second)] <
                                                  sharing[SelectorPair(service.ns, b.first, b.second)];
                                         });
    index[SelectorPair(service.ns, rarest->first, rarest->second)].push_back(i);
  }
  return index;
}

}  // namespace

bool ServiceBefore(const ServicePtr& a, const ServicePtr& b) {
  if (a->creation_time != b->creation_time) return a->creation_time < b->creation_time;
  if (a->name != b->name) return a->name < b->name;
  if (!(a->ns == b->ns)) return a->ns < b->ns;
  if (a->registry != b->registry) return a->registry < b->registry;
  if (!(a->hostname == b->hostname)) return a->hostname < b->hostname;
  return a->address < b->address;
}

std::shared_ptr<const ServiceIndex> ServiceIndexBuilder::Build(std::vector<ServicePtr> services) {
  auto index = std::make_shared<ServiceIndex>();
  index->all_ = std::move(services);
  std::sort(index->all_.begin(), index->all_.end(), ServiceBefore);
  index->by_host_.reserve(index->all_.size());
  for (const ServicePtr& service : index->all_) {
    AddByHost(&index->by_host_[service->hostname.str()], service);
    index->by_namespace_[service->ns.str()].push_back(service);
    if (service->visibility.everywhere) {
      index->everywhere_.push_back(service);
    } else {
      for (const std::string& ns : service->visibility.namespaces) index->exported_[ns].push_back(service);
    }
  }
  index->by_selector_pair_ = IndexSelectors(index->all_);
  return index;
}

ServiceIndex::Services ServiceIndex::Selecting(std::string_view ns, const LabelMap& labels) const {
  std::vector<uint32_t> positions;
  for (const auto& [key, value] : labels) {
    auto it = by_selector_pair_.find(SelectorPair(ns, key, value));
    if (it == by_selector_pair_.end()) continue;
    for (uint32_t position : it->second) {
      if (SelectorMatches(all_[position]->selector, labels)) positions.push_back(position);
    }
  }
  std::sort(positions.begin(), positions.end());
  Services selecting;
  for (uint32_t position : positions) selecting.push_back(all_[position]);
  return selecting;
}

model::ServicePtr ServiceIndex::Find(std::string_view hostname, std::string_view ns) const {
  for (const ServicePtr& service : ByHost(hostname)) {
    if (service->ns == ns) return service;
  }
  return nullptr;
}

const ServiceIndex::Services& ServiceIndex::ByHost(std::string_view hostname) const {
  return FindOrNone(by_host_, hostname);
}

const ServiceIndex::Services& ServiceIndex::InNamespace(std::string_view ns) const {
  return FindOrNone(by_namespace_, ns);
}

ServiceIndex::Services ServiceIndex::VisibleIn(std::string_view ns) const {
  const Services& exported = FindOrNone(exported_, ns);
  Services visible;
  visible.reserve(exported.size() + everywhere_.size());
  visible.insert(visible.end(), exported.begin(), exported.end());
  visible.insert(visible.end(), everywhere_.begin(), everywhere_.end());
  return visible;
}

}  // namespace fairlead::mesh
