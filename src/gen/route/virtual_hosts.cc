#include "gen/route/virtual_hosts.h"

#include <algorithm>
#include <deque>
#include <utility>

#include "gen/route/domains.h"
#include "gen/route/host_group.h"
#include "gen/route/sessions.h"

namespace fairlead::gen::route {
namespace {

// A listener of a port knows a service without virtual IPs by one address: of two that were allocated, the
// first.
std::vector<std::string> AddressesOf(const model::Service& service, const HostInputs& inputs) {
  const model::AddressView& view = inputs.client.addresses;
  if (inputs.port != 0 && service.cluster_vips.empty()) return {model::PrimaryAddress(service, view)};
  return model::AllAddresses(service, view);
}

// Whether domains say their port: a listener's route configuration ignores ports in host headers, but clients
// of a proxy tell ports apart by them, and gRPC libraries compare them.
bool DomainsHavePorts(const HostInputs& inputs) { return inputs.port == 0 || inputs.client.proxyless; }

// Collects virtual hosts; who comes first has the name and the domains.
class Collector {
 public:
  Collector(const HostInputs& inputs, const std::vector<HostGroup>& groups)
      : inputs_(inputs), domains_(groups.size()) {
    hosts_.reserve(groups.size());
    names_.reserve(groups.size());
    for (const HostGroup& group : groups) {
      for (const RoutedService* service : group.services) {
        domains_.AddRealName(service->host);
        if (DomainsHavePorts(inputs))
          domains_.AddRealName(real_.emplace_back(HostAndPort(service->host, group.port)));
      }
    }
  }

  void Add(const HostGroup& group) {
    for (const std::string& host : group.hosts) {
      const std::string name = AsciiLower(host);
      std::vector<Domain> domains;
      domains.push_back({BracketIpv6(name)});
      if (inputs_.client.proxyless) domains.push_back({HostAndPort(name, group.port)});
      Add(name, std::move(domains), group);
    }
    for (const RoutedService* service : group.services) {
      const uint32_t port = DomainsHavePorts(inputs_) ? group.port : 0;
      Add(service->host,
          ServiceDomains(*service->service, service->host, port,
                         {inputs_.client.dns_domain.str(), inputs_.settings->features.absolute_names},
                         AddressesOf(*service->service, inputs_)),
          group, EncodedHostSession(SessionOf(inputs_.settings->features, service->service->labels)));
    }
  }

  VirtualHosts Take() {
    if (inputs_.port == 0) RemoveDomainsWithoutPort();
    std::sort(hosts_.begin(), hosts_.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
    return std::move(hosts_);
  }

 private:
  void Add(std::string_view host, std::vector<Domain> domains, const HostGroup& group,
           std::string session = "") {
    std::string name = HostAndPort(host, group.port);
    if (!names_.insert(name).second) return;
    std::vector<std::string> claimed = domains_.Claim(std::move(domains));
    if (claimed.empty()) return;
    hosts_.push_back({std::move(name), std::move(claimed), group.routes, std::move(session)});
    ports_.push_back(group.port);
  }

  // A proxy client that means another port than 80 says so.
  void RemoveDomainsWithoutPort() {
    for (size_t i = 0; i < hosts_.size(); ++i) {
      if (ports_[i] == 80) continue;
      std::erase_if(hosts_[i].domains, [](const std::string& d) { return d.find(':') == std::string::npos; });
    }
    std::erase_if(hosts_, [](const VirtualHost& host) { return host.domains.empty(); });
  }

  const HostInputs& inputs_;
  DomainSet domains_;
  StringSet names_;
  VirtualHosts hosts_;
  std::vector<uint32_t> ports_;   // of hosts_
  std::deque<std::string> real_;  // that domains_ has views of
};

}  // namespace

VirtualHosts BuildVirtualHosts(const HostInputs& inputs) {
  const RoutedServices table(inputs.services, inputs.port);
  const std::vector<HostGroup> groups = GroupHosts(inputs, table);
  Collector collector(inputs, groups);
  for (const HostGroup& group : groups) collector.Add(group);
  return collector.Take();
}

VirtualHosts SniffedHosts(const VirtualHosts& all, std::string_view host_and_port, std::string_view host) {
  VirtualHosts out;
  for (const VirtualHost& candidate : all) {
    const auto answers = [&](const std::string& domain) { return domain == host_and_port || domain == host; };
    if (std::any_of(candidate.domains.begin(), candidate.domains.end(), answers)) out.push_back(candidate);
  }
  if (out.size() == 1) out.front().domains = {"*"};
  return out;
}

}  // namespace fairlead::gen::route
