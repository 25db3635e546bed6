#include "gen/listener/server_tls.h"

#include <set>
#include <string>

#include "base/cipher_suite.h"
#include "base/strings.h"
#include "envoy/config/core/v3/base.pb.h"
#include "envoy/extensions/transport_sockets/quic/v3/quic_transport.pb.h"
#include "envoy/extensions/transport_sockets/tls/v3/tls.pb.h"
#include "gen/listener/traits.h"
#include "gen/policy/compliance.h"
#include "istio/mesh/v1alpha1/config.pb.h"
#include "istio/networking/v1alpha3/gateway.pb.h"
#include "proto/messages.h"

namespace fairlead::gen::listener {
namespace {

namespace tls = envoy::extensions::transport_sockets::tls::v3;
using Settings = istio::networking::v1alpha3::ServerTLSSettings;
using istio::mesh::v1alpha1::MeshConfig;
using Names = google::protobuf::RepeatedPtrField<std::string>;

constexpr std::string_view kRootSuffix = "-cacert";

// Files that hold certificates; any may be "".
struct Files {
  std::string_view certificate, key, root;
};

std::string CertificateName(std::string_view certificate, std::string_view key) {
  if (certificate.empty() || key.empty()) return "";
  return StrCat("file-cert:", certificate, "~", key);
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
void SetNames(const Names& names, tls::CertificateValidationContext* out) {
  for (const std::string& name : names) out->add_match_subject_alt_names()->set_exact(name);
}
#pragma GCC diagnostic pop

class Builder {
 public:
  Builder(const ProxyTraits& traits, const ServerTls& tls)
      : traits_(traits), tls_(tls), settings_(tls.settings), quic_(tls.quic) {}

  void Build(tls::DownstreamTlsContext* out) const {
    const Settings::TLSmode mode = settings_.mode();
    const bool required = !quic_ && (mode == Settings::MUTUAL || mode == Settings::ISTIO_MUTUAL);
    out->mutable_require_client_certificate()->set_value(required);
    tls::CommonTlsContext* common = out->mutable_common_tls_context();
    SetAlpn(common);
    const bool validate = required || mode == Settings::OPTIONAL_MUTUAL;
    if (mode == Settings::ISTIO_MUTUAL) {
      const ServerFiles& own = traits_.server_files;
      SetFiles({own.certificate_chain.str(), own.key.str(), own.root.str()}, {}, validate, common);
    } else if (!settings_.credential_names().empty() || !settings_.credential_name().empty()) {
      SetCredentials(common);
    } else {
      SetFiles({settings_.server_certificate(), settings_.private_key(), settings_.ca_certificates()},
               settings_.tls_certificates(), validate, common);
    }
    if (mode == Settings::SIMPLE || mode == Settings::MUTUAL || mode == Settings::OPTIONAL_MUTUAL)
      SetParameters(common);
    EnforceCompliance(traits_.settings->compliance, common);
  }

 private:
  using Certificates = google::protobuf::RepeatedPtrField<Settings::TLSCertificate>;

  void SetAlpn(tls::CommonTlsContext* out) const {
    if (quic_) return out->add_alpn_protocols("h3");
    // Inside plain TCP, metadata is exchanged on connections whose ends both offer this.
    if (tls_.exchanges_metadata && settings_.mode() == Settings::ISTIO_MUTUAL &&
        traits_.settings->features.metadata_alpn)
      out->add_alpn_protocols("istio-peer-exchange");
    out->add_alpn_protocols("h2");
    out->add_alpn_protocols("http/1.1");
  }

  // A file by the agent's name for it; none: the workload's own certificate or roots.
  void SetFile(const std::string& file_name, std::string_view otherwise, tls::SdsSecretConfig* out) const {
    if (file_name.empty()) return proto::SetAgentSecret(otherwise, out);
    if (traits_.server_files.from_file_sds)
      return proto::SetClusterSecret(file_name, "sds-files-grpc", "", out);
    proto::SetAgentSecret(file_name, out);
  }

  void SetFiles(const Files& files, const Certificates& several, bool validate,
                tls::CommonTlsContext* out) const {
    for (const Settings::TLSCertificate& one : several) {
      SetFile(CertificateName(one.server_certificate(), one.private_key()), "default",
              out->add_tls_certificate_sds_secret_configs());
    }
    if (several.empty()) {
      SetFile(CertificateName(files.certificate, files.key), "default",
              out->add_tls_certificate_sds_secret_configs());
    }
    if (!validate) return;
    auto* both = out->mutable_combined_validation_context();
    auto* clients = both->mutable_default_validation_context();
    SetNames(settings_.subject_alt_names(), clients);
    if (!settings_.ca_crl().empty()) clients->mutable_crl()->set_filename(settings_.ca_crl());
    SetInsecure(clients);
    SetFile(files.root.empty() ? "" : StrCat("file-root:", files.root), "ROOTCA",
            both->mutable_validation_context_sds_secret_config());
  }

  void SetInsecure(tls::CertificateValidationContext* out) const {
    if (settings_.insecure_skip_verify().value())
      out->set_trust_chain_verification(tls::CertificateValidationContext::ACCEPT_UNTRUSTED);
  }

  void SetCredentials(tls::CommonTlsContext* out) const {
    std::string roots = StrCat(settings_.credential_name(), kRootSuffix);
    for (const std::string& name : settings_.credential_names())
      SetCredential(name, out->add_tls_certificate_sds_secret_configs());
    if (settings_.credential_names().empty()) {
      SetCredential(settings_.credential_name(), out->add_tls_certificate_sds_secret_configs());
    } else {
      roots = StrCat(settings_.credential_names(0), kRootSuffix);
    }
    if (!settings_.ca_cert_credential_name().empty()) roots = settings_.ca_cert_credential_name();
    if (settings_.mode() == Settings::MUTUAL || settings_.mode() == Settings::OPTIONAL_MUTUAL) {
      auto* both = out->mutable_combined_validation_context();
      auto* clients = both->mutable_default_validation_context();
      SetNames(settings_.subject_alt_names(), clients);
      *clients->mutable_verify_certificate_spki() = settings_.verify_certificate_spki();
      *clients->mutable_verify_certificate_hash() = settings_.verify_certificate_hash();
      SetInsecure(clients);
      SetCredential(roots, both->mutable_validation_context_sds_secret_config());
    } else if (!settings_.subject_alt_names().empty()) {
      SetNames(settings_.subject_alt_names(), out->mutable_validation_context());
    }
  }

  void SetCredential(std::string_view name, tls::SdsSecretConfig* out) const {
    constexpr std::string_view kExternal = "sds://";
    const SecretServer& server = tls_.secret_server;
    if (name.starts_with(kExternal) && !server.cluster.empty()) {
      return proto::SetClusterSecret(name.substr(kExternal.size()), server.cluster.str(), server.host.str(),
                                     out);
    }
    if (name.starts_with(kExternal) && server.missing) return;
    proto::SetCredentialSecret(name, tls_.credential_socket, out);
  }

  // The server's own before the mesh's defaults. The numbers of the versions are Envoy's.
  void SetParameters(tls::CommonTlsContext* out) const {
    const auto& defaults = traits_.settings->mesh->tls_defaults();
    const Names ciphers = CipherSuites();
    const Names& curves = settings_.ecdh_curves().empty() ? defaults.ecdh_curves() : settings_.ecdh_curves();
    tls::TlsParameters params;
    *params.mutable_ecdh_curves() = curves;
    *params.mutable_cipher_suites() = ciphers.empty() ? defaults.cipher_suites() : ciphers;
    if (settings_.min_protocol_version() != Settings::TLS_AUTO) {
      params.set_tls_minimum_protocol_version(VersionOf(settings_.min_protocol_version()));
    } else if (defaults.min_protocol_version() != MeshConfig::TLSConfig::TLS_AUTO) {
      params.set_tls_minimum_protocol_version(
          defaults.min_protocol_version() == MeshConfig::TLSConfig::TLSV1_3 ? tls::TlsParameters::TLSv1_3
                                                                            : tls::TlsParameters::TLSv1_2);
    }
    if (settings_.max_protocol_version() != Settings::TLS_AUTO)
      params.set_tls_maximum_protocol_version(VersionOf(settings_.max_protocol_version()));
    if (params.ByteSizeLong() > 0) *out->mutable_tls_params() = std::move(params);
  }

  static tls::TlsParameters::TlsProtocol VersionOf(Settings::TLSProtocol version) {
    return static_cast<tls::TlsParameters::TlsProtocol>(version);
  }

  // Those that Envoy knows, each once: it would refuse the listener.
  Names CipherSuites() const {
    Names known;
    std::set<std::string_view> seen;
    for (const std::string& suite : settings_.cipher_suites()) {
      if (IsCipherSuite(suite) && seen.insert(suite).second) known.Add()->assign(suite);
    }
    return known;
  }

  const ProxyTraits& traits_;
  const ServerTls& tls_;
  const Settings& settings_;
  const bool quic_;
};

}  // namespace

void SetServerTls(const ProxyTraits& traits, const ServerTls& server,
                  envoy::config::core::v3::TransportSocket* out) {
  tls::DownstreamTlsContext context;
  Builder(traits, server).Build(&context);
  if (!server.quic) {
    out->set_name("envoy.transport_sockets.tls");
    return proto::Pack(context, out->mutable_typed_config());
  }
  envoy::extensions::transport_sockets::quic::v3::QuicDownstreamTransport transport;
  *transport.mutable_downstream_tls_context() = std::move(context);
  out->set_name("envoy.transport_sockets.quic");
  proto::Pack(transport, out->mutable_typed_config());
}

}  // namespace fairlead::gen::listener
