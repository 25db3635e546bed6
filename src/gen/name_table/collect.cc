#include "gen/name_table/inputs.h"

namespace fairlead::gen {
namespace {

// Clients of such a service connect to its endpoints, so names resolve to these.
bool ResolvesToEndpoints(const model::Service& service) {
  return service.resolution == model::Resolution::kPassthrough && service.cluster_vips.empty() &&
         service.address == model::kUnspecifiedAddress;
}

}  // namespace

NameTableClient NameTableClientOf(const mesh::MeshSnapshot& snapshot, const model::Proxy& proxy) {
  return {model::AddressViewOf(proxy, snapshot.settings->cluster_id), proxy.metadata.network,
          proxy.metadata.cluster_id};
}

NameTableInputs CollectNameTable(const mesh::MeshSnapshot& snapshot, const mesh::SidecarScope& scope,
                                 const NameTableClient& client) {
  NameTableInputs out;
  out.client = client;
  for (const mesh::EgressListener& listener : scope.egress) {
    for (const model::ServicePtr& service : listener.services) {
      NameTableInputs::Entry& entry = out.services.emplace_back();
      entry.service = service;
      if (ResolvesToEndpoints(*service)) {
        entry.endpoints = snapshot.endpoints->Find(service->hostname, service->ns);
      }
    }
  }
  return out;
}

}  // namespace fairlead::gen
