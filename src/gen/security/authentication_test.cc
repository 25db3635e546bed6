#include "gen/security/authentication.h"

#include <gmock/gmock.h>

#include "envoy/extensions/filters/http/jwt_authn/v3/config.pb.h"
#include "envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager.pb.h"
#include "gen/security/access.h"
#include "gen/security/unknown_keys.h"
#include "istio/security/v1beta1/authorization_policy.pb.h"
#include "istio/security/v1beta1/request_authentication.pb.h"
#include "mesh/mesh_fixture.h"
#include "mesh/view/view.h"

namespace fairlead::gen::security {
namespace {

using config::Kind;
using envoy::extensions::filters::http::jwt_authn::v3::JwtAuthentication;
using envoy::extensions::filters::http::jwt_authn::v3::JwtProvider;
using istio::security::v1beta1::RequestAuthentication;
using testing::ElementsAre;
using testing::IsEmpty;

class AuthenticationTest : public mesh::MeshFixture {
 protected:
  void SetUp() override { AddPod("shop", "web", "10.0.0.1", {{"app", "web"}}); }

  void PutRules(std::string_view ns, std::string_view name, const std::string& text, int age = 0) {
    Put(Kind::kRequestAuthentication, ns, name, mesh::Parse<RequestAuthentication>(text), age);
  }
  void SetKeys(const model::KeySets& keys) {
    builder_.SetKeySets(std::make_shared<const model::KeySets>(keys));
  }

  // Of the pod's proxy.
  template <typename Collect>
  auto Collected(const Collect& collect, model::ProxyType type = model::ProxyType::kSidecar) {
    const mesh::SnapshotPtr snapshot = Build();
    auto proxy = std::make_shared<model::Proxy>(*MakeProxy("shop", "web", "10.0.0.1"));
    proxy->type = type;
    proxy->proxy_class = model::ClassOf(*proxy);
    const mesh::ProxyScopePtr scope = mesh::ComputeProxyScope(*snapshot, proxy);
    mesh::View view({*snapshot, scope.get()});
    auto collected = collect(view);
    reads_ = view.Take();
    return collected;
  }
  std::optional<JwtAuthentication> Filter(model::ProxyType type = model::ProxyType::kSidecar) {
    const auto filter = BuildTokenFilter(Collected(CollectAuthentication, type));
    if (!filter) return std::nullopt;
    EXPECT_EQ(filter->name(), "envoy.filters.http.jwt_authn");
    JwtAuthentication config;
    EXPECT_TRUE(filter->typed_config().UnpackTo(&config));
    return config;
  }
  std::string KeysOf(const std::string& provider) {
    return Filter()->providers().at(provider).local_jwks().inline_string();
  }

  mesh::ReadsPtr reads_;
};

TEST_F(AuthenticationTest, WithoutRulesThereIsNoFilter) {
  EXPECT_TRUE(Collected(CollectAccess).empty());
  PutRules("shop", "none", "");
  EXPECT_EQ(Filter(), std::nullopt);
}

TEST_F(AuthenticationTest, EveryFieldOfARule) {
  PutRules("shop", "one", R"(jwt_rules {
      issuer: "me" jwks: "{keys}" audiences: "a" audiences: "b" forward_original_token: true
      from_headers { name: "x-token" prefix: "T " } from_params: "t" from_cookies: "c"
      output_payload_to_header: "x-payload" output_claim_to_headers { header: "x-sub" claim: "sub" }
      space_delimited_claims: "roles" space_delimited_claims: "scope" })");
  const JwtProvider provider = Filter()->providers().at("origins-0");
  EXPECT_EQ(provider.issuer(), "me");
  EXPECT_EQ(provider.local_jwks().inline_string(), "{keys}");
  EXPECT_THAT(provider.audiences(), ElementsAre("a", "b"));
  EXPECT_TRUE(provider.forward());
  EXPECT_EQ(provider.from_headers(0).name(), "x-token");
  EXPECT_EQ(provider.from_headers(0).value_prefix(), "T ");
  EXPECT_THAT(provider.from_params(), ElementsAre("t"));
  EXPECT_THAT(provider.from_cookies(), ElementsAre("c"));
  EXPECT_EQ(provider.forward_payload_header(), "x-payload");
  EXPECT_EQ(provider.claim_to_headers(0).header_name(), "x-sub");
  EXPECT_EQ(provider.claim_to_headers(0).claim_name(), "sub");
  EXPECT_EQ(provider.payload_in_metadata(), "payload");
  EXPECT_THAT(provider.normalize_payload_in_metadata().space_delimited_claims(),
              ElementsAre("permission", "roles", "scope"));
  EXPECT_FALSE(provider.clear_route_cache());
}

TEST_F(AuthenticationTest, OneIssuersTokenMayBeMissing) {
  PutRules("shop", "one", "jwt_rules { issuer: 'me' jwks: 'k' }");
  const JwtAuthentication filter = *Filter();
  ASSERT_EQ(filter.rules_size(), 1);
  EXPECT_EQ(filter.rules(0).match().prefix(), "/");
  const auto& either = filter.rules(0).requires_().requires_any();
  ASSERT_EQ(either.requirements_size(), 2);
  EXPECT_EQ(either.requirements(0).provider_name(), "origins-0");
  EXPECT_TRUE(either.requirements(1).has_allow_missing());
  EXPECT_TRUE(filter.bypass_cors_preflight());
}

TEST_F(AuthenticationTest, OfSeveralIssuersOneOrEachWhoseTokenIsThere) {
  PutRules("shop", "b", "jwt_rules { issuer: 'b' jwks: 'kb' }", 5);
  PutRules("istio-system", "all",
           "jwt_rules { issuer: 'c' jwks: 'kc' } jwt_rules { issuer: 'a' jwks: 'ka' }");
  PutRules("shop", "others",
           "selector { match_labels { key: 'app' value: 'db' } } jwt_rules { issuer: 'd' }");
  const JwtAuthentication filter = *Filter();
  EXPECT_EQ(filter.providers_size(), 3);
  EXPECT_EQ(filter.providers().at("origins-0").issuer(), "a") << "in the order of issuers";
  EXPECT_EQ(filter.providers().at("origins-1").issuer(), "b");
  EXPECT_EQ(filter.providers().at("origins-2").local_jwks().inline_string(), "kc");
  const auto& either = filter.rules(0).requires_().requires_any();
  ASSERT_EQ(either.requirements_size(), 4);
  EXPECT_EQ(either.requirements(2).provider_name(), "origins-2");
  const auto& all = either.requirements(3).requires_all();
  ASSERT_EQ(all.requirements_size(), 3);
  EXPECT_EQ(all.requirements(1).requires_any().requirements(0).provider_name(), "origins-1");
  EXPECT_TRUE(all.requirements(1).requires_any().requirements(1).has_allow_missing());
}

TEST_F(AuthenticationTest, OfRulesForOneIssuerTheOwnNamespacesComeFirst) {
  PutRules("istio-system", "all", "jwt_rules { issuer: 'a' jwks: 'root' }");
  PutRules("shop", "own", "jwt_rules { issuer: 'a' jwks: 'own' }");
  const JwtAuthentication filter = *Filter();
  EXPECT_EQ(filter.providers().at("origins-0").local_jwks().inline_string(), "own");
  EXPECT_EQ(filter.providers().at("origins-1").local_jwks().inline_string(), "root");
}

TEST_F(AuthenticationTest, WhileKeysAreNotKnownNoTokenIsGood) {
  PutRules("shop", "one", "jwt_rules { issuer: 'me' jwks_uri: 'https://keys.example.com' }");
  EXPECT_EQ(KeysOf("origins-0"), UnknownKeys());
  EXPECT_THAT(UnknownKeys(), testing::StartsWith("{\n  \"keys\": [\n"));
}

TEST_F(AuthenticationTest, KeysAreThoseOfTheUriOrOfTheIssuer) {
  PutRules("shop", "some", R"(jwt_rules { issuer: "inline" jwks: "own" jwks_uri: "https://keys" }
                              jwt_rules { issuer: "by-uri" jwks_uri: "https://keys" }
                              jwt_rules { issuer: "by-discovery" })");
  SetKeys({{{"https://keys", {}}, std::make_shared<const std::string>("of uri")},
           {{{}, "by-discovery"}, std::make_shared<const std::string>("of issuer")},
           {{{}, "by-uri"}, std::make_shared<const std::string>("wrong")}});
  EXPECT_EQ(KeysOf("origins-0"), "of issuer");
  EXPECT_EQ(KeysOf("origins-1"), "of uri");
  EXPECT_EQ(KeysOf("origins-2"), "own");
}

TEST_F(AuthenticationTest, ProxiesMayFetchKeys) {
  AddService("shop", "keys", {8080});
  PutRules("shop", "some", R"(
      jwt_rules { issuer: "a" jwks_uri: "http://keys.shop.svc.cluster.local:8080/k" timeout { seconds: 2 } }
      jwt_rules { issuer: "b" jwks_uri: "https://[2001:db8::1]/keys" }
      jwt_rules { issuer: "c" jwks: "own" }
      jwt_rules { issuer: "d" })");
  SetKeys({{{{}, "d"}, std::make_shared<const std::string>("of issuer")},
           {{"https://[2001:db8::1]/keys", {}}, std::make_shared<const std::string>("of uri")}});
  settings_.features.key_fetch = model::KeyFetch::kHybrid;
  SetSettings();
  const auto remote = Filter()->providers().at("origins-0").remote_jwks();
  EXPECT_EQ(remote.http_uri().uri(), "http://keys.shop.svc.cluster.local:8080/k");
  EXPECT_EQ(remote.http_uri().cluster(), "outbound|8080||keys.shop.svc.cluster.local");
  EXPECT_EQ(remote.http_uri().timeout().seconds(), 2);
  EXPECT_EQ(remote.cache_duration().seconds(), 300);
  EXPECT_EQ(KeysOf("origins-1"), "of uri");
  EXPECT_EQ(KeysOf("origins-2"), "own");
  EXPECT_EQ(KeysOf("origins-3"), "of issuer");
  settings_.features.key_fetch = model::KeyFetch::kProxies;
  SetSettings();
  EXPECT_EQ(Filter()->providers().at("origins-1").remote_jwks().http_uri().cluster(),
            "outbound|443||2001:db8::1");
  EXPECT_EQ(KeysOf("origins-3"), "of issuer");
}

TEST_F(AuthenticationTest, OtherKeysConcernThoseAlone) {
  PutRules("shop", "one", "jwt_rules { issuer: 'me' jwks_uri: 'https://keys' }");
  const auto keys = std::make_shared<const std::string>("k");
  SetKeys({{{"https://keys", {}}, keys}});
  Collected(CollectAuthentication);
  SetKeys({{{"https://keys", {}}, keys}, {{"https://others", {}}, std::make_shared<const std::string>("o")}});
  const auto proxy = MakeProxy("shop", "web", "10.0.0.1");
  mesh::SnapshotPtr next = Build();
  mesh::ProxyScopePtr scope = mesh::ComputeProxyScope(*next, proxy);
  EXPECT_TRUE(reads_->Hold({*next, scope.get()}));
  SetKeys({{{"https://keys", {}}, std::make_shared<const std::string>("k2")}});
  next = Build();
  scope = mesh::ComputeProxyScope(*next, proxy);
  EXPECT_FALSE(reads_->Hold({*next, scope.get()}));
}

TEST_F(AuthenticationTest, AtRoutersClaimsMayChooseAnotherRoute) {
  PutRules("shop", "one", "jwt_rules { issuer: 'me' jwks: 'k' }");
  EXPECT_TRUE(Filter(model::ProxyType::kRouter)->providers().at("origins-0").clear_route_cache());
}

TEST_F(AuthenticationTest, AccessFindsTheServicesOfAuthorizers) {
  AddExternal("shop", "authz.example.com", {9000});
  auto* provider = NewMeshConfig().add_extension_providers();
  provider->set_name("ask");
  provider->mutable_envoy_ext_authz_grpc()->set_service("shop/authz.example.com");
  SetSettings();
  using istio::security::v1beta1::AuthorizationPolicy;
  Put(Kind::kAuthorizationPolicy, "shop", "p", mesh::Parse<AuthorizationPolicy>("action: ALLOW"));
  EXPECT_THAT(Collected(CollectAccess).authorization.services, IsEmpty()) << "nobody is asked";
  Put(Kind::kAuthorizationPolicy, "shop", "p",
      mesh::Parse<AuthorizationPolicy>("action: CUSTOM provider { name: 'ask' }"));
  const Access access = Collected(CollectAccess);
  ASSERT_EQ(access.authorization.services.size(), 1u);
  EXPECT_EQ(access.authorization.services[0].hostname, "authz.example.com");
}

}  // namespace
}  // namespace fairlead::gen::security
