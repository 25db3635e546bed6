#ifndef FAIRLEAD_CONFIG_READ_KUBERNETES_READER_H_
#define FAIRLEAD_CONFIG_READ_KUBERNETES_READER_H_

#include <cstdint>
#include <memory>

#include "base/hash.h"
#include "config/kind.h"
#include "config/kubernetes_types.h"
#include "config/report.h"
#include "config/tree.h"

namespace fairlead::config {

struct Payload {
  std::shared_ptr<const void> value;  // null where the object is broken
  Hash128 hash = {};                  // of the value
};

// Reads a document of one of the Kubernetes kinds (PayloadType::kStruct) as its struct of kubernetes_types.h,
// with the API server's defaults. The document has passed CheckKubernetes; what that cannot see is reported
// here.
Payload ReadKubernetes(const KindInfo& kind, Node document, Report& report);

// The parts of ReadKubernetes.
ServiceSpec ReadService(Node document, Report& report);
EndpointSliceSpec ReadEndpointSlice(Node document, Report& report);
// The slice that mirrors Endpoints: the endpoints of all subsets. None where Kubernetes would not mirror, as
// the object's label says so or it is the lock of a leader election.
EndpointSliceSpec ReadEndpoints(Node document, Report& report);
PodSpec ReadPod(Node document);

}  // namespace fairlead::config

#endif  // FAIRLEAD_CONFIG_READ_KUBERNETES_READER_H_
