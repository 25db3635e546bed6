#include "simulate/name_resolution.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "base/closest_name.h"
#include "base/ip_address.h"
#include "base/strings.h"

namespace fairlead::simulate {
namespace {

constexpr int kMaxAliases = 8;  // as many ExternalNames in a row are followed
constexpr int kSearchDots = 5;  // Kubernetes' ndots: names with fewer dots try the search domains first

using Services = std::vector<model::ServicePtr>;

std::vector<std::string> SearchNames(const model::Proxy& proxy, std::string_view name) {
  std::vector<std::string> names;
  if (std::count(name.begin(), name.end(), '.') < kSearchDots && !name.ends_with('.')) {
    std::string_view domain = proxy.domain;  // "default.svc.cluster.local", then "svc.cluster.local", …
    for (int i = 0; i < 3 && !domain.empty(); ++i) {
      names.push_back(StrCat(name, ".", domain));
      const size_t dot = domain.find('.');
      domain = dot == domain.npos ? std::string_view() : domain.substr(dot + 1);
    }
  }
  names.emplace_back(name.substr(0, name.find_last_not_of('.') + 1));
  return names;
}

// Of the namespaces that have the host the one that the proxy sees, else any.
model::ServicePtr FindService(const mesh::MeshSnapshot& snapshot, const mesh::ProxyScope& scope,
                              std::string_view host) {
  if (model::ServicePtr visible = scope.sidecar->imports->FindService(host)) return visible;
  const Services& all = snapshot.services->ByHost(host);
  return all.empty() ? nullptr : all.front();
}

// The ServiceEntry with the longest wildcard host that covers the name.
model::ServicePtr FindWildcard(const mesh::MeshSnapshot& snapshot, std::string_view name) {
  model::ServicePtr best;
  for (const model::ServicePtr& one : snapshot.services->All()) {
    const std::string_view host = one->hostname.str();
    if (!host.starts_with("*.") || !name.ends_with(host.substr(1))) continue;
    if (best == nullptr || host.size() > best->hostname.str().size()) best = one;
  }
  return best;
}

std::optional<std::string> EndpointAddress(const mesh::MeshSnapshot& snapshot, const model::Service& service,
                                           std::string_view pod) {
  const auto endpoints = snapshot.endpoints->Find(service.hostname.str(), service.ns.str());
  if (endpoints == nullptr) return std::nullopt;
  for (const model::EndpointShard& shard : endpoints->shards) {
    for (const model::Endpoint& one : shard.endpoints) {
      if (one.addresses.empty() || (!pod.empty() && one.workload->hostname.str() != pod)) continue;
      return one.addresses.front().str();
    }
  }
  return std::nullopt;
}

std::optional<std::string> AddressOf(const mesh::MeshSnapshot& snapshot, const mesh::ProxyScope& scope,
                                     const model::Service& service) {
  // A dual-stack service has an address for a pod that has IPv6 alone.
  if (!scope.proxy->supports_ipv4) {
    for (const std::string& vip : service.cluster_vips) {
      if (vip.find(':') != vip.npos) return vip;
    }
  }
  const bool has_own = !service.address.empty() && service.address != "0.0.0.0";
  if (has_own) return service.address.substr(0, service.address.find('/'));
  if (service.headless()) return EndpointAddress(snapshot, service, "");
  const bool allocates = scope.proxy->metadata.dns_capture && !service.auto_allocated_ipv4.empty();
  return allocates ? std::optional(service.auto_allocated_ipv4) : std::nullopt;
}

// "pod.service": a pod of a headless service by its hostname.
std::optional<std::string> PodAddress(const mesh::MeshSnapshot& snapshot, std::string_view name) {
  const size_t dot = name.find('.');
  if (dot == name.npos) return std::nullopt;
  for (const model::ServicePtr& one : snapshot.services->ByHost(name.substr(dot + 1))) {
    if (one->headless()) return EndpointAddress(snapshot, *one, name.substr(0, dot));
  }
  return std::nullopt;
}

ResolvedName Unknown(const model::Proxy& proxy, std::string_view name) {
  const std::string_view address = proxy.supports_ipv4 ? kUnknownAddress : kUnknownIpv6Address;
  return {std::string(address),
          StrCat("the mesh does not know the address of ", name, ": ", address, " stands for it")};
}

ResolvedName Resolve(const mesh::MeshSnapshot& snapshot, const mesh::ProxyScope& scope, std::string_view name,
                     int aliases) {
  if (IsIpAddress(name)) return {std::string(name), ""};
  for (const std::string& candidate : SearchNames(*scope.proxy, name)) {
    if (const model::ServicePtr service = FindService(snapshot, scope, candidate)) {
      if (service->resolution == model::Resolution::kAlias && aliases > 0)
        return Resolve(snapshot, scope, service->external_name, aliases - 1);
      if (const auto address = AddressOf(snapshot, scope, *service)) return {*address, ""};
      return Unknown(*scope.proxy, candidate);
    }
    if (const auto address = PodAddress(snapshot, candidate)) return {*address, ""};
  }
  const model::ServicePtr wildcard = FindWildcard(snapshot, name);
  const auto address = wildcard == nullptr ? std::nullopt : AddressOf(snapshot, scope, *wildcard);
  return address ? ResolvedName{*address, ""} : Unknown(*scope.proxy, name);
}

// As users write it: "reviews.bookshop" of the cluster's own, the host of others.
std::string NameOf(const model::Service& service) {
  return service.registry == model::Registry::kKubernetes ? StrCat(service.name, ".", service.ns.str())
                                                          : service.hostname.str();
}

std::string MissingPort(const model::Service& service, uint32_t port) {
  std::vector<std::string> ports;
  for (const model::ServicePort& one : service.ports) {
    if (one.port == port) return "";
    ports.push_back(StrCat(one.port));
  }
  if (ports.empty()) return StrCat(NameOf(service), " has no ports");
  return StrCat(NameOf(service), ports.size() == 1 ? " has port " : " has ports ", Join(ports, ", "),
                ", not ", port);
}

// Names that the cluster's DNS alone may know: of one label, in the cluster's domain, or of a namespace.
bool IsOfCluster(const mesh::MeshSnapshot& snapshot, const model::Proxy& proxy, std::string_view name) {
  const size_t dot = name.find('.');
  if (dot == name.npos) return true;
  if (name.ends_with(StrCat(".svc.", snapshot.settings->domain)) || name.ends_with(".svc")) return true;
  const std::string_view ns = name.substr(dot + 1);
  return ns == proxy.ns || snapshot.services->Namespace(ns) != nullptr;
}

std::string MissingHost(const mesh::MeshSnapshot& snapshot, const model::Proxy& proxy,
                        std::string_view name) {
  std::vector<std::string> known;
  for (const model::ServicePtr& service : snapshot.services->All()) {
    if (service->ns.str() == proxy.ns) known.push_back(service->name);
    known.push_back(NameOf(*service));
  }
  const std::string meant = ClosestName(std::string(name), known);
  return StrCat("nobody has the host ", name, meant.empty() ? "" : StrCat("; did you mean ", meant, "?"));
}

}  // namespace

std::string MissingTarget(const mesh::MeshSnapshot& snapshot, const mesh::ProxyScope& scope,
                          std::string_view host, uint32_t port) {
  const std::string name = AsciiLower(host);
  if (IsIpAddress(name)) return "";
  for (const std::string& candidate : SearchNames(*scope.proxy, name)) {
    if (const model::ServicePtr service = FindService(snapshot, scope, candidate))
      return service->resolution == model::Resolution::kAlias ? "" : MissingPort(*service, port);
    if (PodAddress(snapshot, candidate)) return "";
  }
  if (FindWildcard(snapshot, name) != nullptr || !IsOfCluster(snapshot, *scope.proxy, name)) return "";
  return MissingHost(snapshot, *scope.proxy, name);
}

ResolvedName ResolveName(const mesh::MeshSnapshot& snapshot, const mesh::ProxyScope& scope,
                         std::string_view name) {
  return Resolve(snapshot, scope, AsciiLower(name), kMaxAliases);
}

}  // namespace fairlead::simulate
