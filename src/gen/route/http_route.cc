#include "gen/route/http_route.h"

#include <algorithm>
#include <charconv>

#include "base/strings.h"
#include "config/derived_object.h"
#include "envoy/extensions/filters/http/cors/v3/cors.pb.h"
#include "envoy/extensions/filters/http/ext_proc/v3/ext_proc.pb.h"
#include "envoy/extensions/filters/http/fault/v3/fault.pb.h"
#include "gen/naming/cluster_name.h"
#include "gen/naming/inference_pool.h"
#include "gen/naming/metadata.h"
#include "gen/route/cors.h"
#include "gen/route/domains.h"
#include "gen/route/fault.h"
#include "gen/route/forward.h"
#include "gen/route/headers.h"
#include "gen/route/match.h"
#include "gen/route/redirect.h"
#include "gen/route/retry.h"
#include "gen/route/sessions.h"
#include "istio/networking/v1alpha3/virtual_service.pb.h"
#include "proto/messages.h"

namespace fairlead::gen::route {
namespace {

namespace api = istio::networking::v1alpha3;
namespace pb = envoy::config::route::v3;
namespace ext_proc = envoy::extensions::filters::http::ext_proc::v3;

// Whether a match condition is for this listener and client at all. Gateways, where named, decide alone.
bool AppliesHere(const api::HTTPMatchRequest& match, const RouteOptions& options) {
  if (match.port() != 0 && match.port() != options.port) return false;
  if (match.gateways_size() > 0) {
    return std::any_of(match.gateways().begin(), match.gateways().end(),
                       [&](const std::string& gateway) { return options.gateways->contains(gateway); });
  }
  for (const auto& [name, value] : match.source_labels()) {
    const auto* labels = options.client_labels;
    const auto found = labels == nullptr ? LabelMap::const_iterator() : labels->find(name);
    if (labels == nullptr || found == labels->end() || found->second != value) return false;
  }
  return match.source_namespace().empty() || match.source_namespace() == options.client_namespace;
}

std::string RouteName(const api::HTTPRoute& route, const api::HTTPMatchRequest* match) {
  return match == nullptr || match->name().empty() ? route.name() : StrCat(route.name(), ".", match->name());
}

// What tracing calls the route: its destination where there is one, else the VirtualService, and the path.
std::string Operation(const pb::Route& route, std::string_view virtual_service, uint32_t port) {
  std::string path = "/*";
  switch (route.match().path_specifier_case()) {
    case pb::RouteMatch::kPrefix:
      path = route.match().prefix() + "*";
      break;
    case pb::RouteMatch::kPath:
      path = route.match().path();
      break;
    case pb::RouteMatch::kSafeRegex:
      path = route.match().safe_regex().regex();
      break;
    default:
      break;
  }
  const std::string& cluster = route.route().cluster();
  if (std::count(cluster.begin(), cluster.end(), '|') == 3) {
    const ParsedClusterName name = ParseClusterName(cluster);
    return StrCat(name.host, ":", name.port, path);
  }
  return StrCat(virtual_service, ":", port, path);
}

// The words of the line of a VirtualService's endpoint pickers that is for a route; none where there is none.
std::vector<std::string_view> PickerOf(const mesh::VirtualService& virtual_service,
                                       const std::string& route) {
  if (!virtual_service.gateway_semantics) return {};
  const std::string_view pickers =
      LabelOr(virtual_service.object->meta().annotations, config::kEndpointPickersAnnotation);
  if (pickers.empty()) return {};
  for (const std::string_view line : Split(pickers, '\n')) {
    std::vector<std::string_view> words = Split(line, ' ');
    if (words.size() == 4 && words[0] == route) return words;
  }
  return {};
}

// Requests and responses go through the endpoint picker as they come. Source: Istio's route.go, of
// InferencePoolExtensionRefs.
void BuildPicker(const std::vector<std::string_view>& words, google::protobuf::Any* out) {
  using ext_proc::ProcessingMode;
  uint32_t port = 0;
  std::from_chars(words[2].data(), words[2].data() + words[2].size(), port);
  ext_proc::ExtProcPerRoute config;
  auto* overrides = config.mutable_overrides();
  overrides->mutable_failure_mode_allow()->set_value(words[3] == "open");
  overrides->mutable_grpc_service()->mutable_envoy_grpc()->set_cluster_name(
      OutboundClusterName(port, "", words[1]));
  ProcessingMode* mode = overrides->mutable_processing_mode();
  mode->set_request_header_mode(ProcessingMode::SEND);
  mode->set_request_body_mode(ProcessingMode::FULL_DUPLEX_STREAMED);
  mode->set_request_trailer_mode(ProcessingMode::SEND);
  mode->set_response_header_mode(ProcessingMode::SEND);
  mode->set_response_body_mode(ProcessingMode::FULL_DUPLEX_STREAMED);
  mode->set_response_trailer_mode(ProcessingMode::SEND);
  proto::Pack(config, out);
}

void BuildFilterConfigs(const mesh::VirtualService& virtual_service, const api::HTTPRoute& route,
                        pb::Route* out) {
  auto& configs = *out->mutable_typed_per_filter_config();
  const auto picker = PickerOf(virtual_service, route.name());
  if (!picker.empty()) BuildPicker(picker, &configs[std::string(kEndpointPickerFilter)]);
  if (route.has_fault()) {
    envoy::extensions::filters::http::fault::v3::HTTPFault fault;
    BuildFault(route.fault(), &fault);
    proto::Pack(fault, &configs["envoy.filters.http.fault"]);
  }
  if (route.has_cors_policy()) {
    envoy::extensions::filters::http::cors::v3::CorsPolicy cors;
    BuildCorsPolicy(route.cors_policy(), &cors);
    proto::Pack(cors, &configs["envoy.filters.http.cors"]);
  }
}

// Of several destinations with sessions one can be kept. Which one is Istio's choice: where one has none,
// those before it are forgotten, too.
std::string SessionOf(const api::HTTPRoute& route, const RouteOptions& options) {
  std::string session;
  for (const api::HTTPRouteDestination& destination : route.route()) {
    if (route.route_size() > 1 && destination.weight() == 0) continue;
    std::string own = options.session_of(destination.destination());
    if (!own.empty() && !session.empty()) break;
    session = std::move(own);
  }
  return session;
}

void AddAltService(uint32_t port, pb::Route* out) {
  SetHeaderOption("alt-svc", StrCat("h3=\":", port, "\"; ma=86400"), true,
                  out->add_response_headers_to_add());
}

pb::Route BuildRoute(const mesh::VirtualService& virtual_service, const api::HTTPRoute& route,
                     const api::HTTPMatchRequest* match, const RouteOptions& options) {
  const Semantics semantics = SemanticsOf(*virtual_service.object);
  pb::Route out;
  out.set_name(RouteName(route, match));
  BuildMatch(match, semantics, out.mutable_match());
  AddConfigMetadata(*virtual_service.object, out.mutable_metadata());
  if (match != nullptr) out.set_stat_prefix(match->stat_prefix());
  std::string authority;
  if (route.has_headers()) authority = AppendHeaderOperations(route.headers(), &out);
  if (route.has_redirect()) {
    BuildRedirect(route.redirect(), options.port, options.tls, &out);
  } else if (route.has_direct_response()) {
    BuildDirectResponse(route.direct_response(), &out);
  } else {
    BuildForwarding(route, semantics, options, std::move(authority), &out);
  }
  out.mutable_decorator()->set_operation(Operation(out, virtual_service.object->name().str(), options.port));
  BuildFilterConfigs(virtual_service, route, &out);
  if (options.session_of != nullptr && out.has_route()) {
    const std::string session = SessionOf(route, options);
    if (!session.empty())
      PackSession(session, &(*out.mutable_typed_per_filter_config())[std::string(kSessionFilter)]);
  }
  if (options.http3) AddAltService(options.port, &out);
  return out;
}

}  // namespace

std::vector<pb::Route> BuildHttpRoutes(const mesh::VirtualService& virtual_service,
                                       const RouteOptions& options) {
  std::vector<pb::Route> out;
  for (const api::HTTPRoute& route : virtual_service.spec->http()) {
    if (route.match_size() == 0) {
      out.push_back(BuildRoute(virtual_service, route, nullptr, options));
      return out;
    }
    for (const api::HTTPMatchRequest& match : route.match()) {
      if (!AppliesHere(match, options)) continue;
      out.push_back(BuildRoute(virtual_service, route, &match, options));
      if (IsCatchAll(out.back())) return out;
    }
  }
  return out;
}

void BuildDefaultRoute(std::string_view host, uint32_t port, const ConsistentHash* hash,
                       const api::HTTPRetry* default_retries, pb::Route* out) {
  out->set_name("default");
  out->mutable_match()->set_prefix("/");
  out->mutable_decorator()->set_operation(TraceOperation(host, port));
  pb::RouteAction* action = out->mutable_route();
  action->set_cluster(OutboundClusterName(port, "", host));
  SetTimeouts(nullptr, action);
  BuildRetryPolicy(default_retries, false, action);
  if (hash != nullptr) AddHashPolicy(*hash, action);
}

std::string TraceOperation(std::string_view host, uint32_t port) {
  return StrCat(HostAndPort(host, port), "/*");
}

}  // namespace fairlead::gen::route
