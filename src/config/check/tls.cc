#include <set>

#include "base/cipher_suite.h"
#include "config/check/parts.h"

namespace fairlead::config::check {
namespace {

using Server = net::ServerTLSSettings;
using Client = net::ClientTLSSettings;

void CheckCiphers(const Server& tls, const Spot& at) {
  const Spot list(at, "cipherSuites");
  std::set<std::string_view> seen;
  for (int i = 0; i < tls.cipher_suites_size(); ++i) {
    const std::string& name = tls.cipher_suites(i);
    const Spot here(list, static_cast<size_t>(i));
    if (!IsCipherSuite(name)) {
      here.Warn("no-effect", StrCat("unknown cipher suite \"", name, "\" is passed over"));
    } else if (!seen.insert(name).second) {
      here.Warn("no-effect", StrCat("cipher suite \"", name, "\" is there twice"));
    }
  }
  const bool old =
      tls.min_protocol_version() == Server::TLSV1_0 || tls.min_protocol_version() == Server::TLSV1_1;
  if (old && tls.cipher_suites_size() == 0)
    at.Field("minProtocolVersion")
        .Warn("no-effect", "versions below TLSV1_2 want cipherSuites that go with them");
}

void CheckIstioMutual(const Server& tls, const Spot& at) {
  const auto refuse = [&](bool set, std::string_view name) {
    if (set) at.Field(name).Error("conflict", "ISTIO_MUTUAL uses the mesh's own certificates");
  };
  refuse(!tls.server_certificate().empty(), "serverCertificate");
  refuse(!tls.private_key().empty(), "privateKey");
  refuse(!tls.ca_certificates().empty(), "caCertificates");
  refuse(tls.tls_certificates_size() > 0, "tlsCertificates");
  refuse(!tls.credential_name().empty(), "credentialName");
  refuse(tls.credential_names_size() > 0, "credentialNames");
}

void CheckCertificate(const std::string& certificate, const std::string& key, const Spot& at) {
  if (certificate.empty())
    at.Field("serverCertificate").Error("missing-field", "TLS wants a server certificate");
  if (key.empty()) at.Field("privateKey").Error("missing-field", "TLS wants a private key");
}

void CheckTerminating(const Server& tls, const Spot& at) {
  if (tls.mode() != Server::SIMPLE && tls.ca_certificates().empty())
    at.Field("caCertificates").Error("missing-field", "mutual TLS wants the clients' CA certificates");
  const Spot certificates(at, "tlsCertificates");
  if (tls.tls_certificates_size() > 2) certificates.Warn("no-effect", "two server certificates count");
  if (tls.tls_certificates_size() == 0) CheckCertificate(tls.server_certificate(), tls.private_key(), at);
  for (int i = 0; i < tls.tls_certificates_size(); ++i) {
    const auto& one = tls.tls_certificates(i);
    CheckCertificate(one.server_certificate(), one.private_key(), Spot(certificates, static_cast<size_t>(i)));
  }
}

void CheckConfigMapName(std::string_view name, std::string_view ns, const Spot& at) {
  const std::vector<std::string_view> parts =
      Split(name.substr(std::string_view("configmap://").size()), '/');
  if (parts.size() < 2 || parts[0].empty() || parts[1].empty())
    return at.Refuse(StrCat("\"", name, "\" is not configmap://namespace/name"));
  if (ns.empty() || parts[0] != ns) at.Refuse("the config map is in the object's own namespace");
}

}  // namespace

void CheckServerTls(const Server& tls, const Spot& at) {
  CheckCiphers(tls, at);
  if (tls.mode() == Server::ISTIO_MUTUAL) return CheckIstioMutual(tls, at);
  const bool credential = !tls.credential_name().empty() || tls.credential_names_size() > 0;
  if ((tls.mode() == Server::PASSTHROUGH || tls.mode() == Server::AUTO_PASSTHROUGH) &&
      (credential || !tls.ca_crl().empty() || !tls.server_certificate().empty() ||
       !tls.private_key().empty() || !tls.ca_certificates().empty() || tls.tls_certificates_size() > 0)) {
    at.Warn("no-effect", "certificates have no meaning where TLS passes through");
  }
  const int sources = (!tls.server_certificate().empty() && !tls.private_key().empty()) +
                      !tls.credential_name().empty() + (tls.credential_names_size() > 0) +
                      (tls.tls_certificates_size() > 0);
  if (sources > 1)
    at.Error("conflict",
             "only one of credentialName, credentialNames, serverCertificate and tlsCertificates may be set");
  const bool terminating =
      tls.mode() == Server::SIMPLE || tls.mode() == Server::MUTUAL || tls.mode() == Server::OPTIONAL_MUTUAL;
  if (terminating && credential) return;
  if (terminating) CheckTerminating(tls, at);
  if (tls.ca_crl().empty()) return;
  if (!tls.credential_name().empty())
    at.Field("caCrl").Error("conflict", "the list is part of the credential");
  if (tls.mode() == Server::SIMPLE) at.Field("caCrl").Error("conflict", "SIMPLE TLS has no revocation list");
}

void CheckClientTls(const Client& tls, std::string_view ns, const Spot& at) {
  const std::string& name = tls.credential_name();
  if (name.starts_with("configmap://")) CheckConfigMapName(name, ns, Spot(at, "credentialName"));
  const bool simple = tls.mode() == Client::SIMPLE, mutual = tls.mode() == Client::MUTUAL;
  if (tls.insecure_skip_verify().value() && (simple || mutual) &&
      (!tls.ca_certificates().empty() || tls.subject_alt_names_size() > 0 || (simple && !name.empty()))) {
    at.Field("insecureSkipVerify").Error("conflict", "there is something to verify the server with");
  }
  if ((simple || mutual) && !name.empty()) {
    if (!tls.client_certificate().empty() || !tls.ca_certificates().empty() || !tls.private_key().empty() ||
        !tls.ca_crl().empty()) {
      at.Field("credentialName").Error("conflict", "certificates go not with credentialName");
    }
    return;
  }
  if (!mutual) return;
  if (tls.client_certificate().empty())
    at.Field("clientCertificate").Error("missing-field", "mutual TLS wants a client certificate");
  if (tls.private_key().empty())
    at.Field("privateKey").Error("missing-field", "mutual TLS wants a private key");
}

}  // namespace fairlead::config::check
