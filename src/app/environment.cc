#include "app/environment.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <optional>
#include <utility>

#include "app/feature_variables.h"
#include "app/state_folder.h"
#include "base/duration.h"
#include "base/strings.h"
#include "config/check/names.h"

namespace fairlead::app {
namespace {

// How a variable's text becomes a value; false where it cannot.
using Setter = bool (*)(std::string_view, Environment*);

template <auto Member>
bool SetDuration(std::string_view text, Environment* environment) {
  const auto duration = ParseGoDuration(text);
  if (!duration || duration->count() < 0) return false;
  environment->*Member = *duration;
  return true;
}

// Keeps the text, for a flag that reads it again.
template <auto Member>
bool SetDurationText(std::string_view text, Environment* environment) {
  const auto duration = ParseGoDuration(text);
  if (!duration || duration->count() < 0) return false;
  environment->*Member = std::string(text);
  return true;
}

template <auto Member>
bool SetBool(std::string_view text, Environment* environment) {
  return ReadBool(text, &(environment->*Member));
}

template <auto Member>
bool SetGatewayFeature(std::string_view text, Environment* environment) {
  return ReadBool(text, &(environment->gateways.*Member));
}

template <auto Member>
bool SetCount(std::string_view text, Environment* environment) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0) return false;
  environment->*Member = value;
  return true;
}

template <auto Member>
bool SetSize(std::string_view text, Environment* environment) {
  return SetCount<Member>(text, environment) && environment->*Member > 0;
}

// Fewer than eight would leave none for probes.
bool SetHttpConnections(std::string_view text, Environment* environment) {
  size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  environment->http_connections = value;
  return error == std::errc() && end == text.data() + text.size() && value >= 8 && value <= 100000;
}

// Of a certificate: a second at least.
template <auto Member>
bool SetLifetime(std::string_view text, Environment* environment) {
  return SetDuration<Member>(text, environment) && environment->*Member >= std::chrono::seconds(1);
}

template <auto Member>
bool SetPercent(std::string_view text, Environment* environment) {
  return SetCount<Member>(text, environment) && environment->*Member <= 100;
}

template <auto Member>
bool SetRate(std::string_view text, Environment* environment) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !(value >= 0 && value < 1e9)) return false;
  environment->*Member = value;
  return true;
}

template <auto Member>
bool SetText(std::string_view text, Environment* environment) {
  environment->*Member = std::string(text);
  return true;
}

bool SetWatchedNamespace(std::string_view text, Environment* environment) {
  environment->only_namespace = std::string(text);
  return text.empty() || config::check::IsDns1123Label(text);
}

// Read elsewhere.
bool IsText(std::string_view /*text*/, Environment* /*environment*/) { return true; }

bool SetNativeSidecars(std::string_view text, Environment* environment) {
  const auto native = injection::ParseNativeSidecars(text);
  environment->native_sidecars = native.value_or(injection::NativeSidecars::kAuto);
  return native.has_value();
}

bool SetIngressNamespace(std::string_view text, Environment* environment) {
  environment->ingress_namespace = std::string(text);
  return !text.empty();
}

bool SetPlaintextIdentity(std::string_view text, Environment* environment) {
  environment->plaintext_identity = text == "node";
  return text == "node" || text.empty();
}

bool SetKubeconfigOptions(std::string_view text, Environment* environment) {
  for (const std::string_view option : Split(text, ',')) {
    if (!Trim(option).empty()) environment->kubeconfig_options.emplace(Trim(option));
  }
  return true;
}

bool SetBlockedKeyServers(std::string_view text, Environment* environment) {
  for (const std::string_view written : Split(text, ',')) {
    if (Trim(written).empty()) continue;
    const std::optional<IpPrefix> range = IpPrefix::Parse(Trim(written));
    if (!range) return false;
    environment->blocked_key_servers.push_back(*range);
  }
  return true;
}

bool SetCompliance(std::string_view text, Environment* environment) {
  using model::Compliance;
  constexpr std::pair<std::string_view, Compliance> kPolicies[] = {{"", Compliance::kNone},
                                                                   {"fips-140-2", Compliance::kFips1402},
                                                                   {"fips-140-3", Compliance::kFips1403},
                                                                   {"pqc", Compliance::kPqc}};
  const auto found = std::find_if(std::begin(kPolicies), std::end(kPolicies),
                                  [text](const auto& policy) { return policy.first == text; });
  if (found == std::end(kPolicies)) return false;
  environment->compliance = found->second;
  environment->compliance_policy = std::string(text);
  return true;
}

struct Row {
  EnvironmentVariable variable;
  Setter set;
};

const std::vector<Row>& Rows() {
  static const auto* rows = new std::vector<Row>{
      {{"PILOT_DEBOUNCE_AFTER", "100ms", "Quiet time after a change before its publication."},
       SetDuration<&Environment::debounce_after>},
      {{"PILOT_DEBOUNCE_MAX", "10s", "Longest wait of a change while others keep coming."},
       SetDuration<&Environment::debounce_max>},
      {{"PILOT_ENABLE_EDS_DEBOUNCE", "false", "Whether changes of endpoints alone also wait."},
       SetBool<&Environment::debounce_endpoints>},
      {{"FAIRLEAD_ENDPOINT_PUSHES_PER_SECOND", "2",
        "Publications of endpoints alone in a second, after 20 that need not wait; 0: no limit."},
       SetCount<&Environment::endpoint_pushes_per_second>},
      {{"PILOT_XDS_SEND_TIMEOUT", "5s",
        "Time for a proxy to read a response, plus a second for each 256 KiB; then its stream is cut; 0: for "
        "ever."},
       SetDuration<&Environment::send_timeout>},
      {{"PILOT_PUSH_THROTTLE", "0", "Most pushes at a time; 0: the number of cores."},
       SetCount<&Environment::push_throttle>},
      {{"PILOT_MAX_REQUESTS_PER_SECOND", "0",
        "New streams a second; a stream that would wait for more than a second is refused. 0: no limit."},
       SetRate<&Environment::max_requests_per_second>},
      {{"PILOT_SCOPE_GATEWAY_TO_NAMESPACE", "false",
        "Whether a Gateway selects only routers of its own namespace."},
       SetGatewayFeature<&model::GatewayFeatures::own_namespace_only>},
      {{"PILOT_FILTER_GATEWAY_CLUSTER_CONFIG", "false",
        "Whether routers get clusters only for services in the VirtualServices of their Gateways."},
       SetGatewayFeature<&model::GatewayFeatures::filter_clusters>},
      {{"PILOT_ENABLE_QUIC_LISTENERS", "false",
        "Whether HTTPS servers of Gateways also offer HTTP/3, if the router's service has the port for UDP."},
       SetGatewayFeature<&model::GatewayFeatures::quic>},
      {{"PILOT_ENABLE_STRICT_GATEWAY_MERGING", "true",
        "Whether a router for a Gateway of the Gateway API ignores Gateways of other namespaces."},
       SetGatewayFeature<&model::GatewayFeatures::strict_merging>},
      {{"K8S_INGRESS_NS", "istio-system",
        "Namespace of the Gateways for Kubernetes Ingresses, and of their Secrets."},
       SetIngressNamespace},
      {{"ISTIO_GPRC_MAXRECVMSGSIZE", "4194304", "Bytes of a proxy's largest message."},
       SetSize<&Environment::max_receive_size>},
      {{"ISTIO_GPRC_MAXSTREAMS", "100000", "The most streams of one connection."},
       SetSize<&Environment::max_streams>},
      {{"FAIRLEAD_MAX_STREAMS_WITHOUT_IDENTITY", "100",
        "Most streams of one connection without a client certificate with an identity."},
       SetSize<&Environment::max_streams_without_identity>},
      {{"FAIRLEAD_MAX_CONNECTIONS_PER_ADDRESS", "4096",
        "Most connections without identity from one address, for --grpcAddr and --secureGRPCAddr each; for "
        "IPv6 from one network of 64 bits; 0: no limit."},
       SetCount<&Environment::max_connections_per_address>},
      {{"FAIRLEAD_CONNECTION_IDLE", "60s",
        "Time of a connection without a stream before the server ends it; 0: for ever."},
       SetDuration<&Environment::connection_idle>},
      {{"FAIRLEAD_FIRST_MESSAGE_TIMEOUT", "30s", "Time for a stream's first message; then the stream ends."},
       SetLifetime<&Environment::first_message_timeout>},
      {{"GRPC_KEEPALIVE_INTERVAL", "30s", "The default of --keepaliveInterval."},
       SetDurationText<&Environment::keepalive_interval>},
      {{"GRPC_KEEPALIVE_TIMEOUT", "10s", "The default of --keepaliveTimeout."},
       SetDurationText<&Environment::keepalive_timeout>},
      {{"ENABLE_DEBUG_ON_HTTP", "true", "Whether clients on this machine see /debug."},
       SetBool<&Environment::debug_on_http>},
      {{"FAIRLEAD_ENDPOINTS_FROM_PODS", "true",
        "Whether Services of --configDir without an EndpointSlice get their selected Pods as endpoints, as "
        "from Kubernetes' controller."},
       SetBool<&Environment::endpoints_from_pods>},
      {{"ENABLE_XDS_API_GENERATOR_AUTH", "true",
        "Whether only workloads of the root namespace and clients on this machine get the mesh's objects "
        "over xDS."},
       SetBool<&Environment::authorize_objects>},
      {{"CLUSTER_ID", "Kubernetes", "The default of --clusterID."}, SetText<&Environment::cluster_id>},
      {{"POD_NAMESPACE", "istio-system", "The default of --namespace."},
       SetText<&Environment::pod_namespace>},
      {{"REVISION", "",
        "Revision of this control plane: injected pods name it, and the injector's ConfigMap is "
        "istio-sidecar-injector-REVISION."},
       SetText<&Environment::revision>},
      {{"SHARED_MESH_CONFIG", "",
        "A second ConfigMap of the mesh's settings in the control plane's namespace. The MeshConfig of the "
        "file or of "
        "the ConfigMap istio is laid over its own; its networks win."},
       SetText<&Environment::shared_mesh_config>},
      {{"ENABLE_MCS_AUTO_EXPORT", "false",
        "Whether each Service of the own cluster that is not cluster-local gets a ServiceExport."},
       SetBool<&Environment::export_services>},
      {{"PLATFORM", "",
        "Platform of the cluster; \"openshift\": sidecars get users from the ranges of their namespace."},
       SetText<&Environment::platform>},
      {{"ENABLE_NATIVE_SIDECARS", "auto",
        "Whether sidecars are init containers that go on: true, false, or auto: if every node runs "
        "Kubernetes "
        "1.33 or later."},
       SetNativeSidecars},
      {{"KUBERNETES_SERVICE_HOST", "",
        "The address of the API server of the pod's own cluster, which is read where there is neither "
        "--configDir nor --kubeconfig; Kubernetes sets it."},
       SetText<&Environment::kubernetes_host>},
      {{"KUBERNETES_SERVICE_PORT", "443", "Its port; Kubernetes sets it."},
       SetText<&Environment::kubernetes_port>},
      {{"EXTERNAL_ISTIOD", "false",
        "Whether this process resides in another cluster than the mesh's own, which --kubeconfig names."},
       SetBool<&Environment::external_control_plane>},
      {{"LOCAL_CLUSTER_SECRET_WATCHER", "false",
        "With EXTERNAL_ISTIOD, whether Secrets with kubeconfigs of other clusters are in the cluster of the "
        "pod; otherwise in the mesh's own."},
       SetBool<&Environment::local_secrets>},
      {{"PILOT_INSECURE_MULTICLUSTER_KUBECONFIG_OPTIONS", "",
        "Credentials, with commas, that kubeconfigs of other clusters may use besides tokens and written-out "
        "certificates: clientCertificate, clientKey, tokenFile, exec."},
       SetKubeconfigOptions},
      {{"PILOT_REMOTE_CLUSTER_TIMEOUT", "30s", "Longest wait at the start for another cluster; 0: for ever."},
       SetDuration<&Environment::remote_cluster_timeout>},
      {{"FAIRLEAD_REMOTE_CLUSTERS", "100", "Most other clusters."}, SetSize<&Environment::remote_clusters>},
      {{"PILOT_ENABLE_REMOTE_CREDENTIALS_CONTROLLER", "true",
        "Whether Secrets of other clusters are read, for the gateways there."},
       SetBool<&Environment::remote_credentials>},
      {{"POD_NAME", "", "The name of this instance, for introspection and in the Leases that it holds."},
       SetText<&Environment::pod_name>},
      {{"FAIRLEAD_CLUSTER_WRITES", "true",
        "Whether anything is written to the API server that objects are read from: statuses, root "
        "certificates, "
        "the authority's own secret, Leases."},
       SetBool<&Environment::cluster_writes>},
      {{"ENABLE_LEADER_ELECTION", "true",
        "Whether one of several replicas writes to the API server, chosen by Leases. False: this is the only "
        "one."},
       SetBool<&Environment::leader_election>},
      {{"PILOT_ENABLE_GATEWAY_API_STATUS", "true",
        "Whether statuses of Gateway API objects are written to the API server."},
       SetBool<&Environment::gateway_statuses>},
      {{"PILOT_ENABLE_GATEWAY_API_DEPLOYMENT_CONTROLLER", "true",
        "Whether managed Gateways get a Deployment, a Service and a ServiceAccount in the cluster."},
       SetBool<&Environment::gateway_deployments>},
      {{"PILOT_ENABLE_GATEWAY_API_COPY_LABELS_ANNOTATIONS", "true",
        "Whether labels and annotations of a Gateway go to its Deployment, Service and ServiceAccount."},
       SetBool<&Environment::gateway_metadata>},
      {{"PILOT_ENABLE_GATEWAY_API_GATEWAYCLASS_CONTROLLER", "true",
        "Whether missing GatewayClasses of the mesh are made in the cluster."},
       SetBool<&Environment::gateway_classes>},
      {{"PILOT_ENABLE_WORKLOAD_ENTRY_AUTOREGISTRATION", "true",
        "Whether a proxy with the metadata AUTO_REGISTER_GROUP gets a WorkloadEntry of that WorkloadGroup."},
       SetBool<&Environment::auto_registration>},
      {{"PILOT_ENABLE_WORKLOAD_ENTRY_HEALTHCHECKS", "true",
        "Whether proxies report the health of WorkloadEntries, and unhealthy ones are no endpoints."},
       SetBool<&Environment::entry_health>},
      {{"PILOT_WORKLOAD_ENTRY_GRACE_PERIOD", "10s",
        "How long a registered WorkloadEntry stays after its proxy has gone."},
       SetDuration<&Environment::entry_grace>},
      {{"ISTIO_WORKLOAD_ENTRY_VALIDATE_IDENTITY", "true",
        "Whether a proxy may register, or report the health of, a WorkloadEntry of its own namespace and "
        "service account alone."},
       SetBool<&Environment::entry_identity>},
      {{"PILOT_CA_CERT_CONFIGMAP", "istio-ca-root-cert",
        "The name of the ConfigMap with the root certificate in each namespace of the cluster."},
       SetText<&Environment::root_config_map>},
      {{"ENABLE_CLUSTER_TRUST_BUNDLE_API", "false",
        "Whether a ClusterTrustBundle has the root certificate, in place of the ConfigMaps."},
       SetBool<&Environment::trust_bundles>},
      {{"USE_CACERTS_FOR_SELF_SIGNED_CA", "false",
        "Whether a root of our own goes into the Secret cacerts of the cluster, in place of "
        "istio-ca-secret."},
       SetBool<&Environment::root_in_cacerts>},
      {{"FAIRLEAD_HTTP_CONNECTIONS", "512",
        "Requests at a time for --httpAddr, at least 8; REST polls may take seven eighths of them. 512 more "
        "connections may be silent."},
       SetHttpConnections},
      {{"FAIRLEAD_PLAINTEXT_IDENTITY", "",
        "\"node\": accept a node's own word on the plaintext port. For tests and closed networks only."},
       SetPlaintextIdentity},
      {{"ENABLE_CA_SERVER", "true", "Whether --secureGRPCAddr issues certificates for workloads."},
       SetBool<&Environment::ca_server>},
      {{"PILOT_ENABLE_CA_CRL", "true", "Whether the revocation list in ROOT_CA_DIR (ca-crl.pem) counts."},
       SetBool<&Environment::revocations>},
      {{"PILOT_IGNORE_RESOURCES", "",
        "Custom resources without effect, with commas: names of their definitions "
        "(wasmplugins.extensions.istio.io) or ends of names (*.istio.io)."},
       SetText<&Environment::ignored_resources>},
      {{"PILOT_INCLUDE_RESOURCES", "", "Exceptions from PILOT_IGNORE_RESOURCES."},
       SetText<&Environment::included_resources>},
      {{"ISTIO_WATCH_NAMESPACE", "",
        "The one namespace whose objects count: of an API server all, of --configDir those of Kubernetes and "
        "the "
        "Gateway API; empty: all."},
       SetWatchedNamespace},
      {{"ROOT_CA_DIR", "./etc/cacerts",
        "Folder of an authority: ca-cert.pem, ca-key.pem, root-cert.pem and cert-chain.pem, or tls.crt, "
        "tls.key and ca.crt. Without them Fairlead makes its own root."},
       SetText<&Environment::root_ca_dir>},
      {{"STATE_DIRECTORY", "", "The default of --stateDir; systemd sets it."}, IsText},
      {{"FAIRLEAD_CA_DIR", "",
        "Folder of the self-made root, made at the first start and kept; for its owner alone. Empty: \"ca\" "
        "in --stateDir."},
       SetText<&Environment::ca_dir>},
      {{"DEFAULT_WORKLOAD_CERT_TTL", "24h",
        "Lifetime of a certificate without a requested one, and of the TLS listener's certificate."},
       SetLifetime<&Environment::default_certificate_lifetime>},
      {{"MAX_WORKLOAD_CERT_TTL", "2160h", "Longest lifetime that a request may ask for."},
       SetLifetime<&Environment::max_certificate_lifetime>},
      {{"CITADEL_SELF_SIGNED_CA_CERT_TTL", "87600h", "Lifetime of the self-made root."},
       SetLifetime<&Environment::root_lifetime>},
      {{"CITADEL_SELF_SIGNED_ROOT_CERT_CHECK_INTERVAL", "1h",
        "Time between two checks of the self-made root's age; 0: never."},
       SetDuration<&Environment::root_check_interval>},
      {{"CITADEL_SELF_SIGNED_ROOT_CERT_GRACE_PERIOD_PERCENTILE", "20",
        "Last part of the self-made root's lifetime, in percent, in which it is renewed."},
       SetPercent<&Environment::root_grace_percent>},
      {{"CITADEL_SELF_SIGNED_CA_RSA_KEY_SIZE", "0",
        "Bits of the self-made root's RSA key, 2048 to 8192; 0: an ECDSA key."},
       SetCount<&Environment::root_rsa_bits>},
      {{"FAIRLEAD_SIGNER_URL", "",
        "URL https://… of an external signer with CFSSL's API \"sign\". Empty: none."},
       SetText<&Environment::signer_url>},
      {{"FAIRLEAD_SIGNER_PROFILE", "", "Name of the signer's profile. Empty: its default."},
       SetText<&Environment::signer_profile>},
      {{"FAIRLEAD_SIGNER_TOKEN", "", "File of the bearer token for the signer."},
       SetText<&Environment::signer_token>},
      {{"FAIRLEAD_SIGNER_ROOTS", "", "File of the roots for the signer's certificate. Empty: the system's."},
       SetText<&Environment::signer_tls_roots>},
      {{"ISTIO_MULTIROOT_MESH", "false",
        "Whether agents also trust the roots of the MeshConfig (caCertificates); they learn them over xDS."},
       SetBool<&Environment::multi_root>},
      {{"ISTIOD_CUSTOM_HOST", "",
        "More names for the TLS listener's certificate, with commas, besides those of istiod's services."},
       SetText<&Environment::custom_host>},
      {{"ISTIOD_SAN", "", "One more name for that certificate; agents may expect it."},
       SetText<&Environment::server_name>},
      {{"TOKEN_ISSUER", "",
        "Issuer of the tokens that prove a caller's identity; OpenID discovery finds its keys. Empty: only "
        "tokens of fairlead token."},
       SetText<&Environment::token_issuer>},
      {{"AUDIENCE", "istio-ca", "Required audience of tokens; with commas, any one of them."},
       SetText<&Environment::token_audience>},
      {{"FAIRLEAD_TOKEN_KEYS", "",
        "File of the issuer's keys, a JSON Web Key Set or PEM, in place of discovery."},
       SetText<&Environment::token_keys>},
      {{"CA_TRUSTED_NODE_ACCOUNTS", "",
        "NAMESPACE/ACCOUNT, with commas, of node agents that may request certificates for the workloads of "
        "their node."},
       SetText<&Environment::trusted_node_accounts>},
      {{"FAIRLEAD_CERTIFICATE_QUEUE", "8",
        "Waiting certificate requests of one peer; further ones are refused. A peer is the identity of a "
        "client certificate, otherwise an address."},
       SetSize<&Environment::certificate_queue>},
      {{"FAIRLEAD_CERTIFICATE_RATE", "1",
        "Certificates a second for one identity at one address, after FAIRLEAD_CERTIFICATE_BURST; 0: no "
        "limit."},
       SetRate<&Environment::certificate_rate>},
      {{"FAIRLEAD_CERTIFICATE_BURST", "20", "Certificates at once for one identity at one address."},
       SetSize<&Environment::certificate_burst>},
      {{"TRUSTED_GATEWAY_CIDR", "",
        "Networks, with commas, of gateways with a trusted x-forwarded-client-cert; any network adds this "
        "machine."},
       SetText<&Environment::trusted_gateways>},
      {{"XDS_AUTH", "true", "Whether clients over TLS must prove their identity."},
       SetBool<&Environment::authenticate_xds>},
      {{"PILOT_ENABLE_XDS_IDENTITY_CHECK", "true",
        "Whether a proxy must have the namespace and service account of its proven identity."},
       SetBool<&Environment::check_identity>},
      {{"FAIRLEAD_MAX_NAMES", "100000",
        "Most names of one type that one stream may request; a stream with more ends."},
       SetSize<&Environment::max_names>},
      {{"FAIRLEAD_MAX_NAME_BYTES", "16777216", "Most bytes of a stream's names of one type together."},
       SetSize<&Environment::max_name_bytes>},
      {{"FAIRLEAD_NODE_BYTES", "524288",
        "The most bytes of a client's node (id, metadata with the pod's annotations, extensions)."},
       SetSize<&Environment::node_bytes>},
      {{"FAIRLEAD_NODE_VALUES", "20000", "Most elements of all lists and maps of a client's node together."},
       SetSize<&Environment::node_values>},
      {{"FAIRLEAD_NODE_TEXT", "4096", "Most bytes of each text of a client's node that resources use."},
       SetSize<&Environment::node_text>},
      {{"FAIRLEAD_NODE_ENTRIES", "1000",
        "Most labels, addresses, networks and ports of a client's node, each; four times as many "
        "extensions."},
       SetSize<&Environment::node_entries>},
      {{"FAIRLEAD_UNPROVEN_MEMORY", "25165824",
        "Memory in bytes for all clients without a proven identity, beyond 64 KiB for each stream; each "
        "service of the mesh adds 64 KiB."},
       SetSize<&Environment::unproven_memory>},
      {{"COMPLIANCE_POLICY", "",
        "Standard for all TLS of proxies: \"fips-140-2\", \"fips-140-3\" or \"pqc\"."},
       SetCompliance},
      {{"PILOT_JWT_PUB_KEY_REFRESH_INTERVAL", "20m",
        "Time between two fetches of RequestAuthentications' keys."},
       SetDuration<&Environment::key_refresh>},
      {{"JWKS_RESOLVER_INSECURE_SKIP_VERIFY", "false",
        "Whether key servers without a valid certificate are accepted. For tests only."},
       SetBool<&Environment::believe_key_servers>},
      {{"BLOCKED_CIDRS_IN_JWKS_URIS", "",
        "Networks without key servers, with commas; link-local addresses and metadata servers of clouds are "
        "always blocked."},
       SetBlockedKeyServers},
      {{"FAIRLEAD_SHADOW", "false",
        "Whether each publication makes everything anew and reports unexpected differences. For tests."},
       SetBool<&Environment::shadow>},
  };
  return *rows;
}

}  // namespace

const std::vector<EnvironmentVariable>& EnvironmentTable() {
  static const auto* table = [] {
    auto* variables = new std::vector<EnvironmentVariable>;
    for (const Row& row : Rows()) variables->push_back(row.variable);
    for (const FeatureVariable& feature : FeatureVariables()) variables->push_back(feature.variable);
    for (const IdentityVariable& one : IdentityVariables())
      variables->push_back({one.name, one.fallback, one.meaning});
    return variables;
  }();
  return *table;
}

absl::StatusOr<Environment> ReadEnvironment(const std::function<const char*(const char*)>& get) {
  Environment environment;
  environment.default_state_dir = DefaultStateFolder(get);
  const auto unreadable = [](const EnvironmentVariable& variable, std::string_view value) {
    return absl::InvalidArgumentError(
        StrCat(variable.name, "=", value, " cannot be read: ", variable.meaning));
  };
  for (const auto& [variable, set] : Rows()) {
    const char* value = get(std::string(variable.name).c_str());
    if (value == nullptr || *value == '\0') continue;
    if (!set(value, &environment)) return unreadable(variable, value);
  }
  for (const IdentityVariable& one : IdentityVariables()) {
    if (const char* value = get(std::string(one.name).c_str()); value != nullptr)
      environment.identity.*one.member = value;
  }
  for (const FeatureVariable& feature : FeatureVariables()) {
    const char* value = get(std::string(feature.variable.name).c_str());
    if (value == nullptr || (*value == '\0' && !feature.empty_counts)) continue;
    if (!feature.set(value, &environment.features)) return unreadable(feature.variable, value);
  }
  model::Features& features = environment.features;
  if (!environment.revision.empty()) features.revision = environment.revision;
  features.mcs_hosts = features.mcs_hosts && features.mcs_discovery;
  features.mcs_cluster_local = features.mcs_cluster_local && features.mcs_hosts;
  return environment;
}

}  // namespace fairlead::app
