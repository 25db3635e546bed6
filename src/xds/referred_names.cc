#include "xds/referred_names.h"

#include <set>

namespace fairlead::xds {

std::vector<std::string> ReferredNames(const std::vector<cache::ResourcePtr>& resources, TypeId wanted) {
  std::set<std::string, std::less<>> names;
  for (const cache::ResourcePtr& resource : resources) {
    for (const cache::Reference& reference : resource->references) {
      if (reference.type == wanted) names.insert(reference.name.str());
    }
  }
  return {names.begin(), names.end()};
}

}  // namespace fairlead::xds
