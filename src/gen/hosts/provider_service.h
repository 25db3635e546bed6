#ifndef FAIRLEAD_GEN_HOSTS_PROVIDER_SERVICE_H_
#define FAIRLEAD_GEN_HOSTS_PROVIDER_SERVICE_H_

#include <string_view>

#include "base/interned.h"
#include "mesh/view/view.h"

namespace fairlead::gen {

// Where an extension provider's service is: what Istio's LookupCluster finds.
struct ProviderService {
  Interned service;   // as MeshConfig writes it: "host" or "namespace/host"
  Interned hostname;  // "" where there is no such service, or several namespaces have one
  friend bool operator==(const ProviderService&, const ProviderService&) = default;
};

// The hostname of the service that a provider names "host" or "namespace/host"; "" where there is none, or
// several namespaces have one.
Interned FindProviderHost(mesh::View& view, std::string_view service);

}  // namespace fairlead::gen

#endif  // FAIRLEAD_GEN_HOSTS_PROVIDER_SERVICE_H_
