#ifndef FAIRLEAD_GEN_ROUTE_RETRY_ON_H_
#define FAIRLEAD_GEN_ROUTE_RETRY_ON_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace envoy::config::route::v3 {
class RetryPolicy;
}

namespace fairlead::gen::route {

// HTTPRetry.retryOn, taken apart: Envoy's conditions, and the status codes that Istio lets users write among
// them.
struct RetryOn {
  std::string conditions;       // comma-separated
  std::vector<uint32_t> codes;  // in the order written
};

// Codes bring the condition retriable-status-codes along. Pure. Source: Istio's retry.ConvertPolicy.
RetryOn ParseRetryOn(std::string_view retry_on);
// Both parts into a policy.
void SetRetryOn(std::string_view retry_on, envoy::config::route::v3::RetryPolicy* out);

}  // namespace fairlead::gen::route

#endif  // FAIRLEAD_GEN_ROUTE_RETRY_ON_H_
