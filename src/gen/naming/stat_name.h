#ifndef FAIRLEAD_GEN_NAMING_STAT_NAME_H_
#define FAIRLEAD_GEN_NAMING_STAT_NAME_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "model/service.h"

// Statistics names. A cluster's alt_stat_name and a filter's stat_prefix end in ';', where Istio's stats tags
// cut.
namespace fairlead::gen {

// "name;".
std::string StatName(std::string_view name);

// A pattern of MeshConfig (outboundClusterStatName, inboundClusterStatName, …) filled in: %SERVICE%,
// %SERVICE_NAME%, %SERVICE_FQDN%, %SERVICE_PORT%, %SERVICE_PORT_NAME%, %TARGET_PORT%, %SUBSET_NAME%. Without
// ';'.
std::string FillStatPattern(std::string_view pattern, const model::Service& service, std::string_view subset,
                            const model::ServicePort& port, uint32_t target_port);

// The same for a listener's inbound side. The service may be a Sidecar's ingress listener (registry
// kExternal, its name as hostname) or absent. As in Istio, %TARGET_PORT% is not known there and stays as it
// is.
std::string FillInboundStatPattern(std::string_view pattern, const model::Service& service,
                                   const model::ServicePort& port);

}  // namespace fairlead::gen

#endif  // FAIRLEAD_GEN_NAMING_STAT_NAME_H_
