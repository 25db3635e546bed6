#include "gen/security/authentication.h"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>

#include "base/strings.h"
#include "envoy/extensions/filters/http/jwt_authn/v3/config.pb.h"
#include "envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager.pb.h"
#include "gen/hosts/provider_service.h"
#include "gen/naming/cluster_name.h"
#include "gen/security/unknown_keys.h"
#include "istio/security/v1beta1/request_authentication.pb.h"
#include "mesh/view/view.h"
#include "proto/messages.h"

namespace fairlead::gen::security {
namespace {

namespace pb = envoy::extensions::filters::http::jwt_authn::v3;
using HttpFilter = envoy::extensions::filters::network::http_connection_manager::v3::HttpFilter;
using istio::security::v1beta1::JWTRule;
using istio::security::v1beta1::RequestAuthentication;

// Of proxies that fetch keys.
constexpr int64_t kFetchTimeoutSeconds = 5;
constexpr int64_t kKeysLastSeconds = int64_t{5} * 60;

// Claims that are lists by convention, written with spaces between (RFC 8693, OAuth).
constexpr std::string_view kListClaims[] = {"permission", "scope"};

// A rule and what it is verified with.
struct RuleWithKeys {
  const JWTRule* rule;
  const std::string* keys;     // null where the proxy fetches them
  const std::string* cluster;  // of their server; else null
};

const RequestAuthentication& SpecOf(const config::ConfigPtr& policy) {
  return policy->Spec<RequestAuthentication>();
}

// Where proxies may fetch keys a URI counts before keys that the rule brings.
bool LacksKeys(const JWTRule& rule, bool by_proxies) {
  return rule.jwks().empty() || (by_proxies && !rule.jwks_uri().empty());
}

// The cluster of the rule's key server; "" where keys are fetched here, or the rule has its own. One that the
// mesh does not know is named, too, where proxies fetch all keys: until it is known no token is good.
std::string ClusterOfKeys(mesh::View& view, const JWTRule& rule, model::KeyFetch fetch) {
  if (rule.jwks_uri().empty()) return "";
  const model::KeyServer server = model::KeyServerOf(rule.jwks_uri()).value_or(model::KeyServer{});
  const Interned known = server.host.empty() ? Interned() : FindProviderHost(view, server.host);
  if (known.empty() && fetch == model::KeyFetch::kHybrid) return "";
  return OutboundClusterName(server.port, "", known.empty() ? server.host : known.str());
}

std::vector<RuleWithKeys> RulesByIssuer(const Authentication& authentication) {
  std::vector<RuleWithKeys> rules;
  auto fetched = authentication.keys.begin();
  auto cluster = authentication.clusters.begin();
  const bool by_proxies = !authentication.clusters.empty();
  for (const config::ConfigPtr& policy : authentication.policies) {
    for (const JWTRule& rule : SpecOf(policy).jwt_rules()) {
      if (by_proxies && !(cluster++)->empty()) {
        rules.push_back({&rule, nullptr, &cluster[-1]});
        continue;
      }
      const std::string* keys = &rule.jwks();
      if (LacksKeys(rule, by_proxies)) {
        keys = *fetched == nullptr ? &UnknownKeys() : fetched->get();
        ++fetched;
      }
      rules.push_back({&rule, keys, nullptr});
    }
  }
  std::stable_sort(rules.begin(), rules.end(), [](const RuleWithKeys& a, const RuleWithKeys& b) {
    return a.rule->issuer() < b.rule->issuer();
  });
  return rules;
}

void SetKeyServer(const JWTRule& rule, const std::string& cluster, pb::RemoteJwks* out) {
  out->mutable_http_uri()->set_uri(rule.jwks_uri());
  out->mutable_http_uri()->set_cluster(cluster);
  if (rule.has_timeout()) {
    *out->mutable_http_uri()->mutable_timeout() = rule.timeout();
  } else {
    proto::SetSeconds(kFetchTimeoutSeconds, out->mutable_http_uri()->mutable_timeout());
  }
  proto::SetSeconds(kKeysLastSeconds, out->mutable_cache_duration());
}

void SetProvider(const RuleWithKeys& from, bool router, pb::JwtProvider* out) {
  const JWTRule& rule = *from.rule;
  out->set_issuer(rule.issuer());
  *out->mutable_audiences() = rule.audiences();
  if (from.cluster == nullptr) {
    out->mutable_local_jwks()->set_inline_string(*from.keys);
  } else {
    SetKeyServer(rule, *from.cluster, out->mutable_remote_jwks());
  }
  out->set_forward(rule.forward_original_token());
  out->set_forward_payload_header(rule.output_payload_to_header());
  for (const auto& header : rule.from_headers()) {
    auto* location = out->add_from_headers();
    location->set_name(header.name());
    location->set_value_prefix(header.prefix());
  }
  *out->mutable_from_params() = rule.from_params();
  *out->mutable_from_cookies() = rule.from_cookies();
  for (const auto& output : rule.output_claim_to_headers()) {
    auto* header = out->add_claim_to_headers();
    header->set_header_name(output.header());
    header->set_claim_name(output.claim());
  }
  out->set_payload_in_metadata("payload");
  std::set<std::string> lists(rule.space_delimited_claims().begin(), rule.space_delimited_claims().end());
  lists.insert(std::begin(kListClaims), std::end(kListClaims));
  for (const std::string& claim : lists) {
    out->mutable_normalize_payload_in_metadata()->add_space_delimited_claims(claim);
  }
  out->set_clear_route_cache(router);
}

// A token of the provider, or none.
void SetOptional(const std::string& provider, pb::JwtRequirement* out) {
  out->mutable_requires_any()->add_requirements()->set_provider_name(provider);
  out->mutable_requires_any()->add_requirements()->mutable_allow_missing();
}

// Each provider finds its own kind of token or none. Of providers that look in one place only one can be
// satisfied: then that is enough.
void SetRequirement(const std::vector<std::string>& providers, pb::JwtRequirement* out) {
  if (providers.size() == 1) return SetOptional(providers.front(), out);
  for (const std::string& provider : providers) {
    out->mutable_requires_any()->add_requirements()->set_provider_name(provider);
  }
  pb::JwtRequirementAndList* all = out->mutable_requires_any()->add_requirements()->mutable_requires_all();
  for (const std::string& provider : providers) SetOptional(provider, all->add_requirements());
}

}  // namespace

Authentication CollectAuthentication(mesh::View& view) {
  Authentication out;
  out.policies = view.Policies(config::Kind::kRequestAuthentication);
  if (out.policies.empty()) return out;
  // Of rules for one issuer those of the own namespace come before the root's, as istiod has them.
  std::stable_partition(out.policies.begin(), out.policies.end(), [&](const config::ConfigPtr& policy) {
    return policy->ns() == view.client_namespace();
  });
  const model::KeyFetch fetch = view.settings(model::SettingsPart::kAuthorization)->features.key_fetch;
  const bool by_proxies = fetch != model::KeyFetch::kHere;
  for (const config::ConfigPtr& policy : out.policies) {
    for (const JWTRule& rule : SpecOf(policy).jwt_rules()) {
      if (by_proxies) out.clusters.push_back(ClusterOfKeys(view, rule, fetch));
      if (by_proxies && !out.clusters.back().empty()) continue;
      if (LacksKeys(rule, by_proxies))
        out.keys.push_back(view.KeySet(model::KeySourceOf(rule.jwks_uri(), rule.issuer())));
    }
  }
  out.router = view.proxy_class().type != model::ProxyType::kSidecar;
  return out;
}

std::optional<HttpFilter> BuildTokenFilter(const Authentication& authentication) {
  const std::vector<RuleWithKeys> rules = RulesByIssuer(authentication);
  if (rules.empty()) return std::nullopt;
  pb::JwtAuthentication config;
  std::vector<std::string> names;
  names.reserve(rules.size());
  for (const RuleWithKeys& rule : rules) {
    names.push_back(StrCat("origins-", names.size()));
    SetProvider(rule, authentication.router, &(*config.mutable_providers())[names.back()]);
  }
  pb::RequirementRule* everywhere = config.add_rules();
  everywhere->mutable_match()->set_prefix("/");
  SetRequirement(names, everywhere->mutable_requires_());
  config.set_bypass_cors_preflight(true);
  HttpFilter filter;
  filter.set_name("envoy.filters.http.jwt_authn");
  proto::Pack(config, filter.mutable_typed_config());
  return filter;
}

}  // namespace fairlead::gen::security
