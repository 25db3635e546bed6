#include "xds/referred_names.h"

#include <set>

#include "xds/references.h"

namespace fairlead::xds {

std::vector<std::string> ReferredNames(TypeId type, const std::vector<cache::ResourcePtr>& resources,
                                       TypeId wanted) {
  std::set<std::string, std::less<>> names;
  for (const cache::ResourcePtr& resource : resources) {
    const std::string any = resource->any.Unpacked();
    for (const Reference& reference : ReferencesOf(type, any)) {
      if (reference.type == wanted) names.emplace(reference.name);
    }
  }
  return {names.begin(), names.end()};
}

}  // namespace fairlead::xds
