#ifndef FAIRLEAD_SIMULATE_CONNECTION_H_
#define FAIRLEAD_SIMULATE_CONNECTION_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/ip_address.h"
#include "envoy/config/listener/v3/listener.pb.h"
#include "simulate/request.h"

// How Envoy chooses a listener and a filter chain for a new connection. Sources: the API descriptions of
// envoy.config.listener.v3 Listener and FilterChainMatch, and Envoy's architecture overview of listeners.
namespace fairlead::simulate {

using Listeners = std::vector<envoy::config::listener::v3::Listener>;

// A connection as filter chains are matched: addresses, and what listener filters found out.
struct SimulatedConnection {
  IpAddress source, destination;
  uint32_t source_port = 0, destination_port = 0;
  std::string transport_protocol = "raw_buffer";
  std::string server_name;
  std::vector<std::string> application_protocols;
};

// InvalidArgument where an address of the request is none.
absl::StatusOr<SimulatedConnection> ConnectionOf(const SimulatedRequest& request);

// The accepting listener and the serving listener. The first hands over if it restores the original
// destination and a listener of that address exists. Both null where nothing accepts it.
struct ChosenListener {
  const envoy::config::listener::v3::Listener* accepted_by = nullptr;
  const envoy::config::listener::v3::Listener* served_by = nullptr;
};
ChosenListener ChooseListener(const Listeners& listeners, CallDirection direction,
                              const SimulatedConnection& connection);

// The findings of the listener's filters in the first bytes: transport protocol, server name and protocols.
void Inspect(const envoy::config::listener::v3::Listener& listener, const SimulatedRequest& request,
             SimulatedConnection* connection);

// The filter chain for an inspected connection, or the default one; null where there is none. Envoy goes
// down the criteria in a fixed order, takes the most specific value at each, and does not come back.
const envoy::config::listener::v3::FilterChain* ChooseFilterChain(
    const envoy::config::listener::v3::Listener& listener, const SimulatedConnection& connection);

}  // namespace fairlead::simulate

#endif  // FAIRLEAD_SIMULATE_CONNECTION_H_
