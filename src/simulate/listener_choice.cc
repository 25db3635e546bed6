#include <algorithm>

#include "base/strings.h"
#include "envoy/extensions/filters/listener/http_inspector/v3/http_inspector.pb.h"
#include "envoy/extensions/filters/listener/original_dst/v3/original_dst.pb.h"
#include "envoy/extensions/filters/listener/tls_inspector/v3/tls_inspector.pb.h"
#include "simulate/connection.h"

namespace fairlead::simulate {
namespace {

using envoy::config::core::v3::Address;
using envoy::config::core::v3::TrafficDirection;
using envoy::config::listener::v3::Listener;
using envoy::config::listener::v3::ListenerFilter;
using envoy::config::listener::v3::ListenerFilterChainMatchPredicate;

enum class Fit { kNone, kWildcard, kExact };

// Whether an address a listener has takes connections to this destination.
Fit FitOf(const Address& address, const SimulatedConnection& connection) {
  if (!address.has_socket_address() || address.socket_address().port_value() != connection.destination_port)
    return Fit::kNone;
  if (address.socket_address().protocol() == envoy::config::core::v3::SocketAddress::UDP) return Fit::kNone;
  const auto bound = IpAddress::Parse(address.socket_address().address());
  if (!bound) return Fit::kNone;
  if (*bound == connection.destination) return Fit::kExact;
  const bool both_families = bound->is_v6() && address.socket_address().ipv4_compat();
  if (bound->is_unspecified() && (bound->is_v4() == connection.destination.is_v4() || both_families))
    return Fit::kWildcard;
  return Fit::kNone;
}

Fit FitOf(const Listener& listener, const SimulatedConnection& connection) {
  Fit best = FitOf(listener.address(), connection);
  for (const auto& more : listener.additional_addresses())
    best = std::max(best, FitOf(more.address(), connection));
  return best;
}

bool BindsToPort(const Listener& listener) {
  return !listener.has_bind_to_port() || listener.bind_to_port().value();
}

// Whether an address is one that redirected connections of a family arrive at.
bool HasFamily(const Address& address, bool v4) {
  const auto bound = IpAddress::Parse(address.socket_address().address());
  return bound && (bound->is_v4() == v4 || (bound->is_v6() && address.socket_address().ipv4_compat()));
}

bool HasFamily(const Listener& listener, bool v4) {
  const auto& more = listener.additional_addresses();
  return HasFamily(listener.address(), v4) ||
         std::any_of(more.begin(), more.end(), [&](const auto& one) { return HasFamily(one.address(), v4); });
}

template <typename Config>
bool HasFilter(const Listener& listener) {
  const auto& filters = listener.listener_filters();
  return std::any_of(filters.begin(), filters.end(),
                     [](const ListenerFilter& one) { return one.typed_config().Is<Config>(); });
}

// Whether the listener takes redirected connections and knows where they were going.
bool RestoresDestination(const Listener& listener) {
  return listener.use_original_dst().value() || listener.transparent().value() ||
         HasFilter<envoy::extensions::filters::listener::original_dst::v3::OriginalDst>(listener);
}

template <typename Wanted>
const Listener* BestFit(const Listeners& listeners, const SimulatedConnection& connection,
                        const Wanted& wanted) {
  const Listener* best = nullptr;
  Fit best_fit = Fit::kNone;
  for (const Listener& listener : listeners) {
    const Fit fit = wanted(listener) ? FitOf(listener, connection) : Fit::kNone;
    if (fit <= best_fit) continue;
    best = &listener;
    best_fit = fit;
  }
  return best;
}

bool IsDisabled(const ListenerFilterChainMatchPredicate& rule, const SimulatedConnection& connection) {
  const auto holds = [&](const auto& one) { return IsDisabled(one, connection); };
  switch (rule.rule_case()) {
    case ListenerFilterChainMatchPredicate::kAnyMatch:
      return rule.any_match();
    case ListenerFilterChainMatchPredicate::kNotMatch:
      return !holds(rule.not_match());
    case ListenerFilterChainMatchPredicate::kOrMatch:
      return std::any_of(rule.or_match().rules().begin(), rule.or_match().rules().end(), holds);
    case ListenerFilterChainMatchPredicate::kAndMatch:
      return std::all_of(rule.and_match().rules().begin(), rule.and_match().rules().end(), holds);
    case ListenerFilterChainMatchPredicate::kDestinationPortRange:
      return connection.destination_port >= static_cast<uint32_t>(rule.destination_port_range().start()) &&
             connection.destination_port < static_cast<uint32_t>(rule.destination_port_range().end());
    default:
      return false;
  }
}

void InspectTls(const SimulatedRequest& request, SimulatedConnection* connection) {
  if (!request.tls) return;
  connection->transport_protocol = "tls";
  connection->server_name = AsciiLower(request.tls->server_name);
  connection->application_protocols = request.tls->alpn;
}

// Sees HTTP in plaintext only.
void InspectHttp(const SimulatedRequest& request, SimulatedConnection* connection) {
  if (request.tls || connection->transport_protocol != "raw_buffer") return;
  switch (request.application) {
    case Application::kHttp10:
      connection->application_protocols = {"http/1.0"};
      return;
    case Application::kHttp11:
      connection->application_protocols = {"http/1.1"};
      return;
    case Application::kHttp2:
      connection->application_protocols = {"h2c"};
      return;
    case Application::kTcp:
      return;
  }
}

}  // namespace

absl::StatusOr<SimulatedConnection> ConnectionOf(const SimulatedRequest& request) {
  const auto source = IpAddress::Parse(request.source_address);
  const auto destination = IpAddress::Parse(request.destination_address);
  for (const auto& [found, text] :
       {std::pair(source, &request.source_address), std::pair(destination, &request.destination_address)}) {
    if (!found) return absl::InvalidArgumentError(StrCat("\"", *text, "\" is not an IP address"));
  }
  SimulatedConnection connection;
  connection.source = *source;
  connection.destination = *destination;
  connection.source_port = request.source_port;
  connection.destination_port = request.destination_port;
  return connection;
}

ChosenListener ChooseListener(const Listeners& listeners, CallDirection direction,
                              const SimulatedConnection& connection) {
  // What comes to a gateway is on its way out of it: its listeners say so.
  const TrafficDirection wanted =
      direction == CallDirection::kInbound ? TrafficDirection::INBOUND : TrafficDirection::OUTBOUND;
  const auto binds = [&](const Listener& one) {
    return one.traffic_direction() == wanted && BindsToPort(one) && !RestoresDestination(one);
  };
  const auto catches = [&](const Listener& one) {
    return one.traffic_direction() == wanted && BindsToPort(one) && RestoresDestination(one) &&
           HasFamily(one, connection.destination.is_v4());
  };
  const auto catcher = std::find_if(listeners.begin(), listeners.end(), catches);
  // What stays on the workload's loopback is not redirected: it arrives where a listener binds.
  const bool redirected = direction == CallDirection::kInbound ||
                          (direction == CallDirection::kOutbound && !connection.destination.is_loopback());
  if (catcher == listeners.end() || !redirected) {
    const Listener* bound = BestFit(listeners, connection, binds);
    return {bound, bound};
  }
  if (!catcher->use_original_dst().value()) return {&*catcher, &*catcher};
  const Listener* handed = BestFit(listeners, connection, [](const Listener&) { return true; });
  return {&*catcher, handed != nullptr ? handed : &*catcher};
}

void Inspect(const Listener& listener, const SimulatedRequest& request, SimulatedConnection* connection) {
  namespace filters = envoy::extensions::filters::listener;
  for (const ListenerFilter& filter : listener.listener_filters()) {
    if (filter.has_filter_disabled() && IsDisabled(filter.filter_disabled(), *connection)) continue;
    if (filter.typed_config().Is<filters::tls_inspector::v3::TlsInspector>()) InspectTls(request, connection);
    if (filter.typed_config().Is<filters::http_inspector::v3::HttpInspector>())
      InspectHttp(request, connection);
  }
}

}  // namespace fairlead::simulate
