#include "gateway_api/conversion/route_matches.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <tuple>

#include "base/strings.h"
#include "gateway_api/conversion/backend.h"
#include "istio/networking/v1alpha3/virtual_service.pb.h"

namespace fairlead::gateway_api {
namespace {

namespace net = istio::networking::v1alpha3;
using config::Node;
using Matches = google::protobuf::Map<std::string, net::StringMatch>;

ConfigError UnknownType(std::string_view type, std::string_view what) {
  return {std::string(kInvalidConfiguration), StrCat("unknown type: \"", type, "\" is not supported ", what)};
}

// Entries {name, type, value} of headers or query parameters; the last of one name counts.
MaybeError SetNamed(Node list, std::string_view what, Matches* out) {
  for (Node one : list.elements()) {
    const std::string_view type = one.Find("type").String("Exact");
    net::StringMatch& match = (*out)[std::string(one.Find("name").text())];
    if (type == "Exact") {
      match.set_exact(std::string(one.Find("value").text()));
    } else if (type == "RegularExpression") {
      match.set_regex(std::string(one.Find("value").text()));
    } else {
      return UnknownType(type, what);
    }
  }
  return std::nullopt;
}

MaybeError SetPath(Node path, net::StringMatch* out) {
  const std::string_view type = path.Find("type").String("PathPrefix");
  std::string_view value = path.Find("value").String("/");
  if (type == "PathPrefix") {
    if (value != "/" && value.ends_with('/')) value.remove_suffix(1);
    out->set_prefix(std::string(value));
  } else if (type == "Exact") {
    out->set_exact(std::string(value));
  } else if (type == "RegularExpression") {
    out->set_regex(std::string(value));
  } else {
    return UnknownType(type, "Path match type");
  }
  return std::nullopt;
}

// A path is "/service/method".
MaybeError SetGrpcMethod(Node match, net::StringMatch* out) {
  const std::string_view type = match.Find("type").String("Exact");
  const Node service = match.Find("service"), method = match.Find("method");
  if (service.IsNull() && method.IsNull()) {
    return ConfigError{std::string(kInvalidConfiguration), "gRPC match must have method or service defined"};
  }
  if (type != "Exact" && type != "RegularExpression") return UnknownType(type, "Path match type");
  const bool exact = type == "Exact";
  if (service.IsNull()) {
    out->set_regex(StrCat("/[^/]+/", method.text()));
  } else if (method.IsNull()) {
    if (exact) out->set_prefix(StrCat("/", service.text(), "/"));
    if (!exact) out->set_regex(StrCat("/", service.text(), "/.+"));
  } else {
    const std::string path = StrCat("/", service.text(), "/", method.text());
    if (exact) out->set_exact(path);
    if (!exact) out->set_regex(path);
  }
  return std::nullopt;
}

// What sorts first is smallest.
struct Precedence {
  bool matches_all;  // has no match
  int kind;
  int64_t length;
  bool no_method;
  int64_t headers, parameters;
  auto Tie() const { return std::tie(matches_all, kind, length, no_method, headers, parameters); }
};

Precedence PrecedenceOf(const net::HTTPRoute& rule) {
  if (rule.match_size() == 0) return {true, 0, 0, false, 0, 0};
  const net::HTTPMatchRequest& match = rule.match(0);
  const net::StringMatch& uri = match.uri();
  int kind = 3;  // none
  size_t length = 0;
  if (uri.has_exact()) kind = 0, length = uri.exact().size();
  if (uri.has_prefix()) kind = 1, length = uri.prefix().size();
  if (uri.has_regex()) kind = 2, length = uri.regex().size();
  return {false,
          kind,
          -static_cast<int64_t>(length),
          !match.has_method(),
          -static_cast<int64_t>(match.headers_size()),
          -static_cast<int64_t>(match.query_params_size())};
}

}  // namespace

MaybeError SetHttpMatch(Node match, net::HTTPMatchRequest* out) {
  if (MaybeError error = SetPath(match.Find("path"), out->mutable_uri())) return error;
  if (MaybeError error = SetNamed(match.Find("headers"), "HeaderMatch type", out->mutable_headers()))
    return error;
  if (MaybeError error = SetNamed(match.Find("queryParams"), "QueryParams type", out->mutable_query_params()))
    return error;
  const Node method = match.Find("method");
  if (!method.IsNull()) out->mutable_method()->set_exact(std::string(method.text()));
  return std::nullopt;
}

MaybeError SetGrpcMatch(Node match, net::HTTPMatchRequest* out) {
  const Node method = match.Find("method");
  if (!method.IsNull()) {
    if (MaybeError error = SetGrpcMethod(method, out->mutable_uri())) return error;
  }
  return SetNamed(match.Find("headers"), "HeaderMatch type", out->mutable_headers());
}

void SortByPrecedence(google::protobuf::RepeatedPtrField<net::HTTPRoute>* rules) {
  std::vector<std::pair<Precedence, net::HTTPRoute*>> order;
  order.reserve(static_cast<size_t>(rules->size()));
  for (net::HTTPRoute& rule : *rules) order.emplace_back(PrecedenceOf(rule), &rule);
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a.first.Tie() < b.first.Tie(); });
  google::protobuf::RepeatedPtrField<net::HTTPRoute> sorted;
  sorted.Reserve(rules->size());
  for (const auto& [precedence, rule] : order) sorted.Add()->Swap(rule);
  rules->Swap(&sorted);
}

}  // namespace fairlead::gateway_api
