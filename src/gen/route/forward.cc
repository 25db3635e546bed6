#include "gen/route/forward.h"

#include <google/protobuf/duration.pb.h>

#include <optional>
#include <utility>

#include "base/strings.h"
#include "envoy/config/route/v3/route_components.pb.h"
#include "gen/route/fraction.h"
#include "gen/route/headers.h"
#include "gen/route/retry.h"
#include "gen/route/string_match.h"
#include "istio/networking/v1alpha3/virtual_service.pb.h"

namespace fairlead::gen::route {
namespace {

namespace api = istio::networking::v1alpha3;
namespace pb = envoy::config::route::v3;

void BuildRewrite(const api::HTTPRewrite& rewrite, Semantics semantics, const pb::RouteMatch& match,
                  pb::RouteAction* out) {
  if (rewrite.has_uri_regex_rewrite()) {
    out->mutable_regex_rewrite()->mutable_pattern()->set_regex(rewrite.uri_regex_rewrite().match());
    out->mutable_regex_rewrite()->set_substitution(rewrite.uri_regex_rewrite().rewrite());
    return;
  }
  if (rewrite.uri().empty()) return;
  if (semantics == Semantics::kGatewayApi && rewrite.uri() == "/") {
    // The prefix goes, and a path that goes with it leaves "/".
    out->mutable_regex_rewrite()->mutable_pattern()->set_regex(
        StrCat("^", QuoteRegex(match.path_separated_prefix()), "(/?)(.*)"));
    out->mutable_regex_rewrite()->set_substitution("/\\2");
    return;
  }
  out->set_prefix_rewrite(rewrite.uri());
}

using Fraction = envoy::type::v3::FractionalPercent;

Fraction Everything() {
  Fraction fraction;
  SetWholePercent(100, &fraction);
  return fraction;
}

// Nothing where the percentage is zero: no mirror then.
std::optional<Fraction> FractionOf(const api::Percent& percent) {
  Fraction fraction;
  SetFraction(percent.value(), &fraction);
  return percent.value() > 0 ? std::optional(fraction) : std::nullopt;
}

// Of the older `mirror`, with its two ways to say how much.
std::optional<Fraction> SingleMirrorFraction(const api::HTTPRoute& route) {
  if (route.has_mirror_percentage()) return FractionOf(route.mirror_percentage());
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
  if (!route.has_mirror_percent()) return Everything();
  Fraction fraction;
  SetWholePercent(route.mirror_percent().value(), &fraction);
#pragma GCC diagnostic pop
  return fraction.numerator() > 0 ? std::optional(fraction) : std::nullopt;
}

void AddMirror(const api::Destination& destination, const std::optional<Fraction>& fraction,
               const RouteOptions& options, pb::RouteAction* out) {
  if (!fraction) return;
  pb::RouteAction::RequestMirrorPolicy* mirror = out->add_request_mirror_policies();
  mirror->set_cluster(options.cluster_of(destination));
  *mirror->mutable_runtime_fraction()->mutable_default_value() = *fraction;
  mirror->mutable_trace_sampled()->set_value(false);
  mirror->set_disable_shadow_host_suffix_append(options.mirror_as_is);
}

void BuildMirrors(const api::HTTPRoute& route, const RouteOptions& options, pb::RouteAction* out) {
  if (route.has_mirror()) AddMirror(route.mirror(), SingleMirrorFraction(route), options, out);
  for (const api::HTTPMirrorPolicy& mirror : route.mirrors()) {
    if (!mirror.has_destination()) continue;
    AddMirror(mirror.destination(), mirror.has_percentage() ? FractionOf(mirror.percentage()) : Everything(),
              options, out);
  }
}

// Headers of the one destination join the route's, after them. Returns whether it hashes.
bool BuildSingleDestination(const api::HTTPRouteDestination& destination, const RouteOptions& options,
                            pb::Route* out) {
  pb::RouteAction* action = out->mutable_route();
  action->set_cluster(options.cluster_of(destination.destination()));
  if (destination.has_headers()) {
    const std::string authority = AppendHeaderOperations(destination.headers(), out);
    // The route's own rewrite wins, as Envoy has it where there are several clusters.
    if (!authority.empty() &&
        action->host_rewrite_specifier_case() == pb::RouteAction::HOST_REWRITE_SPECIFIER_NOT_SET) {
      action->set_host_rewrite_literal(authority);
    }
  }
  const ConsistentHash* hash = options.hash_of(destination.destination());
  if (hash != nullptr) AddHashPolicy(*hash, action);
  return hash != nullptr;
}

void BuildWeightedDestinations(const api::HTTPRoute& route, const RouteOptions& options,
                               pb::RouteAction* action) {
  pb::WeightedCluster* weighted = action->mutable_weighted_clusters();
  for (const api::HTTPRouteDestination& destination : route.route()) {
    if (destination.weight() == 0) continue;
    pb::WeightedCluster::ClusterWeight* cluster = weighted->add_clusters();
    cluster->set_name(options.cluster_of(destination.destination()));
    cluster->mutable_weight()->set_value(static_cast<uint32_t>(destination.weight()));
    if (destination.has_headers()) {
      const std::string authority = AppendHeaderOperations(destination.headers(), cluster);
      if (!authority.empty()) cluster->set_host_rewrite_literal(authority);
    }
    if (const ConsistentHash* hash = options.hash_of(destination.destination())) AddHashPolicy(*hash, action);
  }
}

// gRPC libraries read this instead of the older fields.
void SetStreamTimeout(const google::protobuf::Duration* timeout, pb::RouteAction* out) {
  if (timeout != nullptr) *out->mutable_timeout() = *timeout;
  *out->mutable_max_stream_duration()->mutable_max_stream_duration() = *out->mutable_timeout();
}

}  // namespace

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
void SetTimeouts(const google::protobuf::Duration* timeout, pb::RouteAction* out) {
  google::protobuf::Duration* own = out->mutable_timeout();
  if (timeout != nullptr) *own = *timeout;
  *out->mutable_max_grpc_timeout() = *own;
}
#pragma GCC diagnostic pop

void BuildForwarding(const api::HTTPRoute& route, Semantics semantics, const RouteOptions& options,
                     std::string authority, pb::Route* out) {
  pb::RouteAction* action = out->mutable_route();
  const google::protobuf::Duration* timeout = route.has_timeout() ? &route.timeout() : nullptr;
  options.proxyless ? SetStreamTimeout(timeout, action) : SetTimeouts(timeout, action);
  if (semantics == Semantics::kGatewayApi) {
    action->set_cluster_not_found_response_code(pb::RouteAction::INTERNAL_SERVER_ERROR);
  }
  if (route.has_rewrite()) {
    action->set_append_x_forwarded_host(options.append_x_forwarded_host);
    BuildRewrite(route.rewrite(), semantics, out->match(), action);
    if (!route.rewrite().authority().empty()) authority = route.rewrite().authority();
  }
  if (!authority.empty()) action->set_host_rewrite_literal(authority);
  BuildMirrors(route, options, action);
  bool consistent_hash = false;
  if (route.route_size() == 1) {
    consistent_hash = BuildSingleDestination(route.route(0), options, out);
  } else {
    BuildWeightedDestinations(route, options, action);
  }
  BuildRetryPolicy(route.has_retries() ? &route.retries() : options.default_retries, consistent_hash, action);
}

}  // namespace fairlead::gen::route
