#ifndef FAIRLEAD_XDS_REFERRED_NAMES_H_
#define FAIRLEAD_XDS_REFERRED_NAMES_H_

#include <string>
#include <vector>

#include "cache/resource.h"
#include "xds/types.h"

namespace fairlead::xds {

// The names of type `wanted` that the resources make a proxy ask for; sorted, unique.
std::vector<std::string> ReferredNames(const std::vector<cache::ResourcePtr>& resources, TypeId wanted);

}  // namespace fairlead::xds

#endif  // FAIRLEAD_XDS_REFERRED_NAMES_H_
