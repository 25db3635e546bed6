#include <algorithm>
#include <string>
#include <vector>

#include "gen/name_table/inputs.h"

namespace fairlead::gen {
namespace {

// Clients of such a service connect to its endpoints, so names resolve to these.
bool ResolvesToEndpoints(const model::Service& service, const model::AddressView& client) {
  if (service.resolution != model::Resolution::kPassthrough) return false;
  const std::vector<std::string> addresses = model::AllAddresses(service, client);
  return std::find(addresses.begin(), addresses.end(), model::kUnspecifiedAddress) != addresses.end();
}

}  // namespace

NameTableInputs CollectNameTable(mesh::View& view) {
  NameTableInputs out;
  const model::ProxyClass& proxy = view.proxy_class();
  // Routers have no egress listeners, so that their tables are empty.
  if (proxy.type != model::ProxyType::kSidecar) return out;
  const model::SettingsPtr settings = view.settings(model::SettingsPart::kScopes);
  out.client = {model::AddressViewOf(proxy, *settings), proxy.network, proxy.cluster_id,
                settings->features.headless_names_of_all_clusters};
  for (const mesh::EgressListener& listener : view.imports().egress) {
    for (const model::ServicePtr& service : listener.services) {
      NameTableInputs::Entry& entry = out.services.emplace_back();
      entry.service = service;
      if (ResolvesToEndpoints(*service, out.client.addresses))
        entry.endpoints = view.Endpoints(service->hostname, service->ns);
    }
  }
  return out;
}

}  // namespace fairlead::gen
