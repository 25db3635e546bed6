#ifndef FAIRLEAD_AGENT_BOOTSTRAP_NODE_METADATA_H_
#define FAIRLEAD_AGENT_BOOTSTRAP_NODE_METADATA_H_

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "agent/bootstrap/platform.h"
#include "agent/options.h"

namespace fairlead::agent {

// The Istio whose agent and proxies these stand in for.
std::string_view SupportedIstioVersion();

// Fills Options::metadata and Options::locality, as pilot-agent does: ISTIO_META_* of the ProxyConfig's
// proxyMetadata and of the environment, the members of ISTIO_METAJSON_*, and the facts of the workload,
// which count more. `labels`: of the pod's file, none where there is no such file. What cannot be read
// becomes a remark. InvalidArgument names a known key whose value is of another type than Istio's.
// Source: pilot-agent, bootstrap.GetNodeMetaData and model.NodeMetadata.
absl::Status FillNodeMetadata(const Environment& environment,
                              const std::optional<std::map<std::string, std::string>>& labels,
                              const Platform& platform, Options* options);

}  // namespace fairlead::agent

#endif  // FAIRLEAD_AGENT_BOOTSTRAP_NODE_METADATA_H_
