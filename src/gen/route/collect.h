#ifndef FAIRLEAD_GEN_ROUTE_COLLECT_H_
#define FAIRLEAD_GEN_ROUTE_COLLECT_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "gen/route/inputs.h"
#include "mesh/proxy_scope.h"

namespace fairlead::gen::route {

// What of a sidecar its routes depend on.
ClientTraits TraitsOf(const mesh::ProxyScope& scope, const model::Settings& settings);

// Whether two workloads of this scope may get different routes because of their labels: a match asks for
// sourceLabels, or a DestinationRule for a workload.
bool LabelsMatter(const mesh::SidecarScope& scope);

// Equal for workloads that get equal routes: all of the workload and its scope that CollectInputs reads, the
// scope by its number. `labels` as for CollectInputs, empty where they do not matter.
std::string SharingKey(const mesh::SidecarScope& scope, const ClientTraits& client, const LabelMap& labels);

// The inputs of the route configuration `name`, which must not be an unknown one (see ParseRouteName), for a
// workload of the scope. Reads nothing but its arguments.
Inputs CollectInputs(const mesh::SidecarScope& scope, const ClientTraits& client, const LabelMap& labels,
                     const model::SettingsPtr& settings, const std::string& name);

// The inputs of the virtual hosts alone: of the egress listener of a port, or (port 0) of the socket `name`.
// Null where there is none.
HostInputsPtr CollectHosts(const mesh::SidecarScope& scope, const ClientTraits& client,
                           const LabelMap& labels, const model::SettingsPtr& settings, uint32_t port,
                           std::string_view name);

}  // namespace fairlead::gen::route

#endif  // FAIRLEAD_GEN_ROUTE_COLLECT_H_
