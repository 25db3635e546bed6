#include <string>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "envoy/extensions/clusters/dynamic_forward_proxy/v3/cluster.pb.h"
#include "envoy/extensions/transport_sockets/proxy_protocol/v3/upstream_proxy_protocol.pb.h"
#include "envoy/extensions/transport_sockets/tls/v3/tls.pb.h"
#include "gen/cluster/draft.h"
#include "gen/naming/metadata.h"
#include "gen/policy/compliance.h"
#include "istio/mesh/v1alpha1/config.pb.h"
#include "istio/networking/v1alpha3/destination_rule.pb.h"
#include "proto/messages.h"

// Some of Istio's and Envoy's fields are deprecated and still what is set and sent.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

namespace fairlead::gen {
namespace {

namespace cl = envoy::config::cluster::v3;
namespace tls = envoy::extensions::transport_sockets::tls::v3;
using Settings = api::ClientTLSSettings;

constexpr std::string_view kTlsSocket = "envoy.transport_sockets.tls";
constexpr std::string_view kProxyProtocolSocket = "envoy.transport_sockets.upstream_proxy_protocol";
constexpr std::string_view kFileSecretCluster = "sds-files-grpc";

// What TLS is made of besides its settings.
struct TlsSource {
  const model::Settings& settings;
  const ClusterTraits& traits;
  const std::vector<std::string>& identities;
  bool external_registry = false;  // a ServiceEntry: its subjectAltNames count where the rule has none
  bool credentials_allowed = true;
};

// TLS as it will be: a rule's, or mutual TLS that may be assumed.
struct ChosenTls {
  Settings settings;
  bool assumed = false;
};

Settings IstioMutual(const std::vector<std::string>& identities, std::string_view sni) {
  Settings out;
  out.set_mode(Settings::ISTIO_MUTUAL);
  out.mutable_subject_alt_names()->Assign(identities.begin(), identities.end());
  out.set_sni(std::string(sni));
  return out;
}

// Mutual TLS with the certificates that the proxy's metadata names, in place of the ones Istio issues.
Settings MetadataMutual(const ClusterTraits& traits, Settings base) {
  base.set_mode(Settings::MUTUAL);
  base.set_client_certificate(traits.client_certificate.str());
  base.set_private_key(traits.client_key.str());
  base.set_ca_certificates(traits.client_root.str());
  base.clear_credential_name();
  base.clear_ca_crl();
  return base;
}

std::optional<ChosenTls> Choose(const OutboundClusterInputs& inputs, const Settings* rule,
                                std::string_view sni) {
  const bool metadata = !inputs.traits.client_certificate.empty();
  if (rule == nullptr) {
    if (!inputs.auto_mutual_tls) return std::nullopt;
    Settings assumed = IstioMutual(inputs.identities, sni);
    return ChosenTls{metadata ? MetadataMutual(inputs.traits, std::move(assumed)) : std::move(assumed), true};
  }
  if (rule->mode() == Settings::DISABLE || rule->mode() == Settings::SIMPLE) return ChosenTls{*rule, false};
  if (metadata) {
    // A service outside may trust another CA: there the rule counts.
    if (inputs.service->mesh_external && inputs.settings->features.prefer_rule_tls)
      return ChosenTls{*rule, false};
    return ChosenTls{MetadataMutual(inputs.traits, *rule), false};
  }
  if (rule->mode() == Settings::MUTUAL) return ChosenTls{*rule, false};
  Settings mutual = IstioMutual(inputs.identities, rule->sni().empty() ? sni : std::string_view(rule->sni()));
  if (rule->subject_alt_names_size() > 0) *mutual.mutable_subject_alt_names() = rule->subject_alt_names();
  if (rule->has_insecure_skip_verify()) *mutual.mutable_insecure_skip_verify() = rule->insecure_skip_verify();
  return ChosenTls{std::move(mutual), false};
}

void SetVersions(tls::CommonTlsContext* common) {
  auto* params = common->mutable_tls_params();
  params->set_tls_minimum_protocol_version(tls::TlsParameters::TLSv1_2);
  params->set_tls_maximum_protocol_version(tls::TlsParameters::TLSv1_3);
}

void SetNames(const google::protobuf::RepeatedPtrField<std::string>& names,
              tls::CertificateValidationContext* context) {
  for (const std::string& name : names) context->add_match_subject_alt_names()->set_exact(name);
}

void SetFileSecret(std::string_view name, const ClusterTraits& traits, tls::SdsSecretConfig* out) {
  if (traits.file_credential_socket) return proto::SetClusterSecret(name, kFileSecretCluster, "", out);
  proto::SetAgentSecret(name, out);
}

void SetAutoNames(const Settings& settings, ClusterDraft* draft);

tls::UpstreamTlsContext IstioContext(const Settings& settings, const TlsSource& source, ClusterDraft* draft) {
  tls::UpstreamTlsContext context;
  auto* common = context.mutable_common_tls_context();
  SetVersions(common);
  proto::SetAgentSecret("default", common->add_tls_certificate_sds_secret_configs());
  auto* validation = common->mutable_combined_validation_context();
  SetNames(settings.subject_alt_names(), validation->mutable_default_validation_context());
  proto::SetAgentSecret("ROOTCA", validation->mutable_validation_context_sds_secret_config());
  context.set_sni(settings.sni());
  if (context.sni().empty() && !draft->dynamic_forward_proxy) context.set_sni(draft->cluster.name());
  // "istio" tells the server that the client is in the mesh; "istio-peer-exchange", that it exchanges
  // metadata over TCP.
  const model::Features& features = source.settings.features;
  if (source.traits.metadata_exchange && features.metadata_exchange && features.metadata_alpn)
    common->add_alpn_protocols("istio-peer-exchange");
  common->add_alpn_protocols("istio");
  if (draft->ExplicitHttp2()) common->add_alpn_protocols("h2");
  if (draft->dynamic_forward_proxy) SetAutoNames(settings, draft);
  return context;
}

// Lets Envoy take the SNI, and the name in the server's certificate, from the request's host, where none is
// given.
void SetAutoNames(const Settings& settings, ClusterDraft* draft) {
  const bool unverified = settings.insecure_skip_verify().value();
  const bool auto_sni = settings.sni().empty();
  const bool auto_san =
      !unverified && (draft->dynamic_forward_proxy || (auto_sni && settings.subject_alt_names_size() == 0));
  if (draft->dynamic_forward_proxy && (unverified || !auto_sni || !auto_san)) {
    envoy::extensions::clusters::dynamic_forward_proxy::v3::ClusterConfig config;
    auto* packed = draft->cluster.mutable_cluster_type()->mutable_typed_config();
    packed->UnpackTo(&config);
    config.set_allow_insecure_cluster_options(true);
    proto::Pack(config, packed);
  }
  if (!auto_sni && !auto_san) return;
  auto* options = draft->Http().mutable_upstream_http_protocol_options();
  if (auto_sni) options->set_auto_sni(true);
  if (auto_san) options->set_auto_san_validation(true);
}

// Certificates by a Secret's name.
void SetCredential(const Settings& settings, const ClusterTraits& traits, tls::CommonTlsContext* common) {
  const std::string& name = settings.credential_name();
  if (settings.mode() == Settings::MUTUAL) {
    proto::SetCredentialSecret(name, traits.credential_socket,
                               common->add_tls_certificate_sds_secret_configs());
  }
  if (settings.insecure_skip_verify().value()) return;
  auto* validation = common->mutable_combined_validation_context();
  SetNames(settings.subject_alt_names(), validation->mutable_default_validation_context());
  proto::SetCredentialSecret(StrCat(name, "-cacert"), traits.credential_socket,
                             validation->mutable_validation_context_sds_secret_config());
}

// Certificates by files, which the agent serves and watches; without CA file, the system's CAs. False: the
// settings lack what their mode needs.
bool SetFiles(const Settings& settings, const ClusterTraits& traits, tls::CommonTlsContext* common) {
  if (settings.mode() == Settings::MUTUAL) {
    if (settings.client_certificate().empty() || settings.private_key().empty()) return false;
    SetFileSecret(StrCat("file-cert:", settings.client_certificate(), "~", settings.private_key()), traits,
                  common->add_tls_certificate_sds_secret_configs());
  }
  if (settings.insecure_skip_verify().value()) {
    common->mutable_validation_context();
    return true;
  }
  auto* validation = common->mutable_combined_validation_context();
  SetNames(settings.subject_alt_names(), validation->mutable_default_validation_context());
  if (!settings.ca_crl().empty()) {
    validation->mutable_default_validation_context()->mutable_crl()->set_filename(settings.ca_crl());
  }
  const std::string& roots = settings.ca_certificates();
  SetFileSecret(StrCat("file-root:", roots.empty() ? "system" : roots), traits,
                validation->mutable_validation_context_sds_secret_config());
  return true;
}

std::optional<tls::UpstreamTlsContext> PlainContext(Settings settings, const TlsSource& source,
                                                    ClusterDraft* draft) {
  tls::UpstreamTlsContext context;
  auto* common = context.mutable_common_tls_context();
  SetVersions(common);
  context.set_sni(settings.sni());
  SetAutoNames(settings, draft);
  if (source.external_registry && settings.subject_alt_names_size() == 0) {
    settings.mutable_subject_alt_names()->Assign(source.identities.begin(), source.identities.end());
  }
  if (!settings.credential_name().empty()) {
    SetCredential(settings, source.traits, common);
  } else if (!SetFiles(settings, source.traits, common)) {
    return std::nullopt;
  }
  const auto& defaults = source.settings.mesh->tls_defaults();
  if (defaults.ecdh_curves_size() > 0)
    *common->mutable_tls_params()->mutable_ecdh_curves() = defaults.ecdh_curves();
  if (defaults.cipher_suites_size() > 0) {
    *common->mutable_tls_params()->mutable_cipher_suites() = defaults.cipher_suites();
  }
  if (draft->ExplicitHttp2()) common->add_alpn_protocols("h2");
  return context;
}

// A rule for all sidecars of a namespace must not hand a Secret to every one of them: by name only to
// gateways, or to whom a rule's workloadSelector picks. ConfigMaps are no secrets.
bool CredentialDenied(const Settings& settings, const TlsSource& source) {
  return !settings.credential_name().empty() && !settings.credential_name().starts_with("configmap://") &&
         !source.credentials_allowed;
}

std::optional<tls::UpstreamTlsContext> BuildContext(const Settings& settings, const TlsSource& source,
                                                    ClusterDraft* draft) {
  switch (settings.mode()) {
    case Settings::ISTIO_MUTUAL:
      return IstioContext(settings, source, draft);
    case Settings::SIMPLE:
    case Settings::MUTUAL:
      if (CredentialDenied(settings, source)) return std::nullopt;
      return PlainContext(settings, source, draft);
    default:
      return std::nullopt;
  }
}

void SetTlsSocket(const tls::UpstreamTlsContext& context, cl::Cluster* cluster) {
  cluster->mutable_transport_socket()->set_name(std::string(kTlsSocket));
  proto::Pack(context, cluster->mutable_transport_socket()->mutable_typed_config());
}

// TLS for endpoints that are marked as speaking it, plaintext for the others.
void MatchByEndpoint(cl::Cluster* cluster) {
  auto* mutual = cluster->add_transport_socket_matches();
  mutual->set_name("tlsMode-istio");
  proto::SetString("tlsMode", "istio", mutual->mutable_match());
  mutual->mutable_transport_socket()->Swap(cluster->mutable_transport_socket());
  cluster->clear_transport_socket();
  auto* plain = cluster->add_transport_socket_matches();
  plain->set_name("tlsMode-disabled");
  plain->mutable_match();
  proto::SetRawBuffer(plain->mutable_transport_socket());
}

void WrapInProxyProtocol(envoy::config::core::v3::ProxyProtocolConfig::Version version,
                         envoy::config::core::v3::TransportSocket* socket) {
  envoy::extensions::transport_sockets::proxy_protocol::v3::ProxyProtocolUpstreamTransport wrapper;
  wrapper.mutable_config()->set_version(version);
  *wrapper.mutable_transport_socket() = std::move(*socket);
  socket->Clear();
  socket->set_name(std::string(kProxyProtocolSocket));
  proto::Pack(wrapper, socket->mutable_typed_config());
}

}  // namespace

void ApplyUpstreamTls(const OutboundClusterInputs& inputs, const EffectivePolicy& policy,
                      std::string_view sni, ClusterDraft* draft) {
  const std::optional<ChosenTls> chosen = Choose(inputs, policy.tls, sni);
  if (!chosen) return;
  const bool selected = inputs.rule != nullptr && inputs.rule->spec->has_workload_selector();
  const TlsSource source{*inputs.settings, inputs.traits, inputs.identities,
                         inputs.service->registry == model::Registry::kExternal,
                         inputs.traits.type != model::ProxyType::kSidecar || selected};
  std::optional<tls::UpstreamTlsContext> context = BuildContext(chosen->settings, source, draft);
  if (!context) return;
  EnforceCompliance(inputs.settings->compliance, context->mutable_common_tls_context());
  SetTlsSocket(*context, &draft->cluster);
  // Connections to the original destination have no endpoint that could say what it speaks.
  const bool original = draft->cluster.has_type() && draft->cluster.type() == cl::Cluster::ORIGINAL_DST;
  if (chosen->assumed && chosen->settings.mode() == Settings::ISTIO_MUTUAL && !original) {
    MatchByEndpoint(&draft->cluster);
  }
}

void ApplyProxyProtocol(const EffectivePolicy& policy, cl::Cluster* cluster) {
  if (policy.proxy_protocol == nullptr) return;
  const auto version =
      static_cast<envoy::config::core::v3::ProxyProtocolConfig::Version>(policy.proxy_protocol->version());
  for (auto& match : *cluster->mutable_transport_socket_matches()) {
    WrapInProxyProtocol(version, match.mutable_transport_socket());
  }
  if (cluster->transport_socket_matches_size() > 0 && !cluster->has_transport_socket()) return;
  if (!cluster->has_transport_socket()) {
    proto::SetRawBuffer(cluster->mutable_transport_socket());
    cluster->mutable_transport_socket()->set_name("raw_buffer");
  }
  WrapInProxyProtocol(version, cluster->mutable_transport_socket());
}

void ApplyFixedTls(const Settings& settings, const FixedInputs& inputs, ClusterDraft* draft) {
  const std::vector<std::string> nobody;
  const TlsSource source{*inputs.settings, inputs.traits, nobody, false, false};
  if (auto context = BuildContext(settings, source, draft)) {
    EnforceCompliance(inputs.settings->compliance, context->mutable_common_tls_context());
    SetTlsSocket(*context, &draft->cluster);
  }
}

}  // namespace fairlead::gen
