#ifndef FAIRLEAD_GEN_ROUTE_FRACTION_H_
#define FAIRLEAD_GEN_ROUTE_FRACTION_H_

#include <cstdint>

namespace envoy::type::v3 {
class FractionalPercent;
}

namespace fairlead::gen::route {

// 12.5 % as 125,000 of a million: what an Istio Percent becomes.
void SetFraction(double percent, envoy::type::v3::FractionalPercent* out);
// Whole per cents of a hundred: the older integer fields and the defaults.
void SetWholePercent(uint32_t percent, envoy::type::v3::FractionalPercent* out);

}  // namespace fairlead::gen::route

#endif  // FAIRLEAD_GEN_ROUTE_FRACTION_H_
