#ifndef FAIRLEAD_AGENT_MODULE_SOURCES_H_
#define FAIRLEAD_AGENT_MODULE_SOURCES_H_

#include <string>
#include <vector>

#include "base/ip_address.h"
#include "fetch/blocked_addresses.h"

namespace fairlead::agent {

// The addresses without Wasm modules. Otherwise every writer of a WasmPlugin could send requests in the name
// of each selected pod's agent.
struct ModuleSources {
  std::vector<IpPrefix> blocked;    // BLOCKED_CIDRS_IN_WASM_FETCH
  std::vector<int> own_ports;       // of Envoy and the agent, on addresses of this machine
  std::vector<std::string> planes;  // control plane and authority, "host:port" or "host"; "" is none
};

// The blocked ports of a control plane are the address's own port, and the ports that istiod and Fairlead
// listen on. Its name is looked up when one of these ports is to be asked, on the thread that fetches.
fetch::BlockedAddresses BlockedSources(const ModuleSources& sources);

}  // namespace fairlead::agent

#endif  // FAIRLEAD_AGENT_MODULE_SOURCES_H_
