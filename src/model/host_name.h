#ifndef FAIRLEAD_MODEL_HOST_NAME_H_
#define FAIRLEAD_MODEL_HOST_NAME_H_

#include "config/host_name.h"

// Host names are the same to services as to the objects that name them.
namespace fairlead::model {

using config::HostsMatch;
using config::HostSubsetOf;
using config::IsWildcard;
using config::MoreSpecificHost;
using config::QualifyHost;

}  // namespace fairlead::model

#endif  // FAIRLEAD_MODEL_HOST_NAME_H_
