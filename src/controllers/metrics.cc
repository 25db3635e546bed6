#include "controllers/metrics.h"

namespace fairlead::controllers {

WriteMetrics& Metrics() {
  static auto* const metrics = new WriteMetrics{
      metrics::GetCounter("fairlead_cluster_status_writes_total", "Statuses written to the API server."),
      metrics::GetCounter("fairlead_cluster_status_conflicts_total",
                          "Statuses not written as their objects had changed meanwhile."),
      metrics::GetCounter("fairlead_cluster_status_write_errors_total",
                          "Statuses that could not be written to the API server."),
      metrics::GetCounter("fairlead_cluster_root_writes_total", "Root certificates written to namespaces."),
      metrics::GetCounter("fairlead_cluster_root_write_errors_total",
                          "Root certificates that could not be written to namespaces."),
      metrics::GetCounter("fairlead_cluster_deployment_writes_total",
                          "Objects written for the deployments of Gateways."),
      metrics::GetCounter("fairlead_cluster_deployment_write_errors_total",
                          "Objects for the deployments of Gateways that could not be written."),
      metrics::GetCounter("webhook_patch_attempts_total", "Patches of configurations of webhooks."),
      metrics::GetCounter("webhook_patch_failures_total",
                          "Patches of configurations of webhooks that the API server refused."),
  };
  return *metrics;
}

metrics::Gauge& LeaderGauge(const std::string& lock) {
  return metrics::GetGauge("fairlead_leader", "Whether this replica leads, by the lock of the cluster.",
                           {{"lock", lock}});
}

}  // namespace fairlead::controllers
