#include "config/check/http_route.h"

#include <algorithm>
#include <iterator>

// Deprecated fields are checked as well.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

namespace fairlead::config::check {
namespace {

constexpr std::string_view kCorsMethods[] = {"GET",    "HEAD",    "POST",    "PUT",   "PATCH",
                                             "DELETE", "CONNECT", "OPTIONS", "TRACE", "*"};
constexpr std::string_view kGrpcStatuses[] = {"OK",
                                              "CANCELLED",
                                              "UNKNOWN",
                                              "INVALID_ARGUMENT",
                                              "DEADLINE_EXCEEDED",
                                              "NOT_FOUND",
                                              "UNAVAILABLE",
                                              "ALREADY_EXISTS",
                                              "PERMISSION_DENIED",
                                              "RESOURCE_EXHAUSTED",
                                              "ABORTED",
                                              "OUT_OF_RANGE",
                                              "UNIMPLEMENTED",
                                              "INTERNAL",
                                              "DATA_LOSS",
                                              "FAILED_PRECONDITION",
                                              "UNAUTHENTICATED"};

bool IsAuthority(std::string_view header) {
  return EqualsIgnoreCase(header, ":authority") || EqualsIgnoreCase(header, "host");
}

void CheckHeaderName(std::string_view name, bool authority_too, const Spot& at) {
  if (name.empty()) return at.Error("missing-field", "a header's name is missing");
  const bool internal = name.starts_with(':') || EqualsIgnoreCase(name, "host");
  if (internal && !(authority_too && IsAuthority(name)))
    at.Error("unsupported", StrCat("header \"", name, "\" cannot be changed"));
}

void CheckOperations(const net::Headers::HeaderOperations& operations, bool request, const Spot& at) {
  const Spot set(at, "set"), add(at, "add"), remove(at, "remove");
  for (const auto& [name, value] : operations.set()) {
    CheckHeaderName(name, request, set);
    CheckHeaderValue(value, Spot(set, name));
  }
  for (const auto& [name, value] : operations.add()) {
    CheckHeaderName(name, request, add);
    CheckHeaderValue(value, Spot(add, name));
  }
  for (const std::string& name : operations.remove()) CheckHeaderName(name, false, remove);
}

void CheckHeaders(const net::Headers& headers, const Spot& at) {
  CheckOperations(headers.request(), true, Spot(at, "request"));
  CheckOperations(headers.response(), false, Spot(at, "response"));
}

void CheckCorsHeaders(const google::protobuf::RepeatedPtrField<std::string>& names, const Spot& at) {
  constexpr std::string_view kExtra = "!#$%&'*+-.^_`|~";
  for (int i = 0; i < names.size(); ++i) {
    const bool good = std::all_of(names[i].begin(), names[i].end(), [&](char c) {
      return isalnum(static_cast<unsigned char>(c)) || kExtra.find(c) != std::string_view::npos;
    });
    if (names[i].empty() || !good)
      Spot(at, static_cast<size_t>(i)).Refuse(StrCat("\"", names[i], "\" is no header's name"));
  }
}

void CheckOrigin(const net::StringMatch& origin, const Spot& at) {
  const std::string& text = origin.has_exact()    ? origin.exact()
                            : origin.has_prefix() ? origin.prefix()
                                                  : origin.regex();
  if (text.empty()) return at.Error("missing-field", "an origin has an exact, prefix or regex text");
  if (origin.has_regex()) at.Refuse(RegexProblem(origin.regex()));
}

void CheckCors(const net::CorsPolicy& cors, const Spot& at) {
  const Spot origins(at, "allowOrigins"), methods(at, "allowMethods");
  for (int i = 0; i < cors.allow_origins_size(); ++i)
    CheckOrigin(cors.allow_origins(i), Spot(origins, static_cast<size_t>(i)));
  for (int i = 0; i < cors.allow_methods_size(); ++i) {
    const std::string& method = cors.allow_methods(i);
    if (std::find(std::begin(kCorsMethods), std::end(kCorsMethods), method) == std::end(kCorsMethods))
      Spot(methods, static_cast<size_t>(i)).Refuse(StrCat("\"", method, "\" is no HTTP method"));
  }
  CheckCorsHeaders(cors.allow_headers(), Spot(at, "allowHeaders"));
  CheckCorsHeaders(cors.expose_headers(), Spot(at, "exposeHeaders"));
  if (!cors.has_max_age()) return;
  CheckDuration(cors.max_age(), Spot(at, "maxAge"));
  if (cors.max_age().nanos() > 0) at.Field("maxAge").Refuse("the age has whole seconds");
}

void CheckStatus(int64_t status, const Spot& at) {
  if (status < 200 || status > 600)
    at.Error("out-of-range", StrCat("status ", status, " is not in 200..599"));
}

void CheckFraction(const net::Percent& percent, const Spot& at) {
  const double value = percent.value();
  if (value < 0 || value > 100 || (value > 0 && value < 0.0001))
    at.Error("out-of-range", "a percentage is 0 or in 0.0001..100");
}

void CheckFault(const net::HTTPFaultInjection& fault, const Spot& at) {
  using Abort = net::HTTPFaultInjection::Abort;
  if (!fault.has_abort() && !fault.has_delay()) at.Error("missing-field", "a fault has an abort or a delay");
  const Spot abort(at, "abort"), delay(at, "delay");
  if (fault.abort().has_percentage()) CheckFraction(fault.abort().percentage(), Spot(abort, "percentage"));
  if (fault.delay().has_percentage()) CheckFraction(fault.delay().percentage(), Spot(delay, "percentage"));
  if (fault.delay().has_fixed_delay()) CheckDuration(fault.delay().fixed_delay(), Spot(delay, "fixedDelay"));
  if (fault.delay().has_exponential_delay())
    delay.Field("exponentialDelay").Error("unsupported", "this is not supported");
  if (!fault.has_abort()) return;
  const std::string& grpc = fault.abort().grpc_status();
  switch (fault.abort().error_type_case()) {
    case Abort::kGrpcStatus:
      if (std::find(std::begin(kGrpcStatuses), std::end(kGrpcStatuses), grpc) == std::end(kGrpcStatuses))
        abort.Field("grpcStatus").Refuse(StrCat("\"", grpc, "\" is no gRPC status such as NOT_FOUND"));
      break;
    case Abort::kHttpStatus:
      CheckStatus(fault.abort().http_status(), Spot(abort, "httpStatus"));
      break;
    case Abort::kHttp2Error:
      abort.Field("http2Error").Error("unsupported", "this is not supported");
      break;
    case Abort::ERROR_TYPE_NOT_SET:
      break;
  }
}

void CheckMirrors(const net::HTTPRoute& route, const Spot& at) {
  const Spot percent(at, "mirrorPercent"), percentage(at, "mirrorPercentage"), mirrors(at, "mirrors");
  if (route.has_mirror_percent()) {
    if (route.mirror_percent().value() > 100) percent.Error("out-of-range", "a percentage is in 0..100");
    percent.Warn("deprecated", "use mirrorPercentage instead");
  }
  if (route.has_mirror_percentage()) CheckPercent(route.mirror_percentage().value(), percentage);
  if (route.has_mirror()) CheckDestination(route.mirror(), Spot(at, "mirror"));
  for (int i = 0; i < route.mirrors_size(); ++i) {
    const net::HTTPMirrorPolicy& mirror = route.mirrors(i);
    const Spot here(mirrors, static_cast<size_t>(i));
    if (!mirror.has_destination()) {
      here.Field("destination").Error("missing-field", "this field is required");
      continue;
    }
    CheckDestination(mirror.destination(), Spot(here, "destination"));
    if (mirror.has_percentage()) CheckPercent(mirror.percentage().value(), Spot(here, "percentage"));
  }
}

void CheckRedirect(const net::HTTPRoute& route, const Spot& at) {
  const net::HTTPRedirect& redirect = route.redirect();
  if (!redirect.uri().empty() && !redirect.prefix_rewrite().empty())
    return at.Error("conflict", "only one of uri and prefixRewrite may be set");
  for (const net::HTTPMatchRequest& match : route.match()) {
    if (!redirect.prefix_rewrite().empty() && match.has_uri() && !match.uri().has_prefix())
      return at.Field("prefixRewrite").Error("conflict", "every match of a URI must be by prefix");
  }
  if (redirect.uri().empty() && redirect.prefix_rewrite().empty() && redirect.authority().empty() &&
      redirect.redirect_port_case() == net::HTTPRedirect::REDIRECT_PORT_NOT_SET &&
      redirect.scheme().empty()) {
    return at.Error("missing-field", "a redirect has a uri, authority, scheme or port");
  }
  if (redirect.redirect_code() != 0 && (redirect.redirect_code() < 300 || redirect.redirect_code() > 399))
    at.Field("redirectCode").Error("out-of-range", "a redirect's code is in 300..399");
  if (!redirect.scheme().empty() && redirect.scheme() != "http" && redirect.scheme() != "https")
    at.Field("scheme").Refuse("the scheme is http or https");
  if (redirect.port() > 0) at.Field("port").Refuse(PortProblem(redirect.port()));
}

void CheckDirectResponse(const net::HTTPDirectResponse& response, const Spot& at) {
  constexpr size_t kLarge = 100 << 10, kTooLarge = 1 << 20;
  const size_t size = std::max(response.body().string().size(), response.body().bytes().size());
  if (size > kTooLarge) {
    at.Field("body").Error("out-of-range", "a response has at most 1 MiB");
  } else if (size > kLarge) {
    at.Field("body").Warn("large", "large responses make configuration large");
  }
  CheckStatus(static_cast<int32_t>(response.status()), Spot(at, "status"));
}

void CheckRewrite(const net::HTTPRoute& route, const Spot& at) {
  const net::HTTPRewrite& rewrite = route.rewrite();
  if (!rewrite.uri().empty() && rewrite.has_uri_regex_rewrite())
    return at.Error("conflict", "only one of uri and uriRegexRewrite may be set");
  if (rewrite.uri().empty() && !rewrite.has_uri_regex_rewrite() && rewrite.authority().empty())
    return at.Error("missing-field", "a rewrite has a uri, uriRegexRewrite or authority");
  if (!rewrite.has_uri_regex_rewrite()) return;
  const Spot regex(at, "uriRegexRewrite");
  if (rewrite.uri_regex_rewrite().match().empty() || rewrite.uri_regex_rewrite().rewrite().empty())
    return regex.Error("missing-field", "both match and rewrite are required");
  regex.Field("match").Refuse(RegexProblem(rewrite.uri_regex_rewrite().match()));
}

// The authority may be set in one place only.
void CheckAuthority(const net::HTTPRoute& route, const Spot& at) {
  int times = !route.rewrite().authority().empty();
  for (const auto& [name, value] : route.headers().request().set()) times += IsAuthority(name);
  for (const auto& [name, value] : route.headers().request().add()) times += IsAuthority(name);
  if (times > 1) at.Error("conflict", "the authority is set more than once");
}

void CheckRoutes(const net::HTTPRoute& route, bool gateway_api, const Spot& at) {
  uint32_t total = 0;  // overflows as Istio's does
  for (int i = 0; i < route.route_size(); ++i) {
    const net::HTTPRouteDestination& one = route.route(i);
    const Spot here(at, static_cast<size_t>(i));
    if (!one.has_destination()) here.Field("destination").Error("missing-field", "this field is required");
    CheckHeaders(one.headers(), Spot(here, "headers"));
    if (one.has_destination() && !gateway_api) CheckDestination(one.destination(), Spot(here, "destination"));
    CheckNotNegative(one.weight(), Spot(here, "weight"));
    total += static_cast<uint32_t>(one.weight());
  }
  if (route.route_size() > 1 && total == 0) at.Error("invalid-value", "the weights sum up to 0");
}

// What goes not together.
void CheckConflicts(const net::HTTPRoute& route, bool delegate, const Spot& at) {
  const auto refuse = [&](bool set, std::string_view name, std::string_view other) {
    if (set) at.Field(name).Error("conflict", StrCat("this goes not with ", other));
  };
  if (route.has_delegate() && !delegate) {
    refuse(route.has_redirect(), "redirect", "delegate");
    refuse(route.route_size() > 0, "route", "delegate");
    return;
  }
  if (route.has_delegate())
    at.Field("delegate").Error("unsupported", "a delegate has no delegate of its own");
  if (route.has_redirect() || route.has_direct_response()) {
    const std::string_view other = route.has_redirect() ? "redirect" : "directResponse";
    refuse(route.route_size() > 0, "route", other);
    refuse(route.has_fault(), "fault", other);
    refuse(route.has_rewrite(), "rewrite", other);
    refuse(route.has_redirect() && route.has_direct_response(), "directResponse", other);
  } else if (route.route_size() == 0) {
    at.Error("missing-field", "a route, redirect or directResponse is required");
  }
  refuse(route.has_mirror() && route.mirrors_size() > 0, "mirror", "mirrors");
}

}  // namespace

void CheckHttpRoute(const net::HTTPRoute& route, bool delegate, bool gateway_api, const Spot& at) {
  CheckConflicts(route, delegate, at);
  const Spot matches(at, "match");
  for (int i = 0; i < route.match_size(); ++i)
    CheckHttpMatch(route.match(i), Spot(matches, static_cast<size_t>(i)));
  CheckHeaders(route.headers(), Spot(at, "headers"));
  if (route.has_cors_policy()) CheckCors(route.cors_policy(), Spot(at, "corsPolicy"));
  if (route.has_fault()) CheckFault(route.fault(), Spot(at, "fault"));
  CheckMirrors(route, at);
  if (route.has_redirect()) CheckRedirect(route, Spot(at, "redirect"));
  if (route.has_direct_response()) CheckDirectResponse(route.direct_response(), Spot(at, "directResponse"));
  if (route.has_retries()) CheckRetries(route.retries(), Spot(at, "retries"));
  if (route.has_rewrite()) CheckRewrite(route, Spot(at, "rewrite"));
  CheckAuthority(route, at);
  CheckRoutes(route, gateway_api, Spot(at, "route"));
  if (route.has_timeout()) CheckDuration(route.timeout(), Spot(at, "timeout"));
}

}  // namespace fairlead::config::check
