#ifndef FAIRLEAD_AGENT_BOOTSTRAP_KNOWN_METADATA_H_
#define FAIRLEAD_AGENT_BOOTSTRAP_KNOWN_METADATA_H_

#include <nlohmann/json.hpp>

#include "absl/status/status.h"

namespace fairlead::agent {

// Adds the keys that a control plane knows, which may be written in any spelling of case, under their own
// names and in the form that it reads: booleans as "true", a pod's ports without what is not known of a port.
// What is false or empty stays as it was written. InvalidArgument names a known key whose value is of another
// type than Istio's. Pure. Source: pilot-agent, model.BootstrapNodeMetadata.
absl::Status AddKnownMetadata(nlohmann::json* metadata);

}  // namespace fairlead::agent

#endif  // FAIRLEAD_AGENT_BOOTSTRAP_KNOWN_METADATA_H_
