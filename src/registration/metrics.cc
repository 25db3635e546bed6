#include "registration/metrics.h"

namespace fairlead::registration {

RegistrationMetrics& Metrics() {
  static auto* const metrics = new RegistrationMetrics{
      metrics::GetCounter("auto_registration_success_total", "WorkloadEntries that were made for proxies."),
      metrics::GetCounter("auto_registration_updates_total",
                          "WorkloadEntries whose proxies have connected again."),
      metrics::GetCounter("auto_registration_unregister_total",
                          "WorkloadEntries whose proxies have disconnected."),
      metrics::GetCounter("auto_registration_deletes_total",
                          "WorkloadEntries that were deleted as their proxies stayed away."),
      metrics::GetCounter("auto_registration_errors_total",
                          "Registrations that were refused, and writes that failed."),
      metrics::GetGauge("fairlead_registered_proxies",
                        "Connected proxies whose WorkloadEntries are kept here.", {}),
  };
  return *metrics;
}

}  // namespace fairlead::registration
