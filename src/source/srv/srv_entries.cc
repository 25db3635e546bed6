#include "source/srv/srv_entries.h"

#include <algorithm>

#include "base/strings.h"
#include "source/platform/made_entries.h"

namespace fairlead::source {

PlatformPart MakeSrvEntries(const SrvOptions& options, const SrvName& name,
                            std::vector<SrvInstance> instances) {
  PartMaker maker("dns", StrCat("dns+srv://", name.name), StrCat("name ", name.name, " of DNS"));
  std::sort(instances.begin(), instances.end());
  const uint16_t first = instances.empty() ? 0 : instances.front().priority;
  std::erase_if(instances, [&](const SrvInstance& instance) {
    return instance.port == 0 || (!options.all_priorities && instance.priority != first);
  });
  // Weights of records that differ are shares; where all are zero, they are not said.
  const bool weighted = std::any_of(instances.begin(), instances.end(),
                                    [](const SrvInstance& instance) { return instance.weight > 0; });
  MadeService service;
  for (const SrvInstance& instance : instances) {
    MadeService::Endpoint endpoint;
    endpoint.address = instance.address;
    endpoint.ports = {instance.port};
    endpoint.network = options.network;
    endpoint.locality = options.locality;
    if (weighted) endpoint.weight = std::max<uint32_t>(1, instance.weight);
    service.endpoints.push_back(std::move(endpoint));
  }
  if (service.endpoints.empty()) return maker.Take();
  const auto lowest =
      std::min_element(instances.begin(), instances.end(),
                       [](const SrvInstance& a, const SrvInstance& b) { return a.port < b.port; });
  service.ports.push_back(
      {name.port == 0 ? lowest->port : name.port, name.service, ProtocolOf("", name.service)});
  service.ns = options.platform.ns;
  for (const std::string& text : options.platform.names) {
    service.host = ExpandName(text, {{"name", name.domain}, {"service", name.service}});
    maker.AddService(service);
  }
  return maker.Take();
}

}  // namespace fairlead::source
