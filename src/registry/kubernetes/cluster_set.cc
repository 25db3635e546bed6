#include "registry/kubernetes/cluster_set.h"

#include <algorithm>
#include <utility>

#include "base/ip_address.h"
#include "base/strings.h"
#include "config/kubernetes_types.h"

namespace fairlead::registry {
namespace {

constexpr std::string_view kDomain = ".svc.clusterset.local";

bool SetObject(const Name& name, const config::ConfigPtr& object, SortedMap<Name, config::ConfigPtr>* all) {
  const config::ConfigPtr* before = all->Find(name);
  if (object == nullptr) {
    if (before == nullptr) return false;
    all->Erase(name);
    return true;
  }
  if (before != nullptr && *before == object) return false;
  all->Set(name, object);
  return true;
}

}  // namespace

std::string ClusterSetHostname(std::string_view name, std::string_view ns) {
  return StrCat(name, ".", ns, kDomain);
}

bool IsClusterSetHostname(std::string_view host) { return host.ends_with(kDomain); }

std::vector<std::string> ImportedAddresses(const config::ConfigObject& service_import) {
  std::vector<std::string> addresses = service_import.Spec<config::ServiceImportSpec>().ips;
  std::erase_if(addresses, [](const std::string& address) { return !IsIpAddress(address); });
  std::sort(addresses.begin(), addresses.end());
  return addresses;
}

// The object of the import's own cluster stands behind it: which cluster it is of, and which pods serve it.
model::Service MakeImportedService(const config::ConfigPtr& service_import, const model::Service& real,
                                   const model::Service* here) {
  model::Service service = real;
  service.hostname = ClusterSetHostname(real.name, real.ns.str());
  service.cluster_vips = ImportedAddresses(*service_import);
  service.address = service.cluster_vips.front();
  service.source = here == nullptr ? service_import : here->source;
  if (here == nullptr) service.selector.clear();
  return service;
}

bool ClusterSet::SetExport(const Name& name, const config::ConfigPtr& object) {
  return SetObject(name, object, &exports_);
}

void ClusterSet::SetImport(const Name& name, const config::ConfigPtr& object) {
  SetObject(name, object, &imports_);
}

bool ClusterSet::Update(const Name& name, const model::Service* real, const model::Service* here,
                        const MeshFacts& facts, ServiceTable* services) {
  const config::ObjectKey key{config::Kind::kServiceImport, name.first, name.second, facts.object_cluster};
  const config::ConfigPtr* const object = imports_.Find(name);
  const model::ServicePtr before = Imported(name);
  model::ServicePtr now;
  if (object != nullptr && real != nullptr && !ImportedAddresses(**object).empty()) {
    std::vector<model::Service> made;
    made.push_back(MakeImportedService(*object, *real, here));
    services->Set(key, std::move(made));
    now = services->PlainOf(key);
  } else if (before != nullptr) {
    services->Set(key, {});
  }
  if (now == before) return false;
  if (now != nullptr) {
    imported_.Set(name, now);
  } else {
    imported_.Erase(name);
  }
  return true;
}

model::ServicePtr ClusterSet::Imported(const Name& name) const {
  const model::ServicePtr* found = imported_.Find(name);
  return found == nullptr ? nullptr : *found;
}

bool ClusterSet::KeepsEndpoints(const Name& name, bool of_cluster_set, bool has_service,
                                const model::Features& features) const {
  if (!features.mcs_discovery) return false;
  if (!has_service) return true;
  return (features.mcs_cluster_local && !of_cluster_set) || !Exports(name);
}

}  // namespace fairlead::registry
