#include "gen/security/access_filters.h"

#include <gmock/gmock.h>

#include "envoy/config/listener/v3/listener_components.pb.h"
#include "envoy/config/rbac/v3/rbac.pb.h"
#include "envoy/extensions/filters/http/ext_authz/v3/ext_authz.pb.h"
#include "envoy/extensions/filters/http/rbac/v3/rbac.pb.h"
#include "envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager.pb.h"
#include "envoy/extensions/filters/network/rbac/v3/rbac.pb.h"
#include "gen/route/expect_message.h"
#include "istio/mesh/v1alpha1/config.pb.h"
#include "istio/security/v1beta1/authorization_policy.pb.h"

namespace fairlead::gen::security {
namespace {

using istio::mesh::v1alpha1::MeshConfig;
using istio::security::v1beta1::AuthorizationPolicy;
using route::ExpectMessage;
using route::FromText;
using testing::ElementsAre;
using testing::IsEmpty;
using HttpRbac = envoy::extensions::filters::http::rbac::v3::RBAC;
using TcpRbac = envoy::extensions::filters::network::rbac::v3::RBAC;
using ExtAuthz = envoy::extensions::filters::http::ext_authz::v3::ExtAuthz;

constexpr AccessChain kCustom{.custom = true};
constexpr AccessChain kLocal;

class AccessFiltersTest : public ::testing::Test {
 protected:
  void Put(const std::string& name, const std::string& text, LabelMap annotations = {}) {
    config::ObjectMeta meta;
    meta.name = name;
    meta.ns = "shop";
    meta.annotations = std::move(annotations);
    policies_.push_back(std::make_shared<config::ConfigObject>(
        config::Kind::kAuthorizationPolicy, std::move(meta), config::Origin{},
        std::make_shared<const AuthorizationPolicy>(FromText<AuthorizationPolicy>(text)), 0));
  }
  Authorization Collect() {
    model::Settings settings;
    settings.mesh = std::make_shared<const MeshConfig>(mesh_);
    return CollectAuthorization(policies_, settings, [](std::string_view service) {
      return service == "authz.example.com" ? Interned(service) : Interned();
    });
  }
  template <typename Filters>
  static std::vector<std::string> NamesOf(const Filters& filters) {
    std::vector<std::string> names;
    names.reserve(filters.size());
    for (const auto& filter : filters) names.push_back(filter.name());
    return names;
  }
  template <typename Config, typename Filter>
  static Config ConfigOf(const Filter& filter) {
    Config config;
    EXPECT_TRUE(filter.typed_config().UnpackTo(&config));
    return config;
  }
  HttpRbac OnlyHttp(const AccessChain& chain = kLocal) {
    const auto filters = BuildHttpAccess(Collect(), chain);
    EXPECT_THAT(NamesOf(filters), ElementsAre("envoy.filters.http.rbac"));
    return filters.size() == 1 ? ConfigOf<HttpRbac>(filters[0]) : HttpRbac();
  }
  void AddProvider(const std::string& text) {
    *mesh_.add_extension_providers() = FromText<MeshConfig::ExtensionProvider>(text);
  }

  MeshConfig mesh_;
  std::vector<config::ConfigPtr> policies_;
};

TEST_F(AccessFiltersTest, WithoutPoliciesThereIsNoFilter) {
  EXPECT_THAT(BuildHttpAccess(Collect(), kLocal), IsEmpty());
  EXPECT_THAT(BuildNetworkAccess(Collect(), kCustom), IsEmpty());
}

TEST_F(AccessFiltersTest, AuditThenDenyThenAllow) {
  Put("a", "rules {}");
  Put("d", "action: DENY rules {}");
  Put("l", "action: AUDIT rules {}");
  const auto filters = BuildHttpAccess(Collect(), kLocal);
  ASSERT_EQ(filters.size(), 3u);
  using RBAC = envoy::config::rbac::v3::RBAC;
  EXPECT_EQ(ConfigOf<HttpRbac>(filters[0]).rules().action(), RBAC::LOG);
  EXPECT_EQ(ConfigOf<HttpRbac>(filters[1]).rules().action(), RBAC::DENY);
  EXPECT_EQ(ConfigOf<HttpRbac>(filters[2]).rules().action(), RBAC::ALLOW);
  EXPECT_THAT(BuildHttpAccess(Collect(), kCustom), IsEmpty());
}

TEST_F(AccessFiltersTest, APolicyWithoutRulesMatchesNothing) {
  Put("none", "");
  const HttpRbac rbac = OnlyHttp();
  ExpectMessage(rbac.rules().policies().at("ns[shop]-policy[none]-rule[0]"),
                "permissions { not_rule { any: true } } principals { not_id { any: true } }");
}

// What a trial leads to, by the annotation of a DENY policy.
TEST_F(AccessFiltersTest, ADryRunIsAShadow) {
  for (const auto& [value, trial] : std::map<std::string, bool>{
           {"true", true}, {"T", true}, {"1", true}, {"yes", false}, {"false", false}, {"", false}}) {
    policies_.clear();
    Put("d", "action: DENY rules {}", {{"istio.io/dry-run", value}});
    const HttpRbac rbac = OnlyHttp();
    EXPECT_EQ(rbac.has_shadow_rules(), trial) << value;
    EXPECT_EQ(rbac.has_rules(), !trial) << value;
    EXPECT_EQ(rbac.shadow_rules_stat_prefix(), trial ? "istio_dry_run_deny_" : "istio_dry_run_allow_");
  }
}

TEST_F(AccessFiltersTest, OnConnectionsAnAllowingRuleOfRequestsAllowsNothing) {
  Put("a", "rules { to { operation { methods: 'GET' } } }");
  const auto filters = BuildNetworkAccess(Collect(), kLocal);
  ASSERT_THAT(NamesOf(filters), ElementsAre("envoy.filters.network.rbac"));
  const auto rbac = ConfigOf<TcpRbac>(filters[0]);
  EXPECT_TRUE(rbac.has_rules());
  EXPECT_EQ(rbac.rules().policies_size(), 0);
  EXPECT_EQ(rbac.stat_prefix(), "tcp.");
  AccessChain chain;
  chain.tcp_rules = true;
  EXPECT_EQ(OnlyHttp(chain).rules().policies_size(), 0);
}

constexpr char kGrpc[] = "envoy_ext_authz_grpc { service: 'authz.example.com' port: 9000 }";
constexpr char kHttp[] = "envoy_ext_authz_http { service: 'authz.example.com' port: 8000 }";

TEST_F(AccessFiltersTest, ACustomPolicyAsksItsProvider) {
  AddProvider(std::string("name: 'p' ") + kGrpc);
  Put("c", "action: CUSTOM provider { name: 'p' } rules {}");
  const auto filters = BuildHttpAccess(Collect(), kCustom);
  ASSERT_THAT(NamesOf(filters), ElementsAre("envoy.filters.http.rbac", "envoy.filters.http.ext_authz"));
  const auto rbac = ConfigOf<HttpRbac>(filters[0]);
  EXPECT_FALSE(rbac.has_rules());
  EXPECT_TRUE(rbac.shadow_rules().policies().contains("istio-ext-authz-p-ns[shop]-policy[c]-rule[0]"));
  EXPECT_THAT(NamesOf(BuildNetworkAccess(Collect(), kCustom)),
              ElementsAre("envoy.filters.network.rbac", "envoy.filters.network.ext_authz"));
  EXPECT_THAT(BuildHttpAccess(Collect(), kLocal), IsEmpty());
}

TEST_F(AccessFiltersTest, AProviderThatSpeaksHttpIsNotAskedAboutConnections) {
  AddProvider(std::string("name: 'p' ") + kHttp);
  Put("c", "action: CUSTOM provider { name: 'p' } rules {}");
  EXPECT_EQ(BuildHttpAccess(Collect(), kCustom).size(), 2u);
  EXPECT_THAT(BuildNetworkAccess(Collect(), kCustom), IsEmpty());
}

TEST_F(AccessFiltersTest, WithTwoProvidersEverythingIsRefused) {
  AddProvider(std::string("name: 'p' ") + kGrpc);
  AddProvider(std::string("name: 'q' ") + kGrpc);
  Put("c", "action: CUSTOM provider { name: 'p' } rules {}");
  Put("d", "action: CUSTOM provider { name: 'q' } rules {}");
  EXPECT_THAT(NamesOf(BuildHttpAccess(Collect(), kCustom)),
              ElementsAre("envoy.filters.http.rbac", "envoy.filters.http.rbac"));
}

TEST_F(AccessFiltersTest, ABrokenProviderRefuses) {
  const std::string service = "service: 'authz.example.com' port: 1 ";
  const std::vector<std::string> broken = {
      "name: 'other' envoy_ext_authz_grpc { " + service + "}",
      "name: 'p' prometheus {}",
      "name: 'p' envoy_ext_authz_grpc { service: 'authz.example.com' }",
      "name: 'p' envoy_ext_authz_grpc { service: 'no.example.com' port: 1 }",
      "name: 'p' envoy_ext_authz_grpc { " + service + "status_on_error: 'bad' }",
      "name: 'p' envoy_ext_authz_grpc { " + service + "status_on_error: '999' }",
      "name: 'p' envoy_ext_authz_http { " + service + "path_prefix: 'no-slash' }",
      "name: 'p' envoy_ext_authz_http { " + service + "include_request_headers_in_check: '*' }",
      "name: 'p' envoy_ext_authz_http { " + service + "headers_to_upstream_on_allow: '*' }",
  };
  Put("c", "action: CUSTOM provider { name: 'p' } rules {}");
  for (const std::string& provider : broken) {
    mesh_.Clear();
    AddProvider(provider);
    const HttpRbac rbac = OnlyHttp(kCustom);
    EXPECT_TRUE(rbac.rules().policies().contains(
        "istio-ext-authz-p-ns[shop]-policy[c]-rule[0]-deny-due-to-bad-CUSTOM-action"))
        << provider;
  }
  mesh_.Clear();
  for (int i = 0; i < 2; ++i) AddProvider(std::string("name: 'p' ") + kGrpc);
  EXPECT_TRUE(OnlyHttp(kCustom).has_rules()) << "a name that occurs twice";
}

TEST_F(AccessFiltersTest, AnHttpProviderWithEveryField) {
  AddProvider(R"pb(
    name: 'p'
    envoy_ext_authz_http {
      service: 'authz.example.com'
      port: 8000
      timeout { seconds: 2 }
      path_prefix: '/check'
      fail_open: true
      status_on_error: '503'
      include_request_headers_in_check: 'x-*'
      include_additional_headers_in_check { key: 'b' value: '2' }
      include_additional_headers_in_check { key: 'a' value: '1' }
      headers_to_upstream_on_allow: '*-id'
      headers_to_downstream_on_deny: 'x'
      headers_to_downstream_on_allow: 'y'
      include_request_body_in_check { max_request_bytes: 7 allow_partial_message: true }
    })pb");
  Put("c", "action: CUSTOM provider { name: 'p' } rules {}");
  const auto filters = BuildHttpAccess(Collect(), kCustom);
  ASSERT_EQ(filters.size(), 2u);
  ExpectMessage(ConfigOf<ExtAuthz>(filters[1]), R"pb(
    http_service {
      server_uri {
        uri: "http://authz.example.com"
        cluster: "outbound|8000||authz.example.com"
        timeout { seconds: 2 }
      }
      path_prefix: "/check"
      authorization_request {
        headers_to_add { key: "a" value: "1" }
        headers_to_add { key: "b" value: "2" }
      }
      authorization_response {
        allowed_upstream_headers { patterns { suffix: "-id" ignore_case: true } }
        allowed_client_headers { patterns { exact: "x" ignore_case: true } }
        allowed_client_headers_on_success { patterns { exact: "y" ignore_case: true } }
      }
    }
    allowed_headers { patterns { prefix: "x-" ignore_case: true } }
    failure_mode_allow: true
    status_on_error { code: ServiceUnavailable }
    with_request_body { max_request_bytes: 7 allow_partial_message: true }
    transport_api_version: V3
    filter_enabled_metadata {
      filter: "envoy.filters.http.rbac"
      path { key: "istio_ext_authz_shadow_effective_policy_id" }
      value { string_match { prefix: "istio-ext-authz-p" } }
    })pb");
}

}  // namespace
}  // namespace fairlead::gen::security
