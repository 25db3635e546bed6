#ifndef FAIRLEAD_AGENT_BOOTSTRAP_DOWNWARD_API_H_
#define FAIRLEAD_AGENT_BOOTSTRAP_DOWNWARD_API_H_

#include <map>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace fairlead::agent {

// Labels or annotations of a pod as Kubernetes' downward API writes them into a file: lines of key="value",
// the value quoted as Go quotes. Lines without "=" are passed over. InvalidArgument names the line of a value
// that is not quoted so. Pure. Source: Kubernetes, fieldpath.FormatMap; Go's strconv.Quote.
absl::StatusOr<std::map<std::string, std::string>> ParseDownwardApi(std::string_view text);

}  // namespace fairlead::agent

#endif  // FAIRLEAD_AGENT_BOOTSTRAP_DOWNWARD_API_H_
