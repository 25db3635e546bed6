#include "gen/route/fraction.h"

#include "envoy/type/v3/percent.pb.h"

namespace fairlead::gen::route {

using envoy::type::v3::FractionalPercent;

void SetFraction(double percent, FractionalPercent* out) {
  out->set_numerator(static_cast<uint32_t>(percent * 10000));
  out->set_denominator(FractionalPercent::MILLION);
}

void SetWholePercent(uint32_t percent, FractionalPercent* out) {
  out->set_numerator(percent);
  out->set_denominator(FractionalPercent::HUNDRED);
}

}  // namespace fairlead::gen::route
