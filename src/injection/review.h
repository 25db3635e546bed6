#ifndef FAIRLEAD_INJECTION_REVIEW_H_
#define FAIRLEAD_INJECTION_REVIEW_H_

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "injection/configuration.h"
#include "injection/surroundings.h"

namespace fairlead::injection {

// A pod that somebody asks about, as it was sent.
struct PodQuestion {
  nlohmann::json object;
  std::string ns;    // of the request
  std::string path;  // of the request, which can name variables
};

struct ReviewAnswer {
  bool allowed = false;
  std::string error;     // why it is not
  nlohmann::json patch;  // null where the object stays
  std::vector<std::string> warnings;
};

struct PodAnswer : ReviewAnswer {
  nlohmann::json pod;  // as injected, with its namespace; null where the pod is not injected
};

// Decides about a pod and injects it. Blocks for the engine. Thread-safe.
PodAnswer AnswerPod(const PodQuestion& question, const InjectorConfigurationPtr& configuration,
                    const PodSurroundings& surroundings, TemplateEngine& engine);

// An AdmissionReview (admission.k8s.io/v1 or v1beta1), read.
struct Review {
  std::string api_version;
  nlohmann::json request;  // an object, or null
};
// InvalidArgument, in the words of Kubernetes' decoder, where a body is none.
absl::StatusOr<Review> ReadReview(std::string_view body);

// The body of an answer to a review.
std::string ReviewText(const Review& review, const ReviewAnswer& answer);
// The body of the answer to a body that is no review; it names no version.
std::string NoReviewText(std::string_view error);

}  // namespace fairlead::injection

#endif  // FAIRLEAD_INJECTION_REVIEW_H_
