#ifndef FAIRLEAD_CA_TOKEN_REVIEW_H_
#define FAIRLEAD_CA_TOKEN_REVIEW_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "ca/caller.h"
#include "kube/api_request.h"

namespace fairlead::ca {

struct TokenReviewOptions {
  std::vector<std::string> audiences;  // TOKEN_AUDIENCES; one of them is required
  std::string own_cluster;             // its id, for callers that name it
  // One request to the API server of a cluster ("": the own one); blocks. NotFound: no such cluster.
  std::function<kube::ApiAnswer(const std::string& cluster, kube::ApiRequest)> ask;
  // How long a verdict counts without a further question: a token of a deleted pod holds on for so long.
  std::chrono::milliseconds keep_good{30'000}, keep_bad{5'000};
  size_t most_kept = 10'000;
  std::function<int64_t()> now;  // Unix seconds
  std::function<Clock::time_point()> clock = [] { return Clock::now(); };
};

// By "authorization: Bearer …": a token of a service account that the API server of the caller's cluster
// accepts. Without "clusterid" that is the own cluster. What cannot be such a token is refused without a
// question. Verdicts are kept for a short time; trouble with a server is no verdict.
// Source: Istio's KubeJWTAuthenticator.
std::unique_ptr<Authenticator> NewTokenReviewAuthenticator(TokenReviewOptions options,
                                                           TrustDomains trust_domains);

}  // namespace fairlead::ca

#endif  // FAIRLEAD_CA_TOKEN_REVIEW_H_
