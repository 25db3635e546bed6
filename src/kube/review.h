#ifndef FAIRLEAD_KUBE_REVIEW_H_
#define FAIRLEAD_KUBE_REVIEW_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "kube/api_request.h"

// Questions to an API server about others: whose a token is, and what an account may do.
// Source: kubernetes.io/docs/reference/kubernetes-api (authentication.k8s.io/v1, authorization.k8s.io/v1).
namespace fairlead::kube {

// The service account of a token, and the pod that the token is bound to; "" where it is bound to none.
struct ReviewedToken {
  std::string ns, service_account;
  std::string pod, pod_uid, node;
};

// Without audiences the token must be for the API server itself.
ApiRequest TokenReviewRequest(std::string_view token, const std::vector<std::string>& audiences);
// Unauthenticated, with the server's reason, for a token that does not hold, is for another audience or is of
// no service account; otherwise as ApiAnswer says.
absl::StatusOr<ReviewedToken> ReadTokenReview(const ApiAnswer& answer,
                                              const std::vector<std::string>& audiences);

// Whether an account may list the Secrets of its namespace.
ApiRequest SecretReviewRequest(std::string_view ns, std::string_view service_account);
absl::StatusOr<bool> ReadAccessReview(const ApiAnswer& answer);

}  // namespace fairlead::kube

#endif  // FAIRLEAD_KUBE_REVIEW_H_
