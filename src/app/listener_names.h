#ifndef FAIRLEAD_APP_LISTENER_NAMES_H_
#define FAIRLEAD_APP_LISTENER_NAMES_H_

#include <string>
#include <vector>

#include "app/discovery_options.h"

namespace fairlead::app {

// The names under which proxies know this control plane, for the TLS listener's certificate, each once: those
// of ISTIOD_CUSTOM_HOST and ISTIOD_SAN, and of istiod's Services. Where the mesh is a folder, proxies know no
// Services: then "localhost", this machine's name, and the addresses that the listener has, too. Source:
// Istio's getDNSNames.
std::vector<std::string> ListenerNames(const DiscoveryOptions& options);

}  // namespace fairlead::app

#endif  // FAIRLEAD_APP_LISTENER_NAMES_H_
