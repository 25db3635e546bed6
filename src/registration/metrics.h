#ifndef FAIRLEAD_REGISTRATION_METRICS_H_
#define FAIRLEAD_REGISTRATION_METRICS_H_

#include "base/metrics.h"

namespace fairlead::registration {

// Of what proxies register, by istiod's names. They are there from the first call on.
struct RegistrationMetrics {
  metrics::Counter &made, &updated, &departed, &deleted, &errors;
  metrics::Gauge& connected;
};
RegistrationMetrics& Metrics();

}  // namespace fairlead::registration

#endif  // FAIRLEAD_REGISTRATION_METRICS_H_
