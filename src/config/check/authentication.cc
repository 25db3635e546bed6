#include "base/go_url.h"
#include "base/json.h"
#include "config/check/kinds.h"
#include "config/check/parts.h"
#include "istio/networking/v1beta1/proxy_config.pb.h"
#include "istio/security/v1beta1/peer_authentication.pb.h"
#include "istio/security/v1beta1/request_authentication.pb.h"

namespace fairlead::config::check {
namespace {

using istio::security::v1beta1::JWTRule;
using istio::security::v1beta1::PeerAuthentication;
using istio::security::v1beta1::RequestAuthentication;
using nlohmann::json;

bool HasText(const json& key, const char* name) {
  const auto it = key.find(name);
  return it != key.end() && it->is_string() && !it->get_ref<const std::string&>().empty();
}

std::string KeyProblem(const json& key) {
  if (!key.is_object() || !HasText(key, "kty")) return "a key has a type, kty";
  const std::string type = key["kty"].get<std::string>();
  const auto want = [&](std::initializer_list<const char*> names) -> std::string {
    for (const char* name : names) {
      if (!HasText(key, name)) return StrCat("a key of type ", type, " has ", name);
    }
    return "";
  };
  if (type == "RSA") return want({"n", "e"});
  if (type == "EC") return want({"crv", "x", "y"});
  if (type == "OKP") return want({"crv", "x"});
  if (type == "oct") return want({"k"});
  return StrCat("unknown type of a key, \"", type, "\"");
}

bool IsPrivate(const json& key) { return key["kty"] == "oct" || HasText(key, "d"); }

// https://www.rfc-editor.org/rfc/rfc7517: a set of keys, or one key alone.
void CheckJwks(const std::string& text, const Spot& at) {
  const json document = ParseJson(text).value_or(json());
  if (!document.is_object()) return at.Refuse("a set of keys is a JSON object");
  const auto keys = document.find("keys");
  const json list = keys == document.end() ? json::array({document}) : *keys;
  if (!list.is_array()) return at.Refuse("keys is a list");
  for (const json& key : list) {
    if (std::string why = KeyProblem(key); !why.empty()) return at.Refuse(std::move(why));
  }
  for (const json& key : list) {
    if (IsPrivate(key)) at.Warn("private-key", "a private key is in the set; public keys are enough");
  }
}

void CheckJwksUri(const std::string& text, const Spot& at) {
  const std::optional<GoUrl> url = ParseUrl(text);
  if (!url) return at.Refuse(StrCat("\"", text, "\" is no URL"));
  if (url->scheme != "http" && url->scheme != "https") return at.Refuse("the URL's scheme is http or https");
  const size_t colon = url->host.rfind(':');
  if (colon == std::string::npos || url->host.ends_with(']')) return;
  int64_t port = 0;
  const std::string digits = url->host.substr(colon + 1);
  if (!digits.empty() && !ParseGoInteger(digits, &port)) at.Refuse("the URL's port is no number");
}

void CheckStrictHeader(const std::string& name, const Spot& at) {
  for (char c : name) {
    if (!isalnum(static_cast<unsigned char>(c)) && c != '-' && c != '_')
      return at.Refuse(StrCat("\"", name, "\" is no header's name"));
  }
}

void CheckLocations(const JWTRule& rule, const Spot& at) {
  const Spot headers(at, "fromHeaders"), outputs(at, "outputClaimToHeaders");
  for (int i = 0; i < rule.from_headers_size(); ++i) {
    const Spot here(headers, static_cast<size_t>(i));
    if (rule.from_headers(i).name().empty())
      here.Field("name").Error("missing-field", "this field is required");
  }
  const auto refuse_empty = [&](const auto& names, std::string_view field) {
    for (const std::string& name : names) {
      if (name.empty()) at.Field(field).Error("missing-field", "an entry may not be empty");
    }
  };
  refuse_empty(rule.audiences(), "audiences");
  refuse_empty(rule.from_params(), "fromParams");
  refuse_empty(rule.from_cookies(), "fromCookies");
  for (int i = 0; i < rule.output_claim_to_headers_size(); ++i) {
    const auto& output = rule.output_claim_to_headers(i);
    const Spot here(outputs, static_cast<size_t>(i));
    if (output.claim().empty() || output.header().empty()) {
      here.Error("missing-field", "both header and claim are required");
    } else {
      CheckStrictHeader(output.header(), Spot(here, "header"));
    }
  }
}

}  // namespace

void CheckRequestAuthentication(const google::protobuf::Message& message, const Spot& spec) {
  const auto& authentication = static_cast<const RequestAuthentication&>(message);
  CheckTargets(authentication, spec);
  const Spot rules(spec, "jwtRules");
  for (int i = 0; i < authentication.jwt_rules_size(); ++i) {
    const JWTRule& rule = authentication.jwt_rules(i);
    const Spot here(rules, static_cast<size_t>(i));
    if (rule.issuer().empty() && rule.jwks_uri().empty())
      here.Error("missing-field", "at least one of issuer and jwksUri is required");
    if (!rule.jwks_uri().empty()) CheckJwksUri(rule.jwks_uri(), Spot(here, "jwksUri"));
    if (!rule.jwks().empty()) CheckJwks(rule.jwks(), Spot(here, "jwks"));
    CheckLocations(rule, here);
    if (rule.has_timeout()) CheckDuration(rule.timeout(), Spot(here, "timeout"));
  }
}

void CheckPeerAuthentication(const google::protobuf::Message& message, const Spot& spec) {
  const auto& authentication = static_cast<const PeerAuthentication&>(message);
  const Spot ports(spec, "portLevelMtls"), selector(spec, "selector");
  if (authentication.selector().match_labels().empty() && !authentication.port_level_mtls().empty())
    ports.Error("conflict", "settings of ports want a selector");
  if (authentication.port_level_mtls().empty() && ports.Written().IsMapping())
    ports.Error("missing-field", "at least one port is required");
  for (const auto& [port, mtls] : authentication.port_level_mtls())
    ports.Field(StrCat(port)).Refuse(PortProblem(port));
  if (authentication.has_selector())
    CheckSelectedLabels(authentication.selector().match_labels(), Spot(selector, "matchLabels"));
}

void CheckProxyConfig(const google::protobuf::Message& message, const Spot& spec) {
  const auto& config = static_cast<const istio::networking::v1beta1::ProxyConfig&>(message);
  const Spot selector(spec, "selector");
  if (config.has_selector())
    CheckSelectedLabels(config.selector().match_labels(), Spot(selector, "matchLabels"));
  CheckNotNegative(config.concurrency().value(), Spot(spec, "concurrency"));
}

}  // namespace fairlead::config::check
