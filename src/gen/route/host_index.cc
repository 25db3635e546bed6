#include "gen/route/host_index.h"

#include <google/protobuf/arena.h>

#include <memory>
#include <utility>
#include <vector>

#include "envoy/config/route/v3/route.pb.h"
#include "gen/route/catch_all.h"
#include "gen/route/patched.h"
#include "gen/route/route_name.h"
#include "proto/messages.h"
#include "proto/wire.h"

namespace fairlead::gen::route {
namespace {

namespace pb = envoy::config::route::v3;

bool IsWildcard(std::string_view domain) { return domain.starts_with('*') || domain.ends_with('*'); }

// "a.com" of "a.com:80", "[::1]" of "[::1]:80".
std::string_view WithoutPort(std::string_view host) {
  const size_t colon = host.rfind(':');
  if (colon == std::string_view::npos || host.ends_with(']')) return host;
  const bool address = host.find(':') != colon && !host.starts_with('[');
  return address ? host : host.substr(0, colon);
}

// What the message holds besides name and domains stays with the routes.
VirtualHost HostOf(pb::VirtualHost message) {
  VirtualHost host{message.name(), {message.domains().begin(), message.domains().end()}, nullptr, ""};
  message.clear_name();
  message.clear_domains();
  host.routes = std::make_shared<const std::string>(proto::DeterministicBytes(message));
  return host;
}

VirtualHost CatchAllHost(const CatchAll& policy) {
  pb::VirtualHost message;
  BuildCatchAllVirtualHost(policy, &message);
  message.clear_include_request_attempt_count();
  return HostOf(std::move(message));
}

}  // namespace

HostIndex::HostIndex(VirtualHosts hosts, bool include_attempt_count, bool ignore_ports)
    : hosts_(std::move(hosts)), include_attempt_count_(include_attempt_count), ignore_ports_(ignore_ports) {
  for (const VirtualHost& host : hosts_) {
    for (const std::string& domain : host.domains) {
      const bool lower = AsciiLower(domain) == domain;
      Add(host, lower ? domain : lowered_.emplace_back(AsciiLower(domain)));
    }
  }
}

// The first virtual host that has a domain keeps it.
void HostIndex::Add(const VirtualHost& host, std::string_view domain) {
  exact_.try_emplace(domain, &host);
  if (domain == "*") {
    if (any_ == nullptr) any_ = &host;
    return;
  }
  if (domain.starts_with('*')) suffixes_.try_emplace(domain.substr(1), &host);
  if (domain.ends_with('*')) prefixes_.try_emplace(domain.substr(0, domain.size() - 1), &host);
}

// By Envoy's rules: exact, then the longest "*.suffix", then the longest "prefix.*", then "*". An asterisk
// stands for one character at least.
const VirtualHost* HostIndex::Find(std::string_view host) const {
  if (const auto at = exact_.find(host); at != exact_.end()) return at->second;
  for (size_t begin = 1; begin <= host.size() && !suffixes_.empty(); ++begin) {
    if (const auto at = suffixes_.find(host.substr(begin)); at != suffixes_.end()) return at->second;
  }
  for (size_t length = host.size(); length-- > 0 && !prefixes_.empty();) {
    if (const auto at = prefixes_.find(host.substr(0, length)); at != prefixes_.end()) return at->second;
  }
  return any_;
}

std::optional<std::string> HostIndex::Answer(std::string_view host) const {
  const VirtualHost* found = Find(ignore_ports_ ? WithoutPort(host) : host);
  if (found == nullptr) return std::nullopt;
  bool exact = false;
  std::vector<std::string_view> domains;
  for (const std::string& domain : found->domains) {
    if (IsWildcard(domain)) continue;
    exact |= EqualsIgnoreCase(domain, host);
    domains.push_back(domain);
  }
  std::string bytes;
  proto::AppendField(pb::VirtualHost::kNameFieldNumber, exact ? found->name : StrCat(found->name, "|", host),
                     &bytes);
  if (!exact) domains = {host};
  for (std::string_view domain : domains)
    proto::AppendField(pb::VirtualHost::kDomainsFieldNumber, domain, &bytes);
  bytes.append(*found->routes);
  proto::AppendBool(pb::VirtualHost::kIncludeRequestAttemptCountFieldNumber, include_attempt_count_, &bytes);
  bytes.append(found->session);
  return bytes;
}

std::shared_ptr<const HostIndex> IndexHosts(const Inputs& inputs) {
  const RouteName name = ParseRouteName(inputs.name);
  VirtualHosts hosts;
  if (inputs.hosts != nullptr) hosts = BuildVirtualHosts(*inputs.hosts);
  const bool sniffed = name.kind == RouteName::Kind::kSniffed;
  if (sniffed) {
    hosts = SniffedHosts(hosts, inputs.name, name.host);
  } else {
    hosts.push_back(CatchAllHost(inputs.catch_all));
  }
  const bool include_attempt_count =
      sniffed ? inputs.hosts != nullptr && inputs.hosts->client.include_attempt_count
              : inputs.catch_all.include_attempt_count;
  return std::make_shared<const HostIndex>(std::move(hosts), include_attempt_count, /*ignore_ports=*/true);
}

std::shared_ptr<const HostIndex> IndexHosts(const patch::Patched<Inputs>& inputs) {
  VirtualHosts all;
  if (inputs.inputs.hosts != nullptr) all = BuildVirtualHosts(*inputs.inputs.hosts);
  google::protobuf::Arena arena;
  const pb::RouteConfiguration* routes = PatchedRouteConfiguration(inputs, all, &arena);
  VirtualHosts hosts;
  for (const pb::VirtualHost& host : routes->virtual_hosts()) hosts.push_back(HostOf(host));
  return std::make_shared<const HostIndex>(std::move(hosts), /*include_attempt_count=*/false,
                                           routes->ignore_port_in_host_matching());
}

}  // namespace fairlead::gen::route
