#ifndef FAIRLEAD_MESH_VIEW_EGRESS_HOSTS_H_
#define FAIRLEAD_MESH_VIEW_EGRESS_HOSTS_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/strings.h"
#include "mesh/index/routing_objects.h"
#include "model/service.h"

namespace fairlead::mesh {

// Host patterns for the services of one namespace (or of all).
class HostPatterns {
 public:
  void Import(std::string_view host);
  void Exclude(std::string_view host) { excluded_.emplace_back(host); }

  // Whether a hostname, which may be a wildcard, is wholly covered.
  bool Covers(std::string_view hostname) const;
  // Whether a host of a VirtualService has something in common with what is imported.
  bool Meets(std::string_view host) const;
  bool Excludes(std::string_view hostname) const;

  const StringSet& exact() const { return exact_; }
  // Whether there is anything that it could cover.
  bool ImportsAny() const { return !exact_.empty() || !wildcards_.empty(); }

 private:
  StringSet exact_;
  std::vector<std::string> wildcards_;
  std::vector<std::string> excluded_;
  bool everything_ = false;  // "*" is among the wildcards
};

// The `hosts` of an egress listener: "namespace/host" entries, where the namespace may be "*" (all), "." (the
// Sidecar's own), "~" or "~namespace" (the host is excluded), and the host a name or a wildcard. Other
// entries are left out. Source: istio.networking.v1alpha3.IstioEgressListener.hosts.
class EgressHosts {
 public:
  template <typename Strings>
  EgressHosts(const Strings& hosts, std::string_view own_namespace) {
    for (const std::string& entry : hosts) Add(entry, own_namespace);
  }

  bool ImportsService(const model::Service& service) const { return Importer(service) != nullptr; }
  // Those of an imported service's aliases that are imported along with it.
  std::vector<model::NamespacedHost> ImportedAliases(const model::Service& service) const;
  bool ImportsVirtualService(const VirtualService& virtual_service) const;

  // Whether every import is for one named namespace and one hostname.
  bool all_exact() const { return all_exact_; }
  // The namespaces that anything is imported from; nothing where that may be any.
  std::optional<std::vector<std::string_view>> Namespaces() const;
  const StringMap<HostPatterns>& by_namespace() const { return by_namespace_; }

 private:
  void Add(std::string_view entry, std::string_view own_namespace);
  const HostPatterns* Find(std::string_view ns) const;
  // The patterns that import the service; null if none do.
  const HostPatterns* Importer(const model::Service& service) const;
  bool ImportsHost(const HostPatterns& patterns, std::string_view host, const VirtualService& of) const;

  StringMap<HostPatterns> by_namespace_;  // "*" for all
  bool all_exact_ = true;
};

}  // namespace fairlead::mesh

#endif  // FAIRLEAD_MESH_VIEW_EGRESS_HOSTS_H_
