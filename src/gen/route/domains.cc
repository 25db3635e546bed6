#include "gen/route/domains.h"

#include <algorithm>
#include <utility>

#include "base/ip_address.h"
#include "model/service_addresses.h"

namespace fairlead::gen::route {
namespace {

constexpr std::string_view kServiceLabel = ".svc.";

void AddWithPort(std::string_view host, uint32_t port, std::vector<std::string>* out) {
  out->push_back(BracketIpv6(host));
  if (port != 0) out->push_back(HostAndPort(host, port));
}

// Of Kubernetes services. A client of the same namespace needs no more than the service's name.
void AddKubernetesShortNames(std::string_view host, uint32_t port, std::string_view client_domain,
                             std::vector<std::string>* out) {
  const size_t label = host.find(kServiceLabel);
  const size_t dot = host.find('.');
  if (label == std::string_view::npos || label == 0 || dot + 1 > label) return;
  const std::string_view name_and_namespace = host.substr(0, label);
  const std::string with_label = StrCat(name_and_namespace, ".svc");
  const std::string_view client_namespace = client_domain.substr(0, client_domain.find(kServiceLabel));
  if (host.substr(dot + 1, label - dot - 1) == client_namespace) {
    AddWithPort(host.substr(0, dot), port, out);
    AddWithPort(with_label, port, out);
    AddWithPort(name_and_namespace, port, out);
  } else {
    AddWithPort(name_and_namespace, port, out);
    AddWithPort(with_label, port, out);
  }
}

// Outside Kubernetes: what is left of the host when the end that it shares with the client's domain is cut
// off.
void AddRelativeNames(std::string_view host, uint32_t port, std::string_view client_domain,
                      std::vector<std::string>* out) {
  const std::vector<std::string_view> parts = Split(host, '.');
  const std::vector<std::string_view> domain = Split(client_domain, '.');
  size_t shared = 0;
  while (shared < std::min(parts.size(), domain.size()) &&
         parts[parts.size() - 1 - shared] == domain[domain.size() - 1 - shared]) {
    ++shared;
  }
  if (shared == 0) return;
  const std::vector<std::string_view> own(parts.begin(), parts.end() - static_cast<std::ptrdiff_t>(shared));
  const std::string relative = Join(own, ".");
  AddWithPort(relative, port, out);
  if (own.size() == 2) AddWithPort(StrCat(relative, ".", parts[parts.size() - shared]), port, out);
}

// The name with the DNS root's dot.
void AddAbsoluteName(std::string_view host, uint32_t port, std::vector<std::string>* out) {
  std::string absolute = StrCat(host, ".");
  if (port != 0) {
    if (!IsIpAddress(host)) out->push_back(absolute);
    out->push_back(HostAndPort(absolute, port));
  } else if (!IsIpAddress(host)) {
    out->push_back(std::move(absolute));
  }
}

void AddAlternateHosts(std::string_view host, uint32_t port, const ClientNames& client,
                       std::vector<std::string>* out) {
  const std::string_view client_domain = client.domain;
  if (client.absolute) AddAbsoluteName(host, port, out);
  const size_t label = client_domain.find(kServiceLabel);
  if (label == std::string_view::npos) {
    AddRelativeNames(host, port, client_domain, out);
    return;
  }
  // Short forms of anything but the cluster's own services could mean such a service.
  const std::string_view cluster_suffix = label > 0 ? client_domain.substr(label) : client_domain;
  if (host.ends_with(cluster_suffix)) AddKubernetesShortNames(host, port, client_domain, out);
}

}  // namespace

std::string BracketIpv6(std::string_view host) {
  return host.find(':') == std::string_view::npos ? std::string(host) : StrCat("[", host, "]");
}

std::string HostAndPort(std::string_view host, uint32_t port) { return StrCat(BracketIpv6(host), ":", port); }

std::vector<std::string> AlternateHosts(std::string_view host, uint32_t port, const ClientNames& client) {
  std::vector<std::string> out;
  AddAlternateHosts(host, port, client, &out);
  return out;
}

std::vector<Domain> ServiceDomains(const model::Service& service, std::string_view host, uint32_t port,
                                   const ClientNames& client, const std::vector<std::string>& addresses) {
  std::vector<Domain> out;
  out.reserve(8);
  std::vector<std::string> names;
  const auto add = [&](bool alternate) {
    for (std::string& name : names) out.push_back({std::move(name), alternate});
    names.clear();
  };
  const auto add_host = [&](std::string_view name) {
    AddWithPort(name, port, &names);
    add(false);
    AddAlternateHosts(name, port, client, &names);
    add(true);
  };
  add_host(host);
  for (const model::NamespacedHost& alias : service.aliases) add_host(alias.hostname);
  if (service.headless()) {
    for (size_t i = 0, hosts = out.size(); i < hosts; ++i) out.push_back({StrCat("*.", out[i].name)});
  }
  for (const std::string& address : addresses) {
    if (!address.empty() && address != model::kUnspecifiedAddress) AddWithPort(address, port, &names);
  }
  add(false);
  return out;
}

DomainSet::DomainSet(size_t hosts) {
  taken_.reserve(hosts * 6);
  real_names_.reserve(hosts);
}

bool DomainSet::Take(const std::string& domain) {
  const auto capital = [](char c) { return c >= 'A' && c <= 'Z'; };
  if (std::none_of(domain.begin(), domain.end(), capital)) return taken_.insert(domain).second;
  std::string lower = AsciiLower(domain);
  if (taken_.contains(lower)) return false;
  return taken_.insert(lowered_.emplace_back(std::move(lower))).second;
}

std::vector<std::string> DomainSet::Claim(std::vector<Domain> domains) {
  std::vector<std::string> out;
  out.reserve(domains.size());
  for (Domain& domain : domains) {
    if (domain.alternate && real_names_.contains(domain.name)) continue;
    out.push_back(std::move(domain.name));
    if (!Take(out.back())) out.pop_back();
  }
  return out;
}

}  // namespace fairlead::gen::route
