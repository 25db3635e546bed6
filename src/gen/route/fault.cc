#include "gen/route/fault.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "envoy/extensions/filters/http/fault/v3/fault.pb.h"
#include "gen/route/fraction.h"
#include "istio/networking/v1alpha3/virtual_service.pb.h"

namespace fairlead::gen::route {
namespace {

namespace api = istio::networking::v1alpha3;
namespace pb = envoy::extensions::filters::http::fault::v3;

// gRPC's status codes in the order of their numbers (grpc/doc/statuscodes.md).
constexpr std::array<std::string_view, 17> kGrpcStatuses = {
    "OK",        "CANCELLED",      "UNKNOWN",           "INVALID_ARGUMENT",   "DEADLINE_EXCEEDED",
    "NOT_FOUND", "ALREADY_EXISTS", "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION",
    "ABORTED",   "OUT_OF_RANGE",   "UNIMPLEMENTED",     "INTERNAL",           "UNAVAILABLE",
    "DATA_LOSS", "UNAUTHENTICATED"};

// A name that is none counts as OK, as it does in Istio.
uint32_t GrpcStatusCode(std::string_view name) {
  const auto found = std::find(kGrpcStatuses.begin(), kGrpcStatuses.end(), name);
  return found == kGrpcStatuses.end() ? 0 : static_cast<uint32_t>(found - kGrpcStatuses.begin());
}

void BuildDelay(const api::HTTPFaultInjection::Delay& delay, pb::HTTPFault* fault) {
  if (!delay.has_fixed_delay()) return;
  auto* out = fault->mutable_delay();
  *out->mutable_fixed_delay() = delay.fixed_delay();
  if (delay.has_percentage()) {
    SetFraction(delay.percentage().value(), out->mutable_percentage());
    return;
  }
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
  SetWholePercent(static_cast<uint32_t>(delay.percent()), out->mutable_percentage());
#pragma GCC diagnostic pop
}

void BuildAbort(const api::HTTPFaultInjection::Abort& abort, pb::HTTPFault* fault) {
  if (!abort.has_http_status() && !abort.has_grpc_status()) return;
  auto* out = fault->mutable_abort();
  if (abort.has_percentage()) SetFraction(abort.percentage().value(), out->mutable_percentage());
  if (abort.has_http_status()) {
    out->set_http_status(static_cast<uint32_t>(abort.http_status()));
  } else {
    out->set_grpc_status(GrpcStatusCode(abort.grpc_status()));
  }
}

}  // namespace

void BuildFault(const api::HTTPFaultInjection& fault, pb::HTTPFault* out) {
  if (fault.has_delay()) BuildDelay(fault.delay(), out);
  if (fault.has_abort()) BuildAbort(fault.abort(), out);
}

}  // namespace fairlead::gen::route
