#include <algorithm>
#include <functional>
#include <string_view>

#include "base/strings.h"
#include "simulate/connection.h"

namespace fairlead::simulate {
namespace {

using envoy::config::core::v3::CidrRange;
using envoy::config::listener::v3::FilterChain;
using envoy::config::listener::v3::FilterChainMatch;
using envoy::config::listener::v3::Listener;
using Ranges = google::protobuf::RepeatedPtrField<CidrRange>;
using Names = google::protobuf::RepeatedPtrField<std::string>;
using Chains = std::vector<const FilterChain*>;

// How specifically a chain asks for what the connection has at one criterion: higher is better, kUnasked
// where it does not ask, kMiss where it asks for something else.
constexpr int kMiss = -1;
constexpr int kUnasked = 0;
using Score = std::function<int(const FilterChainMatch&, const SimulatedConnection&)>;

int PortScore(const FilterChainMatch& match, const SimulatedConnection& connection) {
  if (!match.has_destination_port()) return kUnasked;
  return match.destination_port().value() == connection.destination_port ? 1 : kMiss;
}

// The longest prefix that holds the address, plus one.
int RangeScore(const Ranges& ranges, const IpAddress& address) {
  if (ranges.empty()) return kUnasked;
  int best = kMiss;
  for (const CidrRange& range : ranges) {
    const auto base = IpAddress::Parse(range.address_prefix());
    const int bits = static_cast<int>(range.prefix_len().value());
    if (base && base->is_v4() == address.is_v4() && IpPrefix{*base, bits}.Contains(address))
      best = std::max(best, bits + 1);
  }
  return best;
}

// Exact names before wildcards, longer wildcards before shorter.
int ServerNameScore(const FilterChainMatch& match, const SimulatedConnection& connection) {
  if (match.server_names().empty()) return kUnasked;
  const std::string_view name = connection.server_name;
  int best = kMiss;
  for (const std::string& asked : match.server_names()) {
    if (asked == name) return 1 << 20;
    if (!asked.starts_with("*.")) continue;
    const std::string_view suffix = std::string_view(asked).substr(1);
    if (name.size() > suffix.size() && name.ends_with(suffix))
      best = std::max(best, static_cast<int>(suffix.size()));
  }
  return best;
}

int TransportScore(const FilterChainMatch& match, const SimulatedConnection& connection) {
  if (match.transport_protocol().empty()) return kUnasked;
  return match.transport_protocol() == connection.transport_protocol ? 1 : kMiss;
}

// The first of the protocols that the peer offers counts most.
int ApplicationScore(const FilterChainMatch& match, const SimulatedConnection& connection) {
  if (match.application_protocols().empty()) return kUnasked;
  const auto& offered = connection.application_protocols;
  for (size_t i = 0; i < offered.size(); ++i) {
    const Names& asked = match.application_protocols();
    if (std::find(asked.begin(), asked.end(), offered[i]) != asked.end())
      return static_cast<int>(offered.size() - i);
  }
  return kMiss;
}

int SourceTypeScore(const FilterChainMatch& match, const SimulatedConnection& connection) {
  const bool local = connection.source.is_loopback() || connection.source == connection.destination;
  switch (match.source_type()) {
    case FilterChainMatch::SAME_IP_OR_LOOPBACK:
      return local ? 1 : kMiss;
    case FilterChainMatch::EXTERNAL:
      return local ? kMiss : 1;
    default:
      return kUnasked;
  }
}

int SourcePortScore(const FilterChainMatch& match, const SimulatedConnection& connection) {
  const auto& ports = match.source_ports();
  if (ports.empty()) return kUnasked;
  return std::find(ports.begin(), ports.end(), connection.source_port) != ports.end() ? 1 : kMiss;
}

// Envoy's order (FilterChainMatch's description). The direct source is the source, as no proxy protocol
// rewrites it here.
const std::vector<Score>& Criteria() {
  static const std::vector<Score> criteria = {
      PortScore,
      [](const auto& m, const auto& c) { return RangeScore(m.prefix_ranges(), c.destination); },
      ServerNameScore,
      TransportScore,
      ApplicationScore,
      [](const auto& m, const auto& c) { return RangeScore(m.direct_source_prefix_ranges(), c.source); },
      SourceTypeScore,
      [](const auto& m, const auto& c) { return RangeScore(m.source_prefix_ranges(), c.source); },
      SourcePortScore,
  };
  return criteria;
}

Chains BestAt(const Score& score, const Chains& chains, const SimulatedConnection& connection) {
  Chains best;
  int best_score = kUnasked;
  for (const FilterChain* chain : chains) {
    const int one = score(chain->filter_chain_match(), connection);
    if (one < best_score) continue;
    if (one > best_score) best.clear();
    best_score = one;
    best.push_back(chain);
  }
  return best;
}

}  // namespace

const FilterChain* ChooseFilterChain(const Listener& listener, const SimulatedConnection& connection) {
  Chains chains;
  for (const FilterChain& chain : listener.filter_chains()) chains.push_back(&chain);
  for (const Score& score : Criteria()) chains = BestAt(score, chains, connection);
  if (!chains.empty()) return chains.front();
  return listener.has_default_filter_chain() ? &listener.default_filter_chain() : nullptr;
}

}  // namespace fairlead::simulate
