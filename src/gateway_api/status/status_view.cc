#include "gateway_api/status/status_view.h"

#include <utility>

namespace fairlead::gateway_api {

size_t StatusView::Attached(const config::ConfigObject& owner, const std::string& listener) {
  const auto attached = asker_.Ask<status_questions::AttachedRoutes>(owner.ns(), owner.name());
  const auto found = attached.find(listener);
  return found == attached.end() ? 0 : found->second;
}

GatewayInstances StatusView::Instances(const Interned& ns, const std::vector<std::string>& hosts,
                                       const std::set<InstancePort>& ports) {
  std::vector<InstanceHost> known;
  known.reserve(hosts.size());
  for (const std::string& host : hosts) {
    const Interned hostname(host);
    known.push_back({host, asker_.Ask<status_questions::HostServices>(hostname),
                     asker_.Ask<status_questions::HostEndpoints>(hostname, ns)});
  }
  return ResolveInstances(known, ns, ports);
}

const nlohmann::ordered_json* StatusView::Addresses(const config::ObjectKey& entry) const {
  const auto found = inputs_.addresses.find(entry);
  return found == inputs_.addresses.end() ? nullptr : &found->second;
}

}  // namespace fairlead::gateway_api
