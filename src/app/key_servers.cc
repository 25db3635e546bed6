#include "app/key_servers.h"

#include <algorithm>
#include <utility>

namespace fairlead::app {

fetch::BlockedAddresses BlockedKeyServers(const Environment& environment,
                                          std::function<std::vector<int>()> own_ports) {
  fetch::BlockedAddresses blocked(environment.blocked_key_servers);
  blocked.BlockEndpoints([own_ports = std::move(own_ports)](const IpAddress& address, int port) {
    const std::vector<int> ports = own_ports();
    return std::find(ports.begin(), ports.end(), port) != ports.end() && fetch::IsOwnAddress(address);
  });
  return blocked;
}

}  // namespace fairlead::app
