#ifndef FAIRLEAD_CNI_PODS_CLIENT_H_
#define FAIRLEAD_CNI_PODS_CLIENT_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "cni/pod_facts.h"
#include "kube/access.h"
#include "kube/credentials.h"

namespace fairlead::cni {

// Pods of an API server, one at a time. Calls block, for 10 s at most. Errors: NotFound, PermissionDenied and
// Unauthenticated as the server says, Aborted for a Pod that has changed, Unavailable otherwise. One thread.
class PodsClient {
 public:
  explicit PodsClient(kube::ServerAccess access) : credentials_(std::move(access)) {}

  absl::StatusOr<PodFacts> Get(const std::string& ns, const std::string& name);
  // Only if it is still this one, unchanged.
  absl::Status Delete(const PodFacts& pod);
  absl::Status SetLabel(const PodFacts& pod, const std::string& key, const std::string& value);

 private:
  absl::StatusOr<std::string> Ask(std::string_view method, const std::string& target, const std::string& body,
                                  std::string_view content_type);

  kube::ClientCredentials credentials_;
};

}  // namespace fairlead::cni

#endif  // FAIRLEAD_CNI_PODS_CLIENT_H_
