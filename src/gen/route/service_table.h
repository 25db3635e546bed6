#ifndef FAIRLEAD_GEN_ROUTE_SERVICE_TABLE_H_
#define FAIRLEAD_GEN_ROUTE_SERVICE_TABLE_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/strings.h"
#include "model/service.h"

namespace fairlead::gen::route {

// A service as the routes of one listener see it.
struct RoutedService {
  std::string host;  // in lower case for listeners of a port
  const model::Service* service = nullptr;
  std::span<const model::ServicePort> ports;  // the listener's alone, or all for proxy clients
};

// The services of one listener by host name: one service a host, the later of two. The services must outlive
// it.
class RoutedServices {
 public:
  // Services without the port are left out; port 0 takes all, with all their ports.
  RoutedServices(const std::vector<model::ServicePtr>& services, uint32_t port);

  // In the order of their hosts.
  const std::vector<RoutedService>& All() const { return services_; }
  // Exactly this host; null where there is none.
  const RoutedService* Find(std::string_view host) const;
  // The services with a wildcard host.
  const std::vector<const RoutedService*>& Wildcards() const { return wildcards_; }

 private:
  std::vector<RoutedService> services_;
  std::vector<const RoutedService*> wildcards_;
  StringMap<size_t> by_host_;
};

// The name that a listener of `port` knows the service by.
std::string LookupHost(const model::Service& service, uint32_t port);

}  // namespace fairlead::gen::route

#endif  // FAIRLEAD_GEN_ROUTE_SERVICE_TABLE_H_
