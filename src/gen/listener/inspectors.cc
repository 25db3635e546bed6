#include <algorithm>
#include <map>
#include <vector>

#include "envoy/config/listener/v3/listener.pb.h"
#include "gen/listener/inbound.h"
#include "gen/listener/listener_parts.h"

namespace fairlead::gen::listener {
namespace {

using envoy::config::listener::v3::FilterChain;
using envoy::config::listener::v3::FilterChainMatch;
using envoy::config::listener::v3::Listener;
using envoy::config::listener::v3::ListenerFilterChainMatchPredicate;
using Ports = std::vector<uint32_t>;

struct Needs {
  bool tls = false, http = false;
};

bool NeedsHttp(const FilterChainMatch& match) {
  const auto& protocols = match.application_protocols();
  return std::any_of(protocols.begin(), protocols.end(), [](const std::string& protocol) {
    return std::find(std::begin(kPlaintextHttpAlpn), std::end(kPlaintextHttpAlpn), protocol) !=
           std::end(kPlaintextHttpAlpn);
  });
}

// By port; 0 stands for all that have no chains of their own.
std::map<uint32_t, Needs> NeedsByPort(const Listener& listener) {
  std::map<uint32_t, Needs> needs;
  for (const FilterChain& chain : listener.filter_chains()) {
    const FilterChainMatch& match = chain.filter_chain_match();
    Needs& port = needs[match.destination_port().value()];
    port.tls |= match.transport_protocol() == "tls";
    port.http |= NeedsHttp(match);
  }
  return needs;
}

void MatchPorts(const Ports& ports, ListenerFilterChainMatchPredicate* out) {
  for (const uint32_t port : ports) {
    auto* rule = ports.size() > 1 ? out->mutable_or_match()->add_rules() : out;
    rule->mutable_destination_port_range()->set_start(static_cast<int32_t>(port));
    rule->mutable_destination_port_range()->set_end(static_cast<int32_t>(port + 1));
  }
}

// On ports in general: off for those named that don't need it. Else: on for those that do.
void AddTlsInspector(const std::map<uint32_t, Needs>& needs, Listener* out) {
  const auto rest = needs.find(0);
  const bool in_general = rest != needs.end() && rest->second.tls;
  Ports exceptions;
  for (const auto& [port, need] : needs) {
    if (port != 0 && need.tls != in_general) exceptions.push_back(port);
  }
  auto* filter = out->add_listener_filters();
  SetTlsInspector(filter);
  if (exceptions.empty()) return;
  MatchPorts(exceptions, in_general ? filter->mutable_filter_disabled()
                                    : filter->mutable_filter_disabled()->mutable_not_match());
}

void AddHttpInspector(const std::map<uint32_t, Needs>& needs, Listener* out) {
  Ports without;
  for (const auto& [port, need] : needs) {
    if (!need.http) without.push_back(port);
  }
  auto* filter = out->add_listener_filters();
  SetHttpInspector(filter);
  if (!without.empty()) MatchPorts(without, filter->mutable_filter_disabled());
}

}  // namespace

// The HTTP inspector comes after the other: it leaves alone what that one found to be TLS.
void AddInspectors(Listener* out) {
  const std::map<uint32_t, Needs> needs = NeedsByPort(*out);
  const auto any = [&needs](bool Needs::*kind) {
    return std::any_of(needs.begin(), needs.end(), [kind](const auto& need) { return need.second.*kind; });
  };
  if (any(&Needs::tls)) AddTlsInspector(needs, out);
  if (any(&Needs::http)) AddHttpInspector(needs, out);
}

}  // namespace fairlead::gen::listener
