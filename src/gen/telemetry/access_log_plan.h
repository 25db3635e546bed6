#ifndef FAIRLEAD_GEN_TELEMETRY_ACCESS_LOG_PLAN_H_
#define FAIRLEAD_GEN_TELEMETRY_ACCESS_LOG_PLAN_H_

#include <map>
#include <optional>
#include <string>

#include "gen/telemetry/view.h"

namespace envoy::config::accesslog::v3 {
class AccessLog;
}
namespace istio::mesh::v1alpha1 {
class MeshConfig;
class MeshConfig_ExtensionProvider;
}  // namespace istio::mesh::v1alpha1

// Private to the access log sources of this folder.
namespace fairlead::gen::telemetry {

struct Traits;

// The settings for one provider.
struct ProviderLogging {
  bool disabled = false;
  std::string filter;  // a CEL expression, "" for none
  bool has_filter = false;
};

// By provider name, as Telemetry objects and default providers come to; nullopt where nothing is said.
// Source: Istio's Telemetries.AccessLogging and mergeLogs.
std::optional<std::map<std::string, ProviderLogging>> PlanAccessLogs(const Traits& traits,
                                                                     TrafficClass traffic);

// The log of MeshConfig.accessLogFile, format and encoding, written to `path`.
void SetMeshFileLog(const istio::mesh::v1alpha1::MeshConfig& mesh, const std::string& path,
                    envoy::config::accesslog::v3::AccessLog* out);

// The log that a provider writes; false where it writes none or its service is unknown.
bool SetProviderLog(const Traits& traits, const istio::mesh::v1alpha1::MeshConfig_ExtensionProvider& provider,
                    envoy::config::accesslog::v3::AccessLog* out);

// MeshConfig.enableEnvoyAccessLogService: to the service of the bootstrap.
void SetMeshServiceLog(bool http, const std::string& log_name, envoy::config::accesslog::v3::AccessLog* out);

}  // namespace fairlead::gen::telemetry

#endif  // FAIRLEAD_GEN_TELEMETRY_ACCESS_LOG_PLAN_H_
