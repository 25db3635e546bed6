#ifndef FAIRLEAD_GEN_TELEMETRY_ACCESS_LOG_H_
#define FAIRLEAD_GEN_TELEMETRY_ACCESS_LOG_H_

#include <google/protobuf/repeated_ptr_field.h>

#include "gen/telemetry/view.h"

namespace envoy::config::accesslog::v3 {
class AccessLog;
}

namespace fairlead::gen::telemetry {

struct Traits;

// The writer of the log. It decides on the kind of entries of the mesh-wide log service. Listeners log only
// unmatched connections.
enum class LogPlace : uint8_t { kHttp, kTcp, kListener };

using AccessLogs = google::protobuf::RepeatedPtrField<envoy::config::accesslog::v3::AccessLog>;

// Appends the access logs of a place. Pure. Source: Istio's AccessLogBuilder; the Telemetry API's
// AccessLogging, MeshConfig.defaultProviders.accessLogging, and MeshConfig.accessLogFile and
// enableEnvoyAccessLogService where neither says anything.
void AddAccessLogs(const Traits& traits, TrafficClass traffic, LogPlace place, AccessLogs* out);

}  // namespace fairlead::gen::telemetry

#endif  // FAIRLEAD_GEN_TELEMETRY_ACCESS_LOG_H_
