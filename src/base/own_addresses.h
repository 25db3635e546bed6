#ifndef FAIRLEAD_BASE_OWN_ADDRESSES_H_
#define FAIRLEAD_BASE_OWN_ADDRESSES_H_

#include <string>
#include <vector>

namespace fairlead {

// The IP addresses of this machine's interfaces that are up, as text, without those of a link alone: the
// first hundred, as a machine of many containers has more than anybody asks for. Empty where they cannot be
// read.
std::vector<std::string> OwnAddresses();

}  // namespace fairlead

#endif  // FAIRLEAD_BASE_OWN_ADDRESSES_H_
