#include "gen/listener/outbound_collect.h"

#include <algorithm>
#include <charconv>
#include <span>

#include "base/ip_address.h"
#include "gen/listener/listener_parts.h"
#include "gen/listener/outbound_routes.h"
#include "gen/listener/port_conflicts.h"
#include "istio/mesh/v1alpha1/config.pb.h"
#include "istio/networking/v1alpha3/sidecar.pb.h"
#include "istio/networking/v1alpha3/virtual_service.pb.h"
#include "model/host_name.h"

namespace fairlead::gen::listener {
namespace {

using istio::networking::v1alpha3::CaptureMode;
using istio::networking::v1alpha3::IstioEgressListener;
using model::Protocol;

// A service's place on a listener: what is asked for, before it is known who else is there.
struct Candidate {
  const model::Service* service = nullptr;
  ListenPort port;
  std::vector<std::string> binds;  // empty: the service's own addresses, or all for HTTP
  bool bind_to_port = false;
  std::vector<std::string> destinations;
  std::string address;    // that stands for the service
  bool endpoint = false;  // `destinations` are one endpoint's, which tell it without a name in TLS
};

class Collector {
 public:
  Collector(mesh::View& view, const EncodedFragmentsPtr& l4)
      : view_(view),
        l4_(l4),
        traits_(l4->traits()),
        addresses_(model::AddressViewOf(view.proxy_class(), *traits_.settings)),
        reserved_(view.proxy_class(), *traits_.settings),
        wildcards_(WildcardAddresses(traits_)) {}

  std::vector<OutboundInputs> Collect() {
    for (const mesh::EgressListener& egress : view_.imports().egress) CollectEgress(egress);
    std::vector<std::pair<std::string_view, Listener*>> sorted;
    sorted.reserve(listeners_.size());
    for (const auto& [name, index] : by_name_) sorted.emplace_back(name, &listeners_[index]);
    std::sort(sorted.begin(), sorted.end());
    std::vector<OutboundInputs> listeners;
    listeners.reserve(sorted.size());
    for (auto& [name, listener] : sorted) {
      const auto& chains = listener->made.chains;
      const bool http =
          std::any_of(chains.begin(), chains.end(), [](const OutboundChain& c) { return c.http(); });
      listener->made.fragments = http ? nullptr : l4_;
      listeners.push_back(std::move(listener->made));
    }
    return listeners;
  }

 private:
  struct Listener {
    OutboundInputs made;
    Protocol protocol = Protocol::kUnsupported;  // of what it serves so far; kUnsupported once it sniffs
    bool locked = false;  // a Sidecar's own port: nothing is added by egress listeners after its own
  };

  void CollectEgress(const mesh::EgressListener& egress) {
    stream_routes_ = egress.stream_routes;
    Candidate base;
    base.bind_to_port = BindsToPort(egress.spec);
    if (egress.spec != nullptr && !egress.spec->bind().empty()) {
      base.binds = {egress.spec->bind()};
    } else if (base.bind_to_port) {
      base.binds = LocalhostAddresses(traits_);
    }
    if (egress.spec != nullptr && egress.spec->has_port()) {
      CollectOwnPort(egress, std::move(base));
    } else {
      CollectServicePorts(egress, base);
    }
  }

  bool BindsToPort(const IstioEgressListener* spec) const {
    if (traits_.interception == model::InterceptionMode::kNone) return true;
    // A unix domain socket has no original destination that could lead to it.
    return spec != nullptr &&
           (spec->capture_mode() == CaptureMode::NONE || spec->bind().starts_with("unix://"));
  }

  // A Sidecar's egress listener with a port: all its services on that one.
  void CollectOwnPort(const mesh::EgressListener& egress, Candidate candidate) {
    const auto& port = egress.spec->port();
    candidate.port = {port.number(), model::ParseProtocol(port.protocol()), port.name()};
    if (!CanListen(candidate)) return;
    for (const model::ServicePtr& service : egress.services) {
      Candidate own = candidate;
      own.service = service.get();
      own.address = model::PrimaryAddress(*service, addresses_);
      Add(std::move(own));
    }
  }

  // One without: every port of its services, except on listeners that are there already.
  void CollectServicePorts(const mesh::EgressListener& egress, const Candidate& base) {
    for (Listener& listener : listeners_) listener.locked = true;
    for (const model::ServicePtr& service : egress.services) {
      if (service->resolution == model::Resolution::kAlias) continue;
      const std::string address = model::PrimaryAddress(*service, addresses_);
      for (const model::ServicePort& port : service->ports) {
        Candidate candidate = base;
        candidate.service = service.get();
        candidate.port = {port.port, port.protocol, port.name};
        candidate.address = address;
        if (!CanListen(candidate)) continue;
        const bool sniffed_or_tcp = model::IsTcp(port.protocol) || port.protocol == Protocol::kUnsupported;
        if (candidate.binds.empty() && service->resolution == model::Resolution::kPassthrough &&
            address == model::kUnspecifiedAddress && sniffed_or_tcp) {
          AddForEndpoints(service, port, std::move(candidate));
        } else {
          Add(std::move(candidate));
        }
      }
    }
  }

  bool CanListen(const Candidate& candidate) const {
    return reserved_.CanListen(candidate.binds.empty() ? std::string_view() : candidate.binds.front(),
                               candidate.port.number, candidate.bind_to_port, candidate.port.protocol);
  }

  // TCP to a service without an address: clients connect to its endpoints, each gets a listener. HTTP is told
  // by Host.
  void AddForEndpoints(const model::ServicePtr& service, const model::ServicePort& port,
                       Candidate candidate) {
    const model::ServiceEndpointsPtr all = view_.Endpoints(service->hostname, service->ns);
    std::vector<const model::Endpoint*> endpoints;
    if (all != nullptr) {
      for (const model::EndpointShard& shard : all->shards) {
        for (const model::Endpoint& endpoint : shard.endpoints) {
          if (endpoint.port_name == port.name) endpoints.push_back(&endpoint);
        }
      }
    }
    // Endpoints may yet come to the others: a listener on all addresses meanwhile would conflict with those
    // to come.
    const bool never_has_any = service->registry != model::Registry::kKubernetes && service->selector.empty();
    if (endpoints.empty() && never_has_any) return Add(std::move(candidate));
    for (const model::Endpoint* endpoint : endpoints) {
      const bool valid = std::all_of(endpoint->addresses.begin(), endpoint->addresses.end(),
                                     [](const Interned& address) { return IsIpAddress(address.str()); });
      if (!valid || endpoint->addresses.empty()) continue;
      if (view_.HasAddress(endpoint->addresses.front())) continue;
      Candidate one = candidate;
      one.endpoint = traits_.settings->features.headless_chains && model::IsTcp(port.protocol);
      std::vector<std::string>& addresses = one.endpoint ? one.destinations : one.binds;
      for (const Interned& address : endpoint->addresses) addresses.push_back(address.str());
      if (one.endpoint) one.binds = wildcards_;
      Add(std::move(one));
    }
  }

  // Fills in where the listener is bound, from the service's addresses where nothing else says.
  void ResolveBinds(ListenerKind kind, Candidate* candidate) const {
    if (!candidate->binds.empty()) return;
    if (kind == ListenerKind::kHttp) {
      candidate->binds = wildcards_;
      return;
    }
    const model::Service& service = *candidate->service;
    std::vector<std::string> addresses = model::AllAddresses(service, addresses_);
    if (addresses.empty()) {
      addresses = {candidate->address};
    } else {
      addresses.front() = candidate->address;
    }
    const bool unspecified = candidate->address == model::kUnspecifiedAddress;
    if (service.registry == model::Registry::kExternal && unspecified && addresses_.ipv6) {
      // A ServiceEntry may be for hosts of either family.
      if (addresses_.ipv4) {
        addresses.push_back("::");
      } else {
        addresses.front() = "::";
      }
    }
    if (addresses.front().find('/') == std::string::npos) {
      candidate->binds = std::move(addresses);
    } else {
      candidate->binds = wildcards_;
      candidate->destinations = std::move(addresses);
    }
  }

  void Add(Candidate candidate) {
    const ListenerKind kind = KindOf(candidate.port.protocol);
    if (candidate.service->resolution == model::Resolution::kAlias || kind == ListenerKind::kNone) return;
    ResolveBinds(kind, &candidate);
    if (candidate.binds.front().empty()) return;
    std::string name = ListenerName(candidate.binds.front(), candidate.port.number);
    const auto found = by_name_.find(name);
    if (found == by_name_.end()) {
      by_name_.emplace(std::move(name), listeners_.size());
      return Replace(candidate, kind, &listeners_.emplace_back());
    }
    Listener& existing = listeners_[found->second];
    if (existing.locked) return;
    if (candidate.port.protocol == Protocol::kHttpProxy) return Replace(candidate, kind, &existing);
    switch (Meet(existing.protocol, candidate.port.protocol)) {
      case Meeting::kKeep:
        return;
      case Meeting::kReplace:
        return Replace(candidate, kind, &existing);
      case Meeting::kMergeTcp:
        return MergeChains(L4Chains(candidate), &existing.made.chains);
      case Meeting::kMerge:
        break;
    }
    // TCP on TCP stays so; whatever else meets is told apart by sniffing from now on.
    if (KindOf(existing.protocol) != kind) existing.protocol = Protocol::kUnsupported;
    MergeChains(Chains(candidate, kind), &existing.made.chains);
  }

  void Replace(const Candidate& candidate, ListenerKind kind, Listener* out) const {
    OutboundInputs& inputs = out->made;
    inputs.binds = candidate.binds;
    inputs.port = candidate.port.number;
    inputs.bind_to_port = candidate.bind_to_port;
    inputs.chains = Chains(candidate, kind);
    // An HTTP listener on all addresses lets other traffic of the port through: it sniffs.
    const bool sniffs = kind == ListenerKind::kHttp && candidate.port.protocol != Protocol::kHttpProxy &&
                        candidate.binds.front() == wildcards_.front();
    out->protocol = sniffs ? Protocol::kUnsupported : candidate.port.protocol;
  }

  std::vector<OutboundChain> Chains(const Candidate& candidate, ListenerKind kind) const {
    switch (kind) {
      case ListenerKind::kTcp:
        return L4Chains(candidate);
      case ListenerKind::kHttp: {
        const bool sniff =
            candidate.port.protocol != Protocol::kHttpProxy && candidate.binds.front() == wildcards_.front();
        return {HttpChain(candidate, kind, sniff)};
      }
      default: {
        std::vector<OutboundChain> chains = L4Chains(candidate);
        chains.push_back(HttpChain(candidate, kind, true));
        return chains;
      }
    }
  }

  std::vector<OutboundChain> L4Chains(const Candidate& candidate) const {
    return CollectL4Chains({view_, traits_, *candidate.service, candidate.address, candidate.binds.front(),
                            candidate.port, candidate.destinations, stream_routes_, candidate.endpoint});
  }

  OutboundChain HttpChain(const Candidate& candidate, ListenerKind kind, bool sniff) const {
    const model::Service& service = *candidate.service;
    HttpForward forward;
    if (candidate.port.number == 0) {
      forward.route_name = candidate.binds.front();  // the socket's path
    } else if (kind == ListenerKind::kAuto && candidate.binds.front() != wildcards_.front()) {
      forward.route_name =
          StrCat(service.hostname.str(), ':', candidate.port.number);  // for this service alone
    } else {
      forward.route_name = StrCat(candidate.port.number);
    }
    if (candidate.port.protocol == Protocol::kGrpcWeb) forward.options.protocol = Protocol::kGrpcWeb;
    if (service.resolution == model::Resolution::kDynamicDns && model::IsWildcard(service.hostname)) {
      forward.options.dynamic_dns_host = service.hostname.str();
    }
    OutboundChain chain;
    chain.sniffed_http = sniff;
    chain.forward = std::move(forward);
    return chain;
  }

  mesh::View& view_;
  const EncodedFragmentsPtr& l4_;
  const ProxyTraits& traits_;
  const model::AddressView addresses_;
  const ReservedPorts reserved_;
  const std::vector<std::string> wildcards_;
  std::span<const mesh::VirtualServicePtr> stream_routes_;  // of the egress listener at hand
  std::vector<Listener> listeners_;
  StringMap<size_t> by_name_;  // index into listeners_
};

}  // namespace

std::optional<OutboundInputs> CollectHttpProxyPort(mesh::View& view, const EncodedFragmentsPtr& fragments) {
  uint32_t port = static_cast<uint32_t>(fragments->traits().settings->mesh->proxy_http_port());
  const std::string& own = view.proxy_class().http_proxy_port.str();
  uint32_t number = 0;
  const auto [end, error] = std::from_chars(own.data(), own.data() + own.size(), number);
  if (!own.empty() && error == std::errc() && end == own.data() + own.size()) port = number;
  if (port == 0) return std::nullopt;
  HttpForward forward;
  forward.route_name = "http_proxy";
  forward.options.forward_proxy_port = true;
  OutboundChain chain;
  chain.forward = std::move(forward);
  return OutboundInputs{fragments, LocalhostAddresses(fragments->traits()), port, true, {std::move(chain)}};
}

std::vector<OutboundInputs> CollectOutbound(mesh::View& view, const EncodedFragmentsPtr& l4) {
  return Collector(view, l4).Collect();
}

}  // namespace fairlead::gen::listener
