#include "gen/listener/tls_context.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/strings.h"
#include "envoy/config/core/v3/base.pb.h"
#include "envoy/extensions/transport_sockets/tls/v3/tls.pb.h"
#include "gen/listener/traits.h"
#include "gen/policy/compliance.h"
#include "istio/mesh/v1alpha1/config.pb.h"
#include "proto/messages.h"

namespace fairlead::gen::listener {
namespace {

namespace tls = envoy::extensions::transport_sockets::tls::v3;
using istio::mesh::v1alpha1::MeshConfig;

constexpr std::string_view kCipherSuites[] = {
    "ECDHE-ECDSA-AES256-GCM-SHA384", "ECDHE-RSA-AES256-GCM-SHA384", "ECDHE-ECDSA-AES128-GCM-SHA256",
    "ECDHE-RSA-AES128-GCM-SHA256",   "AES256-GCM-SHA384",           "AES128-GCM-SHA256"};

void SetParameters(const MeshConfig& mesh, tls::TlsParameters* out) {
  const bool newest = mesh.mesh_mtls().min_protocol_version() == MeshConfig::TLSConfig::TLSV1_3;
  out->set_tls_minimum_protocol_version(newest ? tls::TlsParameters::TLSv1_3 : tls::TlsParameters::TLSv1_2);
  out->set_tls_maximum_protocol_version(tls::TlsParameters::TLSv1_3);
  if (mesh.mesh_mtls().cipher_suites().empty()) {
    for (const std::string_view suite : kCipherSuites) out->add_cipher_suites(std::string(suite));
  } else {
    *out->mutable_cipher_suites() = mesh.mesh_mtls().cipher_suites();
  }
}

// The trust domain, its aliases and those of further roots, each once; none where peers of any count.
std::vector<std::string> TrustDomains(const model::Settings& settings) {
  std::vector<std::string> domains;
  if (settings.features.skip_trust_domain) return domains;
  const auto add = [&domains](const std::string& domain) {
    if (domain.empty() || std::find(domains.begin(), domains.end(), domain) != domains.end()) return;
    domains.push_back(domain);
  };
  add(settings.mesh->trust_domain());
  for (const std::string& alias : settings.mesh->trust_domain_aliases()) add(alias);
  for (const auto& certificate : settings.mesh->ca_certificates()) {
    for (const std::string& domain : certificate.trust_domains()) add(domain);
  }
  return domains;
}

void SetSecret(const ServerFiles& files, const std::string& file_name, std::string_view otherwise,
               tls::SdsSecretConfig* out) {
  if (file_name.empty()) return proto::SetAgentSecret(otherwise, out);
  if (files.from_file_sds) return proto::SetClusterSecret(file_name, "sds-files-grpc", "", out);
  proto::SetAgentSecret(file_name, out);
}

void SetCertificates(const ServerFiles& files, const model::Settings& settings, tls::CommonTlsContext* out) {
  std::string certificate, root;
  if (!files.certificate_chain.empty() && !files.key.empty()) {
    certificate = StrCat("file-cert:", files.certificate_chain.str(), "~", files.key.str());
  }
  if (!files.root.empty()) root = StrCat("file-root:", files.root.str());
  SetSecret(files, certificate, "default", out->add_tls_certificate_sds_secret_configs());
  auto* validation = out->mutable_combined_validation_context();
  SetSecret(files, root, "ROOTCA", validation->mutable_validation_context_sds_secret_config());
  auto* peers = validation->mutable_default_validation_context();
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
  for (const std::string& domain : TrustDomains(settings)) {
    peers->add_match_subject_alt_names()->set_prefix(StrCat("spiffe://", domain, "/"));
  }
#pragma GCC diagnostic pop
}

}  // namespace

void SetMutualTls(const ProxyTraits& traits, Inner inner, envoy::config::core::v3::TransportSocket* out) {
  tls::DownstreamTlsContext context;
  context.mutable_require_client_certificate()->set_value(true);
  tls::CommonTlsContext* common = context.mutable_common_tls_context();
  // Inside plain TCP, metadata is exchanged on connections whose ends both offer this.
  const model::Features& features = traits.settings->features;
  if (inner == Inner::kTcp && features.metadata_exchange && features.metadata_alpn)
    common->add_alpn_protocols("istio-peer-exchange");
  common->add_alpn_protocols("h2");
  common->add_alpn_protocols("http/1.1");
  SetParameters(*traits.settings->mesh, common->mutable_tls_params());
  SetCertificates(traits.server_files, *traits.settings, common);
  EnforceCompliance(traits.settings->compliance, common);
  out->set_name("envoy.transport_sockets.tls");
  proto::Pack(context, out->mutable_typed_config());
}

}  // namespace fairlead::gen::listener
