#ifndef FAIRLEAD_CNI_NODE_PROCESSES_H_
#define FAIRLEAD_CNI_NODE_PROCESSES_H_

#include <string>

#include "absl/status/statusor.h"

namespace fairlead::cni {

// The network namespace of the pod with an address, as a file of one of the node's processes. `folder`: the
// node's /proc. NotFound: no process has it. Enters other namespaces meanwhile, in this thread.
absl::StatusOr<std::string> FindPodNamespace(const std::string& folder, const std::string& address);

}  // namespace fairlead::cni

#endif  // FAIRLEAD_CNI_NODE_PROCESSES_H_
