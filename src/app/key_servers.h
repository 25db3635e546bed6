#ifndef FAIRLEAD_APP_KEY_SERVERS_H_
#define FAIRLEAD_APP_KEY_SERVERS_H_

#include <functional>
#include <vector>

#include "app/environment.h"
#include "fetch/blocked_addresses.h"

namespace fairlead::app {

// Where keys of RequestAuthentications are not fetched from: the operator's ranges, and this process's own
// ports on addresses of this machine. Whoever may write an object would else have the control plane ask
// itself, as somebody on its own machine. `own_ports`: that are listened on now; 0 is none. Thread-safe.
fetch::BlockedAddresses BlockedKeyServers(const Environment& environment,
                                          std::function<std::vector<int>()> own_ports);

}  // namespace fairlead::app

#endif  // FAIRLEAD_APP_KEY_SERVERS_H_
