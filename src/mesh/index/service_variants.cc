#include "mesh/index/service_variants.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace fairlead::mesh {

using model::ServicePort;
using model::ServicePtr;

ServicePtr ServiceVariants::Find(Key key) {
  std::lock_guard lock(mutex_);
  const auto [it, is_new] = variants_.try_emplace(std::move(key));
  if (is_new) {
    auto made = std::make_shared<model::Service>(*it->first.base);
    made->ports = it->first.ports;
    made->aliases = it->first.aliases;
    it->second = std::move(made);
  }
  return it->second;
}

ServicePtr ServiceVariants::WithPort(const ServicePtr& service, uint32_t number) {
  const ServicePort* port = service->FindPort(number);
  if (port == nullptr) return nullptr;
  return service->ports.size() == 1 ? service : Find({service, {*port}, service->aliases});
}

ServicePtr ServiceVariants::WithPorts(const ServicePtr& service, std::span<const uint32_t> numbers) {
  std::vector<ServicePort> kept;
  for (const ServicePort& port : service->ports) {
    if (std::find(numbers.begin(), numbers.end(), port.port) != numbers.end()) kept.push_back(port);
  }
  if (kept.empty()) return nullptr;
  if (kept.size() == service->ports.size()) return service;
  return Find({service, std::move(kept), service->aliases});
}

ServicePtr ServiceVariants::WithAliases(const ServicePtr& service,
                                        std::vector<model::NamespacedHost> aliases) {
  if (aliases.size() == service->aliases.size()) return service;
  return Find({service, service->ports, std::move(aliases)});
}

ServicePtr ServiceVariants::WithPortsOf(const ServicePtr& service, const ServicePtr& other) {
  std::vector<ServicePort> ports = service->ports;
  for (const ServicePort& port : other->ports) {
    const bool known = std::any_of(ports.begin(), ports.end(),
                                   [&port](const ServicePort& p) { return p.port == port.port; });
    if (!known) ports.push_back(port);
  }
  if (ports.size() == service->ports.size()) return service;
  return Find({service, std::move(ports), service->aliases});
}

void ServiceVariants::Sweep() {
  std::lock_guard lock(mutex_);
  absl::erase_if(variants_, [](const auto& entry) { return entry.second.use_count() == 1; });
}

}  // namespace fairlead::mesh
