#ifndef FAIRLEAD_GATEWAY_API_REVISION_H_
#define FAIRLEAD_GATEWAY_API_REVISION_H_

#include "config/object.h"

namespace fairlead::gateway_api {

// Whether the object is for this control plane, by its label istio.io/rev.
bool InRevision(const config::ConfigObject& object);

}  // namespace fairlead::gateway_api

#endif  // FAIRLEAD_GATEWAY_API_REVISION_H_
