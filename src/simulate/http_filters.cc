#include "simulate/http_filters.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/strings.h"
#include "envoy/extensions/filters/http/cors/v3/cors.pb.h"
#include "envoy/extensions/filters/http/fault/v3/fault.pb.h"
#include "simulate/access.h"
#include "simulate/value_match.h"

namespace fairlead::simulate {
namespace {

using envoy::extensions::filters::http::cors::v3::CorsPolicy;
using envoy::extensions::filters::http::fault::v3::HTTPFault;
using envoy::extensions::filters::network::http_connection_manager::v3::HttpConnectionManager;

constexpr std::string_view kCorsFilter = "envoy.filters.http.cors";
constexpr std::string_view kFaultFilter = "envoy.filters.http.fault";
// These let every request pass.
constexpr std::array kPassive = {std::string_view("envoy.filters.http.router"),
                                 std::string_view("envoy.filters.http.grpc_stats"),
                                 std::string_view("envoy.filters.http.stateful_session"),
                                 std::string_view("envoy.filters.http.grpc_web"),
                                 std::string_view("envoy.filters.http.compressor"),
                                 std::string_view("envoy.filters.http.decompressor"),
                                 std::string_view("istio.alpn"),
                                 std::string_view("istio.stats"),
                                 std::string_view("istio.metadata_exchange"),
                                 std::string_view("envoy.filters.http.peer_metadata"),
                                 std::string_view("envoy.filters.http.set_filter_state")};

// The most specific configuration of a filter for a route, of type Config; nothing where there is none.
template <typename Config>
std::optional<Config> RouteConfig(const RoutePlace& place, std::string_view filter) {
  const std::string name(filter);
  for (const auto* configs : {&place.route.typed_per_filter_config(), &place.host.typed_per_filter_config(),
                              &place.configuration.typed_per_filter_config()}) {
    const auto found = configs->find(name);
    Config config;
    if (found != configs->end() && found->second.template Is<Config>() && found->second.UnpackTo(&config))
      return config;
  }
  return std::nullopt;
}

bool Answer(int status, std::string_view reason, SimulationOutcome* outcome) {
  outcome->verdict = CallVerdict::kDirectResponse;
  outcome->status = status;
  outcome->reason = reason;
  return true;
}

// A preflight request of an allowed origin is answered; everything else passes.
bool RunCors(const RoutePlace& place, const SimulatedRequest& request, SimulationOutcome* outcome) {
  const auto policy = RouteConfig<CorsPolicy>(place, kCorsFilter);
  if (!policy) return false;
  if (policy->has_filter_enabled() && Percent(policy->filter_enabled().default_value()) <= request.draw)
    return false;
  const std::optional<std::string> origin = request.Header("origin");
  const auto& allowed = policy->allow_origin_string_match();
  const bool fits = origin && std::any_of(allowed.begin(), allowed.end(),
                                          [&](const auto& one) { return Matches(one, *origin); });
  if (!fits) return false;
  outcome->changes.push_back({"response header", StrCat("set access-control-allow-origin: ", *origin)});
  if (request.method != "OPTIONS" || !request.Header("access-control-request-method")) return false;
  return Answer(200, "CORS preflight", outcome);
}

bool FaultApplies(const HTTPFault& fault, const SimulatedRequest& request) {
  const auto& headers = fault.headers();
  return std::all_of(headers.begin(), headers.end(), [&](const auto& one) { return Matches(one, request); });
}

bool RunFault(const RoutePlace& place, const SimulatedRequest& request, SimulationOutcome* outcome) {
  const auto fault = RouteConfig<HTTPFault>(place, kFaultFilter);
  if (!fault || !FaultApplies(*fault, request)) return false;
  if (fault->has_delay() && fault->delay().has_fixed_delay()) {
    const auto& delay = fault->delay().fixed_delay();
    const double seconds = static_cast<double>(delay.seconds()) + delay.nanos() * 1e-9;
    outcome->changes.push_back(
        {"fault delay", StrCat(ToText(seconds), "s ", ToText(Percent(fault->delay().percentage())), "%")});
  }
  const auto& abort = fault->abort();
  if (!fault->has_abort() || (!abort.has_http_status() && !abort.has_grpc_status())) return false;
  const double percent = Percent(abort.percentage());
  const std::string status =
      abort.has_grpc_status() ? StrCat("gRPC ", abort.grpc_status()) : StrCat(abort.http_status());
  outcome->changes.push_back({"fault abort", StrCat(status, " ", ToText(percent), "%")});
  if (percent < 100) return false;
  // A gRPC fault's HTTP status is 200, the gRPC status is in the trailers.
  return Answer(abort.has_grpc_status() ? 200 : static_cast<int>(abort.http_status()), "fault injected",
                outcome);
}

}  // namespace

bool AnsweredByFilter(const HttpConnectionManager& manager, const RoutePlace& place,
                      const SimulatedRequest& request, SimulationOutcome* outcome) {
  for (const auto& filter : manager.http_filters()) {
    const std::string& name = filter.name();
    if (filter.disabled() || DecidesAccess(name)) continue;
    if (name == kCorsFilter) {
      if (RunCors(place, request, outcome)) return true;
    } else if (name == kFaultFilter) {
      if (RunFault(place, request, outcome)) return true;
    } else if (std::find(kPassive.begin(), kPassive.end(), name) == kPassive.end()) {
      outcome->notes.push_back(StrCat("HTTP filter ", name, " is not simulated: it may answer itself"));
    }
  }
  return false;
}

}  // namespace fairlead::simulate
