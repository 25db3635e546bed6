#ifndef FAIRLEAD_GEN_TELEMETRY_MODE_H_
#define FAIRLEAD_GEN_TELEMETRY_MODE_H_

#include "gen/telemetry/traits.h"
#include "istio/telemetry/v1alpha1/telemetry.pb.h"

namespace fairlead::gen::telemetry {

// Whether an entry of a Telemetry that is for this mode (of its match; none is CLIENT_AND_SERVER) counts for
// the traffic.
inline bool AppliesTo(istio::telemetry::v1alpha1::WorkloadMode mode, TrafficClass traffic) {
  switch (mode) {
    case istio::telemetry::v1alpha1::WorkloadMode::CLIENT:
      return traffic != TrafficClass::kInbound;  // routers are clients
    case istio::telemetry::v1alpha1::WorkloadMode::SERVER:
      return traffic == TrafficClass::kInbound;
    default:
      return true;
  }
}

}  // namespace fairlead::gen::telemetry

#endif  // FAIRLEAD_GEN_TELEMETRY_MODE_H_
