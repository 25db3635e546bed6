#ifndef FAIRLEAD_CONFIG_ENTRY_ENDPOINTS_H_
#define FAIRLEAD_CONFIG_ENTRY_ENDPOINTS_H_

#include "config/object.h"

namespace fairlead::config {

// Whether both are versions of one ServiceEntry that differ in nothing but `endpoints`: a change as that of
// an EndpointSlice is to a Service.
bool DifferInEndpointsAlone(const ConfigObject& before, const ConfigObject& after);

}  // namespace fairlead::config

#endif  // FAIRLEAD_CONFIG_ENTRY_ENDPOINTS_H_
