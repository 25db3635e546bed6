#include "agent/bootstrap/secret_configs.h"

#include <utility>

#include "agent/bootstrap/json_parts.h"
#include "base/ip_address.h"
#include "base/json.h"
#include "base/strings.h"

namespace fairlead::agent {
namespace {

using nlohmann::json;

json TlsSocket(json context) {
  return {{"name", "envoy.transport_sockets.tls"}, {"typed_config", std::move(context)}};
}

std::string FirstOf(const json& metadata, const char* key, const std::string& otherwise) {
  const std::string told = JsonString(metadata, key);
  return told.empty() ? otherwise : told;
}

json Validation(const json& settings, const std::string& roots, bool wait_for_ever) {
  json names = json::array();
  for (const std::string& name : TextsOf(MemberAt(settings, {"subjectAltNames"})))
    names.push_back({{"exact", name}});
  json plain = json::object();
  if (!names.empty()) plain["match_subject_alt_names"] = std::move(names);
  json combined = {{"default_validation_context", std::move(plain)}};
  if (!roots.empty()) combined["validation_context_sds_secret_config"] = AgentSecret(roots, wait_for_ever);
  return combined;
}

}  // namespace

json AgentSecret(std::string_view name, bool wait_for_ever) {
  json config = {{"resource_api_version", "V3"},
                 {"api_config_source",
                  {{"api_type", "GRPC"},
                   {"transport_api_version", "V3"},
                   {"set_node_on_first_message_only", true},
                   {"grpc_services", json::array({{{"envoy_grpc", {{"cluster_name", "sds-grpc"}}}}})}}}};
  if (wait_for_ever) config["initial_fetch_timeout"] = "0s";
  return {{"name", name}, {"sds_config", std::move(config)}};
}

json RemoteTls(const Options& options, const json& settings, std::string_view server_name, bool http2) {
  const std::string mode = JsonString(settings, "mode");
  const bool own = mode == "MUTUAL", mesh = mode == "ISTIO_MUTUAL";
  if (!own && !mesh && mode != "SIMPLE") return {};
  json common = json::object();
  json certificates = json::array();
  const json& metadata = options.metadata;
  std::string roots = FirstOf(metadata, "TLS_CLIENT_ROOT_CERT", JsonString(settings, "caCertificates"));
  if (own) {
    const std::string chain = FirstOf(metadata, "TLS_CLIENT_CERT_CHAIN",
                                      JsonString(settings, "clientCertificate")),
                      key = FirstOf(metadata, "TLS_CLIENT_KEY", JsonString(settings, "privateKey"));
    if (!chain.empty() && !key.empty())
      certificates.push_back(AgentSecret(StrCat("file-cert:", chain, "~", key), false));
  }
  if (mesh) certificates.push_back(AgentSecret("default", true));
  if (!certificates.empty()) common["tls_certificate_sds_secret_configs"] = std::move(certificates);
  if (!roots.empty()) roots = StrCat("file-root:", roots);
  common["combined_validation_context"] = Validation(settings, mesh ? "ROOTCA" : roots, mesh);
  if (http2) common["alpn_protocols"] = mesh ? json::array({"istio", "h2"}) : json::array({"h2"});
  json context = {{"@type", TypeUrl("envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext")},
                  {"common_tls_context", std::move(common)}};
  std::string sni = JsonString(settings, "sni");
  if (mesh && sni.empty()) sni = server_name;
  if (!sni.empty()) context["sni"] = sni;
  return TlsSocket(std::move(context));
}

json DiscoveryTls(const Options& options, const std::string& host) {
  const std::string name = options.server_name.empty() ? host : options.server_name;
  const json san = {{"san_type", IsIpAddress(name) ? "IP_ADDRESS" : "DNS"}, {"matcher", {{"exact", name}}}};
  json context = {
      {"@type", TypeUrl("envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext")},
      {"common_tls_context",
       {{"alpn_protocols", json::array({"h2"})},
        {"tls_params",
         {{"tls_minimum_protocol_version", "TLSv1_2"}, {"tls_maximum_protocol_version", "TLSv1_3"}}},
        {"tls_certificate_sds_secret_configs", json::array({AgentSecret("default", true)})},
        {"combined_validation_context",
         {{"default_validation_context", {{"match_typed_subject_alt_names", json::array({san})}}},
          {"validation_context_sds_secret_config", AgentSecret("ROOTCA", true)}}}}}};
  if (!IsIpAddress(name)) context["sni"] = name;
  return TlsSocket(std::move(context));
}

json MutualTls() {
  return TlsSocket({{"@type", TypeUrl("envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext")},
                    {"require_client_certificate", true},
                    {"common_tls_context",
                     {{"tls_certificate_sds_secret_configs", json::array({AgentSecret("default", false)})},
                      {"combined_validation_context",
                       {{"default_validation_context", json::object()},
                        {"validation_context_sds_secret_config", AgentSecret("ROOTCA", false)}}}}}});
}

}  // namespace fairlead::agent
