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

ServicePtr ServiceTable::Complete(const ServicePtr& plain) const {
  const auto it = aliases_.find(plain->hostname);
  if (it == aliases_.end()) return plain;
  auto service = std::make_shared<Service>(*plain);
  service->aliases = it->second;
  return service;
}

void ServiceTable::Add(const config::ObjectKey& source, const Item& item) {
  const Service& service = *item.plain;
  all_.Insert(item.complete);
  sources_by_host_[service.hostname].insert(source);
  if (IsAlias(service)) {
    external_names_.Set({service.hostname, service.ns}, service.external_name);
    aliases_outdated_ = true;
  }
}

void ServiceTable::Remove(const config::ObjectKey& source, const Item& item) {
  const Service& service = *item.plain;
  all_.Erase(item.complete);
  if (sources_by_host_.contains(service.hostname)) {
    std::set<config::ObjectKey>& sources = sources_by_host_[service.hostname];
    sources.erase(source);
    if (sources.empty()) sources_by_host_.Erase(service.hostname);
  }
  if (IsAlias(service)) {
    external_names_.Erase({service.hostname, service.ns});
    aliases_outdated_ = true;
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
  for (const Item& item : before) {
    if (item.plain != nullptr) Remove(source, item);
  }
  for (const Item& item : now) {
    // One that stayed is there, but a Remove of another address may have taken its host's link to the source.
    if (!all_.contains(item.complete)) {
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
      if (item.plain->hostname != host) continue;
      all_.Erase(item.complete);
      item.complete = Complete(item.plain);
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

}  // namespace fairlead::registry
