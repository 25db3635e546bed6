#include "simulate/route_changes.h"

#include "base/strings.h"
#include "simulate/routing.h"
#include "simulate/value_match.h"

namespace fairlead::simulate {
namespace {

using envoy::config::core::v3::HeaderValueOption;
using envoy::config::route::v3::RetryPolicy;
using envoy::config::route::v3::Route;
using envoy::config::route::v3::RouteAction;
using envoy::config::route::v3::RouteConfiguration;
using envoy::config::route::v3::VirtualHost;
using envoy::config::route::v3::WeightedCluster;

constexpr double kDefaultTimeout = 15;  // seconds, of RouteAction.timeout

double Seconds(const google::protobuf::Duration& duration) {
  return static_cast<double>(duration.seconds()) + duration.nanos() * 1e-9;
}

std::string SecondsText(double seconds) { return StrCat(ToText(seconds), "s"); }

std::string_view Verb(const HeaderValueOption& option) {
  switch (option.append_action()) {
    case HeaderValueOption::ADD_IF_ABSENT:
      return "add if absent ";
    case HeaderValueOption::OVERWRITE_IF_EXISTS_OR_ADD:
      return "set ";
    case HeaderValueOption::OVERWRITE_IF_EXISTS:
      return "set if present ";
    default:
      return "add ";
  }
}

template <typename Added, typename Removed>
void AddHeaders(std::string_view key, const Added& added, const Removed& removed, std::vector<Fact>* out) {
  for (const HeaderValueOption& option : added) {
    const auto& header = option.header();
    out->push_back({std::string(key), StrCat(Verb(option), header.key(), ": ", header.value())});
  }
  for (const std::string& name : removed) out->push_back({std::string(key), StrCat("remove ", name)});
}

void AddPath(const Route& route, const SimulatedRequest& request, std::vector<Fact>* out) {
  const RouteAction& action = route.route();
  std::string path = request.path;
  if (!action.prefix_rewrite().empty())
    path = WithPrefixRewritten(route.match(), action.prefix_rewrite(), request.path);
  if (action.has_regex_rewrite()) path = WithRegexRewritten(action.regex_rewrite(), request.path);
  if (path != request.path) out->push_back({"path", path});
}

void AddHost(const RouteAction& action, const SimulatedRequest& request, std::vector<Fact>* out) {
  switch (action.host_rewrite_specifier_case()) {
    case RouteAction::kHostRewriteLiteral:
      out->push_back({"host", action.host_rewrite_literal()});
      return;
    case RouteAction::kAutoHostRewrite:
      if (action.auto_host_rewrite().value()) out->push_back({"host", "the endpoint's name"});
      return;
    case RouteAction::kHostRewriteHeader:
      if (const auto value = request.Header(action.host_rewrite_header())) out->push_back({"host", *value});
      return;
    case RouteAction::kHostRewritePathRegex:
      out->push_back({"host", WithRegexRewritten(action.host_rewrite_path_regex(), PathOnly(request.path))});
      return;
    default:
      return;
  }
}

void AddRetries(const RetryPolicy& policy, std::vector<Fact>* out) {
  const uint32_t count = policy.has_num_retries() ? policy.num_retries().value() : 1;
  if (count == 0 || policy.retry_on().empty()) return;
  out->push_back({"retries", StrCat(count, " on ", policy.retry_on())});
  for (uint32_t code : policy.retriable_status_codes()) out->push_back({"retry on status", StrCat(code)});
  if (policy.has_per_try_timeout())
    out->push_back({"per-try timeout", SecondsText(Seconds(policy.per_try_timeout()))});
}

void AddTimeouts(const RouteAction& action, std::vector<Fact>* out) {
  const double timeout = action.has_timeout() ? Seconds(action.timeout()) : kDefaultTimeout;
  if (timeout > 0) out->push_back({"timeout", SecondsText(timeout)});
  if (action.has_idle_timeout() && Seconds(action.idle_timeout()) > 0)
    out->push_back({"idle timeout", SecondsText(Seconds(action.idle_timeout()))});
}

template <typename Policies>
void AddMirrors(const Policies& policies, std::vector<Fact>* out) {
  for (const RouteAction::RequestMirrorPolicy& policy : policies) {
    const double percent =
        policy.has_runtime_fraction() ? Percent(policy.runtime_fraction().default_value()) : 100;
    out->push_back({"mirror", StrCat(policy.cluster(), " ", ToText(percent), "%")});
  }
}

void AddHashPolicies(const RouteAction& action, std::vector<Fact>* out) {
  for (const RouteAction::HashPolicy& policy : action.hash_policy()) {
    if (policy.has_header()) out->push_back({"hash of", StrCat("header ", policy.header().header_name())});
    if (policy.has_cookie()) out->push_back({"hash of", StrCat("cookie ", policy.cookie().name())});
    if (policy.has_query_parameter())
      out->push_back({"hash of", StrCat("query parameter ", policy.query_parameter().name())});
    if (policy.connection_properties().source_ip()) out->push_back({"hash of", "source IP"});
  }
}

}  // namespace

template <typename Source>
void AddHeaderChanges(const Source& source, std::vector<Fact>* out) {
  AddHeaders("request header", source.request_headers_to_add(), source.request_headers_to_remove(), out);
  AddHeaders("response header", source.response_headers_to_add(), source.response_headers_to_remove(), out);
}

template void AddHeaderChanges(const RouteConfiguration&, std::vector<Fact>*);
template void AddHeaderChanges(const VirtualHost&, std::vector<Fact>*);
template void AddHeaderChanges(const Route&, std::vector<Fact>*);
template void AddHeaderChanges(const WeightedCluster::ClusterWeight&, std::vector<Fact>*);

void AddForwardingChanges(const RouteConfiguration& configuration, const VirtualHost& host,
                          const Route& route, const SimulatedRequest& request, std::vector<Fact>* out) {
  const RouteAction& action = route.route();
  AddPath(route, request, out);
  AddHost(action, request, out);
  AddTimeouts(action, out);
  if (action.has_retry_policy()) {
    AddRetries(action.retry_policy(), out);
  } else if (host.has_retry_policy()) {
    AddRetries(host.retry_policy(), out);
  }
  // The most specific list of mirrors counts alone.
  if (action.request_mirror_policies_size() > 0) {
    AddMirrors(action.request_mirror_policies(), out);
  } else if (host.request_mirror_policies_size() > 0) {
    AddMirrors(host.request_mirror_policies(), out);
  } else {
    AddMirrors(configuration.request_mirror_policies(), out);
  }
  AddHashPolicies(action, out);
}

}  // namespace fairlead::simulate
