#ifndef FAIRLEAD_REGISTRY_EXPORT_TO_H_
#define FAIRLEAD_REGISTRY_EXPORT_TO_H_

#include <string>
#include <string_view>
#include <vector>

#include "model/settings.h"
#include "model/visibility.h"

namespace fairlead::registry {

// Where a service of namespace `ns` may be seen: "*" beats everything, "~" everything but that; an empty list
// takes MeshConfig.defaultServiceExportTo, which itself defaults to everywhere.
model::Visibility ResolveServiceExportTo(const std::vector<std::string>& export_to, std::string_view ns,
                                         const model::Settings& settings);

// The same for a ServiceEntry, whose visibility MeshConfig.serviceEntryVisibility may narrow.
model::Visibility ResolveEntryExportTo(const std::vector<std::string>& export_to, std::string_view ns,
                                       const model::Settings& settings);

}  // namespace fairlead::registry

#endif  // FAIRLEAD_REGISTRY_EXPORT_TO_H_
