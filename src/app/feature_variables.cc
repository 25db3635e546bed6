#include "app/feature_variables.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "base/duration.h"
#include "base/ip_address.h"
#include "base/strings.h"

namespace fairlead::app {
namespace {

using model::Features;

template <auto Member>
bool Set(std::string_view text, Features* out) {
  return ReadBool(text, &(out->*Member));
}

// Of a variable that turns something off.
template <auto Member>
bool SetNot(std::string_view text, Features* out) {
  bool value = false;
  if (!ReadBool(text, &value)) return false;
  out->*Member = !value;
  return true;
}

template <auto Member>
bool SetText(std::string_view text, Features* out) {
  out->*Member = std::string(text);
  return true;
}

template <auto Member>
bool SetDuration(std::string_view text, Features* out) {
  const auto duration = ParseGoDuration(text);
  if (!duration || duration->count() < 0) return false;
  out->*Member = *duration;
  return true;
}

template <auto Member>
bool SetCount(std::string_view text, Features* out) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0) return false;
  out->*Member = value;
  return true;
}

bool SetSecretReaders(std::string_view text, Features* out) {
  for (const std::string_view written : Split(text, ',')) {
    const std::string_view reader = Trim(written);
    const size_t slash = reader.find('/');
    const bool account = slash != std::string_view::npos && slash > 0 && slash + 1 < reader.size();
    if (!reader.empty() && reader != "*" && !account) return false;
    if (!reader.empty()) out->secret_readers.emplace_back(reader);
  }
  return true;
}

bool SetTraceSampling(std::string_view text, Features* out) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !(value >= 0 && value <= 100)) return false;
  out->trace_sampling = value;
  return true;
}

bool SetKeyFetch(std::string_view text, Features* out) {
  using model::KeyFetch;
  constexpr std::pair<std::string_view, KeyFetch> kModes[] = {{"istiod", KeyFetch::kHere},
                                                              {"false", KeyFetch::kHere},
                                                              {"hybrid", KeyFetch::kHybrid},
                                                              {"true", KeyFetch::kHybrid},
                                                              {"envoy", KeyFetch::kProxies}};
  const auto* found = std::find_if(std::begin(kModes), std::end(kModes),
                                   [text](const auto& mode) { return mode.first == text; });
  if (found == std::end(kModes)) return false;
  out->key_fetch = found->second;
  return true;
}

template <auto Member, bool kV4>
bool SetRange(std::string_view text, Features* out) {
  const std::optional<IpPrefix> range = IpPrefix::Parse(text);
  if (!range || range->address.is_v4() != kV4) return false;
  out->*Member = std::string(text);
  return true;
}

bool SetExchangeLabels(std::string_view text, Features* out) {
  auto& labels = out->exchange_labels;
  for (const std::string_view label : Split(text, ',')) labels.emplace_back(label);
  std::sort(labels.begin(), labels.end());
  labels.erase(std::unique(labels.begin(), labels.end()), labels.end());
  return true;
}

constexpr FeatureVariable kVariables[] = {
    {{"PILOT_ENABLE_ALPN_FILTER", "true",
      "Whether requests name their protocol inside mutual TLS (filter istio.alpn)."},
     Set<&Features::alpn_filter>},
    {{"PILOT_ENABLE_MONGO_FILTER", "true", "Whether ports of protocol Mongo have Envoy's filter for it."},
     Set<&Features::mongo_filter>},
    {{"PILOT_ENABLE_REDIS_FILTER", "false",
      "Whether ports of protocol Redis have Envoy's filter for it, and are balanced by key."},
     Set<&Features::redis_filter>},
    {{"PILOT_ENABLE_MYSQL_FILTER", "false", "Whether ports of protocol MySQL have Envoy's filter for it."},
     Set<&Features::mysql_filter>},
    {{"ENABLE_100_CONTINUE_HEADERS", "true", "Whether proxies pass \"100 Continue\" on."},
     Set<&Features::pass_100_continue>},
    {{"PILOT_HTTP10", "false", "Whether all proxies take HTTP/1.0."}, Set<&Features::http10>},
    {{"PILOT_SIDECAR_USE_REMOTE_ADDRESS", "false",
      "Whether outbound listeners of sidecars take the peer's address as the client's."},
     Set<&Features::sidecar_remote_address>},
    {{"ENABLE_HCM_INTERNAL_NETWORKS", "false",
      "Whether addresses of the MeshNetworks are internal for sidecars."},
     Set<&Features::internal_networks>},
    {{"PILOT_SKIP_VALIDATE_TRUST_DOMAIN", "false",
      "Whether servers accept peers of any trust domain under a trusted root."},
     Set<&Features::skip_trust_domain>},
    {{"PILOT_ENABLE_HEADLESS_FILTER_CHAIN_LISTENER", "false",
      "Whether TCP ports of a headless service have one listener, with a chain for each endpoint."},
     Set<&Features::headless_chains>},
    {{"ENABLE_TLS_ON_SIDECAR_INGRESS", "false", "Whether TLS of a Sidecar's ingress listeners counts."},
     Set<&Features::ingress_tls>},
    {{"PILOT_ALLOW_SIDECAR_SERVICE_INBOUND_LISTENER_MERGE", "false",
      "Whether a Sidecar's ingress listeners are added to the listeners of service ports."},
     Set<&Features::merged_ingress>},
    {{"MAX_CONNECTIONS_PER_SOCKET_EVENT_LOOP", "1",
      "The most connections that a proxy accepts at a time; 0: no limit."},
     SetCount<&Features::accepts_per_event>},
    {{"PILOT_ALLOW_ANY_DYNAMIC_DNS_MAX_HOSTS", "1024",
      "The most names that a sidecar of outbound mode ALLOW_ANY_DYNAMIC_DNS resolves at a time."},
     SetCount<&Features::dynamic_dns_hosts>},
    {{"PILOT_TRACE_SAMPLING", "1", "Percentage of traced requests, unless MeshConfig or Telemetry has one."},
     SetTraceSampling},
    {{"PILOT_GATEWAY_TRANSPORT_SOCKET_CONNECT_TIMEOUT", "15s",
      "The longest TLS handshake with a router, and with a sidecar's outbound listener; 0: no limit."},
     SetDuration<&Features::handshake_timeout>},
    {{"ISTIO_DUAL_STACK", "false",
      "Whether proxies with IPv4 and IPv6 use both: for listening, resolving, services and pods."},
     Set<&Features::dual_stack>},
    {{"ISTIO_ENABLE_IPV4_OUTBOUND_LISTENER_FOR_IPV6_CLUSTERS", "false",
      "Whether proxies with IPv6 alone also take and resolve outbound IPv4."},
     Set<&Features::ipv4_of_ipv6>},
    {{"PILOT_ENABLE_METADATA_EXCHANGE", "true", "Whether proxies exchange workload metadata, for telemetry."},
     Set<&Features::metadata_exchange>},
    {{"PILOT_DISABLE_MX_ALPN", "false", "Whether mutual TLS omits the protocol name istio-peer-exchange."},
     SetNot<&Features::metadata_alpn>},
    {{"PILOT_MX_ADDITIONAL_LABELS", "",
      "More labels of workloads, with commas, in the exchange of workload metadata."},
     SetExchangeLabels},
    {{"PILOT_ENABLE_TELEMETRY_LABEL", "true",
      "Whether clusters and endpoints carry the names of services and workloads, for telemetry."},
     Set<&Features::telemetry_label>},
    {{"PILOT_ENDPOINT_TELEMETRY_LABEL", "true", "Whether endpoints have these names."},
     Set<&Features::endpoint_telemetry_label>},
    {{"ENABLE_LOCALITY_WEIGHTED_LB_CONFIG", "false",
      "Whether localities have weights whenever locality load balancing is on."},
     Set<&Features::locality_weights>},
    {{"DISABLE_TRACK_REMAINING_CB_METRICS", "true",
      "Whether proxies omit metrics of the remaining room of circuit breakers."},
     Set<&Features::untracked_limits>},
    {{"PILOT_ENABLE_EDS_FOR_HEADLESS_SERVICES", "false",
      "Whether sidecars balance requests to headless services of Kubernetes."},
     Set<&Features::headless_endpoints>},
    {{"PILOT_SEND_UNHEALTHY_ENDPOINTS", "false",
      "Whether unready endpoints are sent, and never used in panic."},
     Set<&Features::send_unhealthy>},
    {{"PILOT_AUTO_SEND_UNHEALTHY_ENDPOINTS", "true",
      "Whether unready endpoints are sent unless minHealthPercent is set."},
     Set<&Features::send_unhealthy_by_default>},
    {{"PILOT_DRAINING_LABEL", "istio.io/draining", "Label of endpoints without new sessions."},
     SetText<&Features::draining_label>,
     /*empty_counts=*/true},
    {{"LABEL_CANONICAL_SERVICES_FOR_MESH_EXTERNAL_SERVICE_ENTRIES", "false",
      "Whether endpoints outside of the mesh carry their ServiceEntry's canonical service."},
     Set<&Features::canonical_external>},
    {{"PREFER_DESTINATIONRULE_TLS_FOR_EXTERNAL_SERVICES", "true",
      "Whether, outside of the mesh, a DestinationRule's TLS wins over certificates in node metadata."},
     Set<&Features::prefer_rule_tls>},
    {{"PILOT_DNS_CARES_UDP_MAX_QUERIES", "100", "Most DNS queries of a proxy over one socket; 0: no limit."},
     SetCount<&Features::dns_queries_per_socket>},
    {{"PILOT_DNS_JITTER_DURATION", "100ms", "Jitter of proxies' resolution of names."},
     SetDuration<&Features::dns_jitter>},
    {{"DISABLE_SHADOW_HOST_SUFFIX", "true", "Whether mirrored requests keep their host."},
     Set<&Features::mirror_as_is>},
    {{"PILOT_ENABLE_ABSOLUTE_FQDN_VHOST_DOMAIN", "true",
      "Whether virtual hosts also have the service's name with a final dot."},
     Set<&Features::absolute_names>},
    {{"ENABLE_ENHANCED_DESTINATIONRULE_MERGE", "true",
      "Whether DestinationRules for one host merge only if their exportTo fits."},
     Set<&Features::merge_rules_of_exports>},
    {{"PILOT_SIDECAR_PICK_BEST_SERVICE_NAMESPACE", "true",
      "For a service name in several namespaces: true prefers Kubernetes services and older ones; false "
      "takes the first namespace by name."},
     Set<&Features::best_namespace>},
    {{"PILOT_ENABLE_PERSISTENT_SESSION_FILTER", "false",
      "Whether clients of services with one of the next two labels stay with an endpoint."},
     Set<&Features::sessions>},
    {{"PILOT_PERSISTENT_SESSION_LABEL", "istio.io/persistent-session",
      "Label of services whose draining endpoints keep their sessions; its value names the cookie (\"name\" "
      "or \"name:path\")."},
     SetText<&Features::session_label>,
     /*empty_counts=*/true},
    {{"PILOT_PERSISTENT_SESSION_HEADER_LABEL", "istio.io/persistent-session-header",
      "Label with the same effect; its value names a header."},
     SetText<&Features::session_header_label>,
     /*empty_counts=*/true},
    {{"PILOT_ENABLE_SERVICEENTRY_SELECT_PODS", "true",
      "Whether selectors of ServiceEntries also match pods."},
     Set<&Features::entries_select_pods>},
    {{"PILOT_ENABLE_K8S_SELECT_WORKLOAD_ENTRIES", "true",
      "Whether selectors of Kubernetes Services also match WorkloadEntries."},
     Set<&Features::services_select_entries>},
    {{"PILOT_JWT_ENABLE_REMOTE_JWKS", "false",
      "Fetcher of RequestAuthentications' keys. \"istiod\", \"false\": this server; \"hybrid\", \"true\": "
      "proxies, if the mesh has the key server's service; \"envoy\": proxies."},
     SetKeyFetch},
    {{"PILOT_ENABLE_MULTIPLE_CUSTOM_AUTHZ_PROVIDERS", "false",
      "Whether the CUSTOM policies of one workload may use several authorizers."},
     Set<&Features::several_authorizers>},
    {{"ENABLE_SELECTOR_BASED_K8S_GATEWAY_POLICY", "true",
      "Whether policies without targetRefs apply to gateways of the Gateway API."},
     Set<&Features::selectors_of_gateways>},
    {{"FAIRLEAD_SECRET_READERS", "",
      "Service accounts (NAMESPACE/ACCOUNT or NAMESPACE/*, with commas) whose proxies may have their "
      "namespace's TLS Secrets, besides gateways; \"*\": all."},
     SetSecretReaders},
    {{"PILOT_ENABLE_GATEWAY_API", "true", "Whether the kinds of the Gateway API have an effect."},
     Set<&Features::gateway_api>},
    {{"FAIRLEAD_ENABLE_UDP_ROUTES", "true",
      "Whether UDPRoutes and UDP listeners have an effect; they have none in Istio."},
     Set<&Features::udp_routes>},
    {{"PILOT_GATEWAY_API_CONTROLLER_NAME", "istio.io/gateway-controller",
      "Controller name of effective GatewayClasses."},
     SetText<&Features::gateway_controller>},
    {{"PILOT_GATEWAY_API_DEFAULT_GATEWAYCLASS_NAME", "istio",
      "Class of Gateways that exists without an object."},
     SetText<&Features::gateway_class>},
    {{"PILOT_MULTI_NETWORK_DISCOVER_GATEWAY_API", "true",
      "Whether Gateways of the Gateway API with a network's label lead to that network, and the class "
      "istio-remote exists."},
     Set<&Features::network_gateways>},
    {{"PILOT_IP_AUTOALLOCATE_IPV4_PREFIX", "240.240.0.0/16",
      "Range of IPv4 addresses for ServiceEntries without any."},
     SetRange<&Features::ipv4_range, true>},
    {{"PILOT_IP_AUTOALLOCATE_IPV6_PREFIX", "2001:2::/48",
      "Range of IPv6 addresses for ServiceEntries without any."},
     SetRange<&Features::ipv6_range, false>},
    {{"ENABLE_MULTICLUSTER_HEADLESS", "true",
      "Whether names of headless services also resolve to endpoints of other clusters."},
     Set<&Features::headless_names_of_all_clusters>},
    {{"ENABLE_PROXY_FIND_POD_BY_IP", "false",
      "Whether a proxy's pod is found by address if its id names none."},
     Set<&Features::pods_by_address>},
    {{"ENABLE_GATEWAY_API_INFERENCE_EXTENSION", "false",
      "Whether HTTPRoutes lead to InferencePools, whose endpoint pickers choose where requests go."},
     Set<&Features::inference_pools>},
    {{"ENABLE_MCS_SERVICE_DISCOVERY", "false",
      "Whether proxies of other clusters get a service's endpoints only if a ServiceExport of the endpoints' "
      "cluster names it."},
     Set<&Features::mcs_discovery>},
    {{"ENABLE_MCS_HOST", "false",
      "With ENABLE_MCS_SERVICE_DISCOVERY, whether ServiceImports make hosts "
      "NAME.NAMESPACE.svc.clusterset.local."},
     Set<&Features::mcs_hosts>},
    {{"ENABLE_MCS_CLUSTER_LOCAL", "false",
      "With ENABLE_MCS_HOST, whether the usual hosts have endpoints of the client's cluster alone."},
     Set<&Features::mcs_cluster_local>},
    {{"MCS_API_GROUP", "multicluster.x-k8s.io",
      "API group of ServiceExports and ServiceImports at API servers."},
     SetText<&Features::mcs_group>},
    {{"MCS_API_VERSION", "v1alpha1", "Their version there."}, SetText<&Features::mcs_version>},
    {{"PILOT_ENABLE_CROSS_CLUSTER_WORKLOAD_ENTRY", "true",
      "Whether WorkloadEntries of other clusters are read."},
     Set<&Features::entries_of_all_clusters>},
    {{"PILOT_ENABLE_ROUTE_COLLAPSE_OPTIMIZATION", "true",
      "Whether routers' virtual hosts with equal routes are merged."},
     Set<&Features::merge_hosts>},
};

}  // namespace

std::span<const FeatureVariable> FeatureVariables() { return kVariables; }

bool ReadBool(std::string_view text, bool* out) {
  const std::string lower = AsciiLower(text);
  *out = lower == "true" || lower == "1" || lower == "t";
  return *out || lower == "false" || lower == "0" || lower == "f";
}

}  // namespace fairlead::app
