#include <algorithm>
#include <iterator>

#include "config/check/http_route.h"

namespace fairlead::config::check {
namespace {

constexpr std::string_view kPseudoHeaders[] = {":method", ":scheme", ":authority", ":path", ":status"};

// Conditions of x-envoy-retry-on and x-envoy-retry-grpc-on.
constexpr std::string_view kRetryConditions[] = {"5xx",
                                                 "gateway-error",
                                                 "reset",
                                                 "reset-before-request",
                                                 "connect-failure",
                                                 "retriable-4xx",
                                                 "refused-stream",
                                                 "retriable-status-codes",
                                                 "retriable-headers",
                                                 "envoy-ratelimited",
                                                 "http3-post-connect-failure",
                                                 "cancelled",
                                                 "deadline-exceeded",
                                                 "internal",
                                                 "resource-exhausted",
                                                 "unavailable"};
// Codes that have a name (https://www.iana.org/assignments/http-status-codes).
constexpr int64_t kStatuses[] = {
    100, 101, 102, 103, 200, 201, 202, 203, 204, 205, 206, 207, 208, 226, 300, 301, 302, 303, 304, 305, 307,
    308, 400, 401, 402, 403, 404, 405, 406, 407, 408, 409, 410, 411, 412, 413, 414, 415, 416, 417, 418, 421,
    422, 423, 424, 425, 426, 428, 429, 431, 451, 500, 501, 502, 503, 504, 505, 506, 507, 508, 510, 511};

template <typename Table, typename Value>
bool IsIn(const Table& table, const Value& value) {
  return std::find(std::begin(table), std::end(table), value) != std::end(table);
}

void CheckMatchedName(std::string_view name, const Spot& at) {
  constexpr std::string_view kExtra = "!#$%&'*+-.^_`|~";
  if (name.empty()) return at.Error("missing-field", "a header's name is missing");
  if (IsClaim(name) || IsIn(kPseudoHeaders, name)) return;
  const bool good = std::all_of(name.begin(), name.end(), [&](char c) {
    return isalnum(static_cast<unsigned char>(c)) || kExtra.find(c) != std::string_view::npos;
  });
  if (!good) at.Refuse(StrCat("\"", name, "\" is no header's name"));
}

void CheckMatchedText(const net::StringMatch& match, bool empty_prefix, const Spot& at) {
  if (match.has_prefix() && match.prefix().empty() && !empty_prefix)
    at.Field("prefix").Refuse("a prefix may not be empty");
  if (!match.has_regex()) return;
  const Spot regex(at, "regex");
  if (match.regex().empty()) return regex.Refuse("a regular expression may not be empty");
  regex.Refuse(RegexProblem(match.regex()));
}

}  // namespace

bool IsClaim(std::string_view header) {
  constexpr std::string_view kPrefix = "@request.auth.claims";
  if (!AsciiLower(header).starts_with(kPrefix)) return false;
  const std::string_view name = header.substr(kPrefix.size());
  return (name.starts_with('.') && name.size() > 1) ||
         (name.starts_with('[') && name.ends_with(']') && name.size() > 2);
}

void CheckHttpMatch(const net::HTTPMatchRequest& match, const Spot& at) {
  const Spot headers(at, "headers"), without(at, "withoutHeaders"), parameters(at, "queryParams");
  for (const auto& [name, text] : match.headers()) {
    CheckMatchedName(name, headers);
    CheckMatchedText(text, false, Spot(headers, name));
  }
  for (const auto& [name, text] : match.without_headers()) {
    CheckMatchedName(name, without);
    // "*" is no regular expression here: it means that the header is there at all.
    if (text.regex() != "*") CheckMatchedText(text, false, Spot(without, name));
  }
  CheckMatchedText(match.uri(), true, Spot(at, "uri"));
  CheckMatchedText(match.scheme(), false, Spot(at, "scheme"));
  CheckMatchedText(match.method(), false, Spot(at, "method"));
  CheckMatchedText(match.authority(), false, Spot(at, "authority"));
  for (const auto& [name, text] : match.query_params()) CheckMatchedText(text, false, Spot(parameters, name));
  if (match.port() != 0) at.Field("port").Refuse(PortProblem(match.port()));
  CheckLabels(match.source_labels(), Spot(at, "sourceLabels"));
  CheckGatewayNames(match.gateways(), Warnings::kLost, false, Spot(at, "gateways"));
  if (!match.source_namespace().empty() && !IsDns1123Label(match.source_namespace()))
    at.Field("sourceNamespace").Refuse(StrCat("\"", match.source_namespace(), "\" is no namespace"));
}

void CheckRetries(const net::HTTPRetry& retries, const Spot& at) {
  CheckNotNegative(retries.attempts(), Spot(at, "attempts"));
  if (retries.attempts() == 0 && (retries.has_per_try_timeout() || !retries.retry_on().empty() ||
                                  retries.has_retry_remote_localities())) {
    at.Error("conflict", "attempts: 0 means no retries, so nothing else is set");
  }
  if (retries.has_per_try_timeout()) CheckDuration(retries.per_try_timeout(), Spot(at, "perTryTimeout"));
  if (retries.has_backoff()) CheckDuration(retries.backoff(), Spot(at, "backoff"));
  if (retries.retry_on().empty()) return;
  for (std::string_view condition : Split(retries.retry_on(), ',')) {
    int64_t status = 0;
    if (ParseGoInteger(condition, &status) && IsIn(kStatuses, status)) continue;
    if (!IsIn(kRetryConditions, condition))
      at.Field("retryOn").Refuse(StrCat("\"", condition, "\" is no condition for a retry"));
  }
}

}  // namespace fairlead::config::check
