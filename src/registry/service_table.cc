#include "registry/service_table.h"

#include <algorithm>
#include <memory>

namespace fairlead::registry {
namespace {

using model::Service;
using model::ServicePtr;

bool IsAlias(const Service& service) { return service.resolution == model::Resolution::kAlias; }

// Where a chain of ExternalName services ends; "" where it runs in a circle.
std::string EndOfChain(const std::map<std::string, std::string>& names, const std::string& alias) {
  std::set<std::string> seen{alias};
  std::string at = names.at(alias);
  for (auto it = names.find(at); it != names.end(); it = names.find(at)) {
    if (!seen.insert(at).second) return "";
    at = it->second;
  }
  return at;
}

}  // namespace

ServicePtr ServiceTable::Complete(const ServicePtr& plain, const std::vector<ServicePtr>& elsewhere) const {
  const auto it = aliases_.find(plain->hostname);
  if (it == aliases_.end() && elsewhere.empty()) return plain;
  auto service = std::make_shared<Service>(*plain);
  if (it != aliases_.end()) service->aliases = it->second;
  service->in_other_clusters = elsewhere;
  std::set<std::string> accounts(plain->service_accounts.begin(), plain->service_accounts.end());
  for (const ServicePtr& one : elsewhere)
    accounts.insert(one->service_accounts.begin(), one->service_accounts.end());
  if (!elsewhere.empty()) service->service_accounts.assign(accounts.begin(), accounts.end());
  return service;
}

void ServiceTable::SetComplete(Item* item, ServicePtr complete) {
  const ServicePtr& before = item->complete;
  if (before == complete || (before != nullptr && complete != nullptr && *before == *complete)) return;
  if (before != nullptr) all_.Erase(before);
  if (complete != nullptr) all_.Insert(complete);
  item->complete = std::move(complete);
}

// The Services of one name, that of the control plane's own cluster first.
std::vector<config::ObjectKey> ServiceTable::InAllClusters(const Interned& host,
                                                           const config::ObjectKey& service) const {
  std::vector<config::ObjectKey> keys;
  const std::set<config::ObjectKey>* sources = sources_by_host_.Find(host);
  if (sources == nullptr) return keys;
  for (auto it = sources->lower_bound({service.kind, service.ns, service.name});
       it != sources->end() && it->kind == service.kind && it->ns == service.ns && it->name == service.name;
       ++it) {
    keys.push_back(*it);
  }
  return keys;
}

// Makes the first cluster's service stand for those of all clusters.
void ServiceTable::JoinClusters(const Interned& host, const config::ObjectKey& service) {
  const std::vector<config::ObjectKey> keys = InAllClusters(host, service);
  if (keys.empty()) return SetExternalName({host, service.ns}, nullptr);
  std::vector<ServicePtr> elsewhere;
  for (size_t i = 1; i < keys.size(); ++i) {
    const Item& item = by_source_.Find(keys[i])->front();
    elsewhere.push_back(item.plain);
    if (item.complete != nullptr) SetComplete(&by_source_[keys[i]].front(), nullptr);
  }
  const Item first = by_source_.Find(keys.front())->front();
  SetExternalName({host, service.ns}, IsAlias(*first.plain) ? &first.plain->external_name : nullptr);
  if (first.complete != nullptr && first.complete->in_other_clusters == elsewhere) return;
  SetComplete(&by_source_[keys.front()].front(), Complete(first.plain, elsewhere));
}

// Null: the service is none that stands for another one.
void ServiceTable::SetExternalName(const model::ServiceKey& key, const std::string* external_name) {
  const std::string* before = external_names_.Find(key);
  if (before == external_name || (before != nullptr && external_name != nullptr && *before == *external_name))
    return;
  aliases_outdated_ = true;
  if (external_name != nullptr) {
    external_names_.Set(key, *external_name);
  } else {
    external_names_.Erase(key);
  }
}

void ServiceTable::Add(const config::ObjectKey& source, const Item& item) {
  all_.Insert(item.complete);
  sources_by_host_[item.plain->hostname].insert(source);
}

void ServiceTable::Remove(const config::ObjectKey& source, const Item& item) {
  const Service& service = *item.plain;
  all_.Erase(item.complete);
  if (sources_by_host_.contains(service.hostname)) {
    std::set<config::ObjectKey>& sources = sources_by_host_[service.hostname];
    sources.erase(source);
    if (sources.empty()) sources_by_host_.Erase(service.hostname);
  }
}

void ServiceTable::Set(const config::ObjectKey& source, std::vector<Service> services) {
  std::vector<Item> before;
  if (const auto* known = by_source_.Find(source)) before = *known;
  std::vector<Item> now;
  for (Service& service : services) {
    const auto old = std::find_if(before.begin(), before.end(), [&](const Item& item) {
      return item.plain != nullptr && item.plain->hostname == service.hostname &&
             item.plain->address == service.address;
    });
    if (old != before.end() && *old->plain == service) {
      now.push_back(std::move(*old));
      *old = {};
      continue;
    }
    ServicePtr plain = std::make_shared<const Service>(std::move(service));
    now.push_back({plain, Complete(plain)});
  }
  const bool in_clusters =
      source.kind == config::Kind::kService || source.kind == config::Kind::kServiceImport;
  std::set<Interned> hosts;  // to be joined
  for (const Item& item : before) {
    if (item.plain == nullptr) continue;
    Remove(source, item);
    if (in_clusters) hosts.insert(item.plain->hostname);
  }
  for (const Item& item : now) {
    if (in_clusters) hosts.insert(item.plain->hostname);
    // One that stayed is there, but a Remove of another address may have taken its host's link to the source.
    if (item.complete != nullptr && !all_.contains(item.complete)) {
      Add(source, item);
    } else if (!LinksTo(item.plain->hostname, source)) {
      sources_by_host_[item.plain->hostname].insert(source);
    }
  }
  if (now.empty()) {
    by_source_.Erase(source);
  } else {
    by_source_[source] = std::move(now);
  }
  for (const Interned& host : hosts) JoinClusters(host, source);
}

bool ServiceTable::LinksTo(const Interned& host, const config::ObjectKey& source) const {
  const std::set<config::ObjectKey>* sources = sources_by_host_.Find(host);
  return sources != nullptr && sources->contains(source);
}

ServiceTable::AliasesByHost ServiceTable::ComputeAliases() const {
  std::map<std::string, std::string> names;
  for (const auto& [key, external_name] : external_names_) names[key.first.str()] = external_name;
  AliasesByHost aliases;
  for (const auto& [key, external_name] : external_names_) {
    const std::string end = EndOfChain(names, key.first.str());
    if (!end.empty()) aliases[end].push_back({key.first.str(), key.second.str()});
  }
  for (auto& [host, list] : aliases) {
    std::sort(list.begin(), list.end(), [](const model::NamespacedHost& a, const model::NamespacedHost& b) {
      return std::tie(a.ns, a.hostname) < std::tie(b.ns, b.hostname);
    });
  }
  return aliases;
}

void ServiceTable::RefreshHost(const Interned& host) {
  const std::set<config::ObjectKey>* sources = sources_by_host_.Find(host);
  if (sources == nullptr) return;
  for (const config::ObjectKey& source : *sources) {
    for (Item& item : by_source_[source]) {
      if (item.plain->hostname != host || item.complete == nullptr) continue;
      all_.Erase(item.complete);
      item.complete = Complete(item.plain, item.complete->in_other_clusters);
      all_.Insert(item.complete);
    }
  }
}

void ServiceTable::ResolveAliases() {
  if (!aliases_outdated_) return;
  aliases_outdated_ = false;
  const AliasesByHost before = std::exchange(aliases_, ComputeAliases());
  for (const auto& [host, list] : aliases_) {
    const auto old = before.find(host);
    if (old == before.end() || old->second != list) RefreshHost(host);
  }
  for (const auto& [host, list] : before) {
    if (!aliases_.contains(host)) RefreshHost(host);
  }
}

std::vector<ServicePtr> ServiceTable::Of(const config::ObjectKey& source) const {
  std::vector<ServicePtr> services;
  const std::vector<Item>* items = by_source_.Find(source);
  if (items == nullptr) return services;
  for (const Item& item : *items) services.push_back(item.complete);
  return services;
}

ServicePtr ServiceTable::PlainOf(const config::ObjectKey& service) const {
  return by_source_.Find(service)->front().plain;
}

}  // namespace fairlead::registry
