#include <string>
#include <utility>

#include "base/duration.h"
#include "base/strings.h"
#include "config/tree.h"
#include "gateway_api/conversion/route_filters.h"
#include "gateway_api/conversion/route_matches.h"
#include "gateway_api/conversion/rules.h"
#include "istio/networking/v1alpha3/virtual_service.pb.h"

namespace fairlead::gateway_api {
namespace {

namespace net = istio::networking::v1alpha3;
using config::Kind;
using config::Node;

constexpr int kDefaultAttempts = 2;
constexpr uint32_t kNoBackendStatus = 500;
constexpr int64_t kNanosPerSecond = 1'000'000'000;

// What came of one rule; `fatal` ends the whole route's translation.
struct RuleErrors {
  MaybeError soft, fatal;
  std::optional<EndpointPicker> picker = std::nullopt;  // of the last backend
};

// False where there is no duration, or none that is more than nothing.
bool SetDuration(Node text, google::protobuf::Duration* out) {
  const auto duration = ParseGoDuration(text.text());
  if (text.IsNull() || !duration) return false;
  out->set_seconds(duration->count() / kNanosPerSecond);
  out->set_nanos(static_cast<int32_t>(duration->count() % kNanosPerSecond));
  return duration->count() != 0;
}

void SetRetry(Node retry, net::HTTPRetry* out) {
  // "Implementations SHOULD retry on connection errors (disconnect, reset, timeout, TCP failure)".
  std::string retry_on = "connect-failure,refused-stream,unavailable,cancelled";
  for (Node code : retry.Find("codes").elements()) StrAppend(&retry_on, ",", code.text());
  const Node attempts = retry.Find("attempts");
  out->set_attempts(static_cast<int32_t>(attempts.IsNull() ? kDefaultAttempts : attempts.Int().value_or(0)));
  if (out->attempts() != 0) out->set_retry_on(std::move(retry_on));
  if (!retry.Find("backoff").IsNull()) SetDuration(retry.Find("backoff"), out->mutable_backoff());
}

void SetTimeouts(Node timeouts, net::HTTPRoute* out) {
  google::protobuf::Duration duration;
  if (SetDuration(timeouts.Find("request"), &duration)) *out->mutable_timeout() = duration;
  if (!SetDuration(timeouts.Find("backendRequest"), &duration)) return;
  if (out->has_retries()) {
    *out->mutable_retries()->mutable_per_try_timeout() = duration;
  } else {
    *out->mutable_timeout() = duration;
  }
}

RuleErrors AddBackends(const RouteView& view, const std::vector<WeightedBackend>& backends,
                       net::HTTPRoute* out) {
  RuleErrors errors;
  for (const WeightedBackend& one : backends) {
    const Backend backend = ResolveBackend(view, one.reference);
    if (backend.error) (backend.fatal ? errors.fatal : errors.soft) = backend.error;
    errors.picker = backend.picker;
    if (backend.fatal) return errors;
    net::HTTPRouteDestination* destination = out->add_route();
    destination->set_weight(one.weight);
    destination->mutable_destination()->set_host(backend.host);
    if (!backend.host.empty()) destination->mutable_destination()->mutable_port()->set_number(backend.port);
    const Node filters = one.reference.Find("filters");
    if (filters.size() == 0) continue;
    errors.fatal = ApplyBackendFilters(filters, destination->mutable_headers());
    if (errors.fatal) return errors;
  }
  return errors;
}

std::string RuleName(const RouteView& view, Node rule, size_t place) {
  const Node name = rule.Find("name");
  if (!name.IsNull()) return std::string(name.text());
  return StrCat(view.route.ns().str(), ".", view.route.name().str(), ".", place);
}

MaybeError SetMatch(const RouteView& view, Node match, net::HTTPRoute* out) {
  if (match.IsNull()) return std::nullopt;
  return view.route.kind() == Kind::kGrpcRoute ? SetGrpcMatch(match, out->add_match())
                                               : SetHttpMatch(match, out->add_match());
}

// `match` is absent where the rule has none.
RuleErrors ConvertRule(const RouteView& view, Node rule, size_t place, Node match, net::HTTPRoute* out) {
  out->set_name(RuleName(view, rule, place));
  if (MaybeError error = SetMatch(view, match, out)) return {std::nullopt, std::move(error)};
  const FilterErrors filters = ApplyFilters(view, rule.Find("filters"), out);
  if (filters.fatal) return {std::nullopt, filters.fatal};
  if (view.route.kind() == Kind::kHttpRoute) {
    if (!rule.Find("retry").IsNull()) SetRetry(rule.Find("retry"), out->mutable_retries());
    SetTimeouts(rule.Find("timeouts"), out);
  }
  int64_t total = 0;
  const auto backends = WeightedBackends(rule.Find("backendRefs"), &total);
  if (total == 0 && !out->has_redirect()) {
    out->mutable_direct_response()->set_status(kNoBackendStatus);
    return {filters.mirror, std::nullopt};
  }
  RuleErrors errors = AddBackends(view, backends, out);
  errors.soft = Joined(std::move(errors.soft), filters.mirror);
  return errors;
}

}  // namespace

MaybeError ConvertHttpRules(const RouteView& view, net::VirtualService* out, PickersByRule* pickers) {
  MaybeError last;
  size_t place = 0;
  for (Node rule : view.route.Spec<config::Tree>().Find("spec").Find("rules").elements()) {
    const Node matches = rule.Find("matches");
    const size_t count = std::max<size_t>(matches.size(), 1);
    for (size_t i = 0; i < count; ++i) {
      RuleErrors errors = ConvertRule(view, rule, place, matches.At(i), out->add_http());
      if (errors.fatal) {
        out->clear_http();
        return errors.fatal;
      }
      if (errors.soft) last = std::move(errors.soft);
      if (errors.picker && view.route.kind() == Kind::kHttpRoute)
        pickers->insert_or_assign(RuleName(view, rule, place), *std::move(errors.picker));
    }
    ++place;
  }
  return last;
}

}  // namespace fairlead::gateway_api
