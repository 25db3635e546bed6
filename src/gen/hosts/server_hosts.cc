#include "gen/hosts/server_hosts.h"

#include <string>

#include "istio/networking/v1alpha3/virtual_service.pb.h"
#include "model/host_name.h"

namespace fairlead::gen {

bool TakesAHost(const mesh::GatewayServer& server, const mesh::VirtualService& virtual_service) {
  for (const std::string& host : server.hosts) {
    const size_t slash = host.find('/');
    if (slash != std::string::npos && virtual_service.object->ns() != host.substr(0, slash)) continue;
    const std::string name = slash == std::string::npos ? host : host.substr(slash + 1);
    for (const std::string& candidate : virtual_service.spec->hosts()) {
      if (model::HostsMatch(name, candidate)) return true;
    }
  }
  return false;
}

}  // namespace fairlead::gen
