#ifndef FAIRLEAD_GATEWAY_API_REFERENCE_GRANT_H_
#define FAIRLEAD_GATEWAY_API_REFERENCE_GRANT_H_

#include <string_view>

#include "config/object.h"
#include "gateway_api/group_kind.h"
#include "gateway_api/lookups.h"

namespace fairlead::gateway_api {

// Whether some ReferenceGrant in the target's namespace lets objects of `from` in `from_ns` refer to the
// target. Kinds that Istio does not know in grants are never let.
bool IsGranted(config::Kind from, std::string_view from_ns, const GroupKind& to, std::string_view to_ns,
               std::string_view to_name, Lookups& lookups);

}  // namespace fairlead::gateway_api

#endif  // FAIRLEAD_GATEWAY_API_REFERENCE_GRANT_H_
