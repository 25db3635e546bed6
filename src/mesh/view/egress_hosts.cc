#include "mesh/view/egress_hosts.h"

#include <algorithm>

#include "istio/networking/v1alpha3/virtual_service.pb.h"
#include "model/host_name.h"

namespace fairlead::mesh {

void HostPatterns::Import(std::string_view host) {
  if (model::IsWildcard(host)) {
    everything_ = everything_ || host == "*";
    wildcards_.emplace_back(host);
  } else {
    exact_.emplace(host);
  }
}

bool HostPatterns::Covers(std::string_view hostname) const {
  if (everything_ || exact_.contains(hostname)) return true;
  return std::any_of(wildcards_.begin(), wildcards_.end(),
                     [hostname](const std::string& w) { return model::HostSubsetOf(hostname, w); });
}

bool HostPatterns::Meets(std::string_view host) const {
  if (everything_ || exact_.contains(host)) return true;
  const auto matches = [host](const std::string& pattern) { return model::HostsMatch(host, pattern); };
  if (std::any_of(wildcards_.begin(), wildcards_.end(), matches)) return true;
  return model::IsWildcard(host) && std::any_of(exact_.begin(), exact_.end(), matches);
}

bool HostPatterns::Excludes(std::string_view hostname) const {
  return std::any_of(excluded_.begin(), excluded_.end(), [hostname](const std::string& pattern) {
    return model::HostSubsetOf(hostname, pattern);
  });
}

void EgressHosts::Add(std::string_view entry, std::string_view own_namespace) {
  const size_t slash = entry.find('/');
  if (slash == std::string_view::npos || entry.find('/', slash + 1) != std::string_view::npos) return;
  std::string_view ns = entry.substr(0, slash);
  const std::string_view host = entry.substr(slash + 1);
  const bool excluded = ns.starts_with('~');
  if (excluded) ns.remove_prefix(1);
  if (excluded && ns.empty()) ns = "*";
  if (ns == ".") ns = own_namespace;
  HostPatterns& patterns = by_namespace_[ns];
  if (excluded) {
    patterns.Exclude(host);
    return;
  }
  patterns.Import(host);
  if (ns == "*" || model::IsWildcard(host)) all_exact_ = false;
}

std::optional<std::vector<std::string_view>> EgressHosts::Namespaces() const {
  std::vector<std::string_view> namespaces;
  for (const auto& [ns, patterns] : by_namespace_) {
    if (!patterns.ImportsAny()) continue;
    if (ns == "*") return std::nullopt;
    namespaces.push_back(ns);
  }
  return namespaces;
}

const HostPatterns* EgressHosts::Find(std::string_view ns) const {
  auto it = by_namespace_.find(ns);
  return it == by_namespace_.end() ? nullptr : &it->second;
}

const HostPatterns* EgressHosts::Importer(const model::Service& service) const {
  const HostPatterns* own = Find(service.ns);
  const HostPatterns* any = Find("*");
  const std::string_view hostname = service.hostname;
  if ((own != nullptr && own->Excludes(hostname)) || (any != nullptr && any->Excludes(hostname)))
    return nullptr;
  if (own != nullptr && own->Covers(hostname)) return own;
  return any != nullptr && any->Covers(hostname) ? any : nullptr;
}

std::vector<model::NamespacedHost> EgressHosts::ImportedAliases(const model::Service& service) const {
  std::vector<model::NamespacedHost> imported;
  if (service.aliases.empty()) return imported;
  const HostPatterns* patterns = Importer(service);
  if (patterns == nullptr) return imported;
  std::copy_if(service.aliases.begin(), service.aliases.end(), std::back_inserter(imported),
               [patterns](const model::NamespacedHost& alias) { return patterns->Covers(alias.hostname); });
  return imported;
}

bool EgressHosts::ImportsHost(const HostPatterns& patterns, std::string_view host,
                              const VirtualService& of) const {
  // A Gateway API route is imported as a service is; the hosts of others need only overlap with what is
  // imported.
  if (!(of.gateway_semantics ? patterns.Covers(host) : patterns.Meets(host))) return false;
  const HostPatterns* own = Find(of.object->ns());
  const HostPatterns* any = Find("*");
  return !(own != nullptr && own->Excludes(host)) && !(any != nullptr && any->Excludes(host));
}

bool EgressHosts::ImportsVirtualService(const VirtualService& virtual_service) const {
  const HostPatterns* own = Find(virtual_service.object->ns());
  const HostPatterns* any = Find("*");
  return std::any_of(virtual_service.spec->hosts().begin(), virtual_service.spec->hosts().end(),
                     [&](const std::string& host) {
                       return (own != nullptr && ImportsHost(*own, host, virtual_service)) ||
                              (any != nullptr && ImportsHost(*any, host, virtual_service));
                     });
}

}  // namespace fairlead::mesh
