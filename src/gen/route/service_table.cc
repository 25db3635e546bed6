#include "gen/route/service_table.h"

#include <algorithm>

#include "model/host_name.h"

namespace fairlead::gen::route {

std::string LookupHost(const model::Service& service, uint32_t port) {
  return port == 0 ? service.hostname.str() : AsciiLower(service.hostname.str());
}

RoutedServices::RoutedServices(const std::vector<model::ServicePtr>& services, uint32_t port) {
  services_.reserve(services.size());
  by_host_.reserve(services.size());
  for (const model::ServicePtr& service : services) {
    RoutedService routed{LookupHost(*service, port), service.get(), service->ports};
    if (port != 0) {
      const model::ServicePort* own = service->FindTcpPort(port);
      if (own == nullptr) continue;
      routed.ports = {own, 1};
    }
    const auto [at, added] = by_host_.try_emplace(routed.host, services_.size());
    if (added) {
      services_.push_back(std::move(routed));
    } else {
      services_[at->second] = std::move(routed);
    }
  }
  std::sort(services_.begin(), services_.end(), [](const auto& a, const auto& b) { return a.host < b.host; });
  for (size_t i = 0; i < services_.size(); ++i) {
    by_host_[services_[i].host] = i;
    if (model::IsWildcard(services_[i].host)) wildcards_.push_back(&services_[i]);
  }
}

const RoutedService* RoutedServices::Find(std::string_view host) const {
  const auto found = by_host_.find(host);
  return found == by_host_.end() ? nullptr : &services_[found->second];
}

}  // namespace fairlead::gen::route
