#ifndef FAIRLEAD_AGENT_MODULE_SOURCES_H_
#define FAIRLEAD_AGENT_MODULE_SOURCES_H_

#include <string>
#include <vector>

#include "base/ip_address.h"
#include "fetch/blocked_addresses.h"

namespace fairlead::agent {

// Where Wasm modules are not fetched from: whoever may write a WasmPlugin would else have the agent of each
// pod that it selects ask in the agent's name.
struct ModuleSources {
  std::vector<IpPrefix> blocked;    // BLOCKED_CIDRS_IN_WASM_FETCH
  std::vector<int> own_ports;       // of Envoy and the agent, on addresses of this machine
  std::vector<std::string> planes;  // control plane and authority, "host:port" or "host"; "" is none
};

// Of a control plane the address's own port is blocked, and those that istiod and Fairlead listen on. Its name
// is looked up when one of these ports is to be asked, on the thread that fetches.
fetch::BlockedAddresses BlockedSources(const ModuleSources& sources);

}  // namespace fairlead::agent

#endif  // FAIRLEAD_AGENT_MODULE_SOURCES_H_
