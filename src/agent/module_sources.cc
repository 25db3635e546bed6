#include "agent/module_sources.h"

#include <netdb.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "agent/bootstrap/workload_addresses.h"

namespace fairlead::agent {
namespace {

// xDS, xDS over TLS, HTTP, monitoring, webhooks, ControlZ.
constexpr int kControlPlanePorts[] = {15010, 15012, 8080, 15014, 15017, 9876};

struct Place {
  std::string host;
  int port;
};

bool IsHere(const IpAddress& address, const std::string& host) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  if (getaddrinfo(host.c_str(), nullptr, &hints, &list) != 0) return false;
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owned(list, freeaddrinfo);
  for (const addrinfo* one = list; one != nullptr; one = one->ai_next) {
    if (fetch::AddressOf(*one->ai_addr) == address) return true;
  }
  return false;
}

bool IsOf(const Place& plane, const IpAddress& address, int port) {
  const bool known = std::find(std::begin(kControlPlanePorts), std::end(kControlPlanePorts), port) !=
                     std::end(kControlPlanePorts);
  return (known || port == plane.port) && IsHere(address, plane.host);
}

}  // namespace

fetch::BlockedAddresses BlockedSources(const ModuleSources& sources) {
  fetch::BlockedAddresses blocked(sources.blocked);
  std::vector<Place> planes;
  for (const std::string& text : sources.planes) {
    if (text.empty()) continue;
    auto [host, port] = SplitAddress(text);
    planes.push_back({std::move(host), port});
  }
  blocked.BlockEndpoints([ports = sources.own_ports, planes](const IpAddress& address, int port) {
    if (std::find(ports.begin(), ports.end(), port) != ports.end() && fetch::IsOwnAddress(address))
      return true;
    return std::any_of(planes.begin(), planes.end(),
                       [&](const Place& plane) { return IsOf(plane, address, port); });
  });
  return blocked;
}

}  // namespace fairlead::agent
