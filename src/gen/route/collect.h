#ifndef FAIRLEAD_GEN_ROUTE_COLLECT_H_
#define FAIRLEAD_GEN_ROUTE_COLLECT_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "gen/route/inputs.h"
#include "mesh/view/view.h"

namespace fairlead::gen::route {

// The attributes of a sidecar that its routes depend on.
ClientTraits TraitsOf(mesh::View& view);

// Adds the client's labels that the matches of HTTP routes ask for, as sourceLabels.
void AddSourceLabels(const mesh::VirtualService& virtual_service, mesh::View& view, LabelMap* labels);

// The inputs of the route configuration `name`, which must not be an unknown one (see ParseRouteName), for
// the client.
Inputs CollectInputs(mesh::View& view, const std::string& name);

// The inputs of the virtual hosts alone: of the egress listener of a port, or (port 0) of the socket `name`.
// Null where there is none.
HostInputsPtr CollectHosts(mesh::View& view, uint32_t port, std::string_view name);

}  // namespace fairlead::gen::route

#endif  // FAIRLEAD_GEN_ROUTE_COLLECT_H_
