#include "gen/security/access_rule.h"

#include <gmock/gmock.h>
#include <google/protobuf/any.pb.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "base/strings.h"
#include "envoy/config/rbac/v3/rbac.pb.h"
#include "gen/route/expect_message.h"
#include "istio/security/v1beta1/authorization_policy.pb.h"

namespace fairlead::gen::security {
namespace {

namespace pb = envoy::config::rbac::v3;
using istio::security::v1beta1::Rule;
using route::ExpectMessage;
using route::FromText;

pb::Policy PolicyOf(std::string_view rule, AccessAction action = AccessAction::kAllow) {
  return BuildAccessPolicy(FromText<Rule>(rule), "shop", {.action = action}).value_or(pb::Policy());
}
pb::Principal SourceOf(const std::string& source) {
  const pb::Policy policy = PolicyOf(StrCat("from { source { ", source, " } }"));
  return policy.principals_size() == 1 ? policy.principals(0) : pb::Principal();
}
pb::Permission OperationOf(const std::string& operation) {
  const pb::Policy policy = PolicyOf(StrCat("to { operation { ", operation, " } }"));
  return policy.permissions_size() == 1 ? policy.permissions(0) : pb::Permission();
}
// The principal of one identity pattern.
std::string Identity(std::string_view name) {
  return StrCat("and_ids { ids { or_ids { ids { authenticated { principal_name { ", name, " } } } } } }");
}

TEST(AccessPolicy, ARuleWithoutPartsIsForAll) {
  ExpectMessage(PolicyOf(""), R"pb(
    permissions { and_rules { rules { any: true } } }
    principals { and_ids { ids { any: true } } })pb");
}

TEST(AccessPolicy, SourcesAndOperationsAreAlternatives) {
  const pb::Policy policy = PolicyOf(
      "from { source { principals: 'a' } } from { source { principals: 'b' } } "
      "to { operation { methods: 'GET' } } to { operation { ports: '80' } }");
  EXPECT_EQ(policy.principals_size(), 2);
  EXPECT_EQ(policy.permissions_size(), 2);
}

TEST(AccessPolicy, PrincipalsAreIdentitiesWithWildcards) {
  ExpectMessage(SourceOf("principals: 'cluster.local/ns/a/sa/b'"),
                Identity("exact: 'spiffe://cluster.local/ns/a/sa/b'"));
  ExpectMessage(SourceOf("principals: '*'"), Identity("safe_regex { regex: '.+' }"));
  ExpectMessage(SourceOf("principals: 'td/ns/a/*'"), Identity("prefix: 'spiffe://td/ns/a/'"));
  ExpectMessage(SourceOf("principals: '*/sa/b.c'"),
                Identity("safe_regex { regex: 'spiffe://.*/sa/b\\\\.c' }"));
}

TEST(AccessPolicy, PartsOfIdentities) {
  ExpectMessage(SourceOf("namespaces: 'a*'"), Identity("safe_regex { regex: '.*/ns/a.*/.*' }"));
  ExpectMessage(SourceOf("service_accounts: 'web'"),
                Identity("safe_regex { regex: 'spiffe://.+/ns/shop/(.+/|)sa/web(/.+)?' }"));
  ExpectMessage(SourceOf("service_accounts: 'other/web'"),
                Identity("safe_regex { regex: 'spiffe://.+/ns/other/(.+/|)sa/web(/.+)?' }"));
  ExpectMessage(SourceOf("trust_domains: 'td'"), Identity("prefix: 'spiffe://td/'"));
  ExpectMessage(SourceOf("trust_domains: '*'"), Identity("prefix: 'spiffe://'"));
  ExpectMessage(SourceOf("trust_domains: '*.b'"),
                Identity("safe_regex { regex: 'spiffe://[^/]*\\\\.b/.*' }"));
}

TEST(AccessPolicy, AddressesAndExceptions) {
  ExpectMessage(
      SourceOf("ip_blocks: '10.0.0.0/8' not_ip_blocks: '10.1.2.3' remote_ip_blocks: '2001:db8::/32'"), R"pb(
        and_ids {
          ids {
            or_ids {
              ids {
                remote_ip {
                  address_prefix: "2001:db8::"
                  prefix_len { value: 32 }
                }
              }
            }
          }
          ids {
            or_ids {
              ids {
                direct_remote_ip {
                  address_prefix: "10.0.0.0"
                  prefix_len { value: 8 }
                }
              }
            }
          }
          ids {
            not_id {
              or_ids {
                ids {
                  direct_remote_ip {
                    address_prefix: "10.1.2.3"
                    prefix_len { value: 32 }
                  }
                }
              }
            }
          }
        })pb");
}

TEST(AccessPolicy, Operations) {
  ExpectMessage(
      OperationOf("hosts: '*.example.com' methods: 'POST' paths: '/a/*' paths: '/b/{*}/{**}' ports: '80'"),
      R"pb(
        and_rules {
          rules {
            or_rules {
              rules {
                header {
                  name: ":authority"
                  string_match { suffix: ".example.com" ignore_case: true }
                }
              }
            }
          }
          rules {
            or_rules {
              rules {
                header {
                  name: ":method"
                  string_match { exact: "POST" }
                }
              }
            }
          }
          rules {
            or_rules {
              rules { url_path { path { prefix: "/a/" } } }
              rules {
                uri_template {
                  name: "uri-template"
                  typed_config {
                    type_url: "type.googleapis.com/envoy.extensions.path.match.uri_template.v3.UriTemplateMatchConfig"
                    value: "\n\x07/b/*/**"
                  }
                }
              }
            }
          }
          rules { or_rules { rules { destination_port: 80 } } }
        })pb");
}

TEST(AccessPolicy, ConditionsJoinEverySourceAndOperation) {
  const pb::Policy policy = PolicyOf(R"pb(
    from { source { namespaces: "a" } }
    when { key: "request.headers[x-user]" values: "*" }
    when { key: "destination.port" not_values: "80" }
    when { key: "connection.sni" values: "*.example.com" })pb");
  ASSERT_EQ(policy.principals_size(), 1);
  ExpectMessage(policy.principals(0).and_ids().ids(1),
                "or_ids { ids { header { name: 'x-user' present_match: true } } }");
  ExpectMessage(policy.permissions(0), R"pb(
    and_rules {
      rules { not_rule { or_rules { rules { destination_port: 80 } } } }
      rules { or_rules { rules { requested_server_name { suffix: ".example.com" } } } }
    })pb");
}

TEST(AccessPolicy, ClaimsAreInTheMetadataOfTokens) {
  const pb::Policy policy = PolicyOf("when { key: 'request.auth.claims[a][b]' values: 'x' }");
  ASSERT_EQ(policy.principals_size(), 1);
  ExpectMessage(policy.principals(0), R"pb(
    and_ids {
      ids {
        metadata {
          filter: "envoy.filters.http.jwt_authn"
          path { key: "payload" }
          path { key: "a" }
          path { key: "b" }
          value {
            or_match {
              value_matchers { list_match { one_of { string_match { exact: "x" } } } }
              value_matchers { string_match { exact: "x" } }
            }
          }
        }
      }
    })pb");
}

// The issuer and the subject that a request principal stands for.
std::string RequestPrincipal(const std::string& value) {
  const pb::Principal principal = SourceOf(StrCat("request_principals: '", value, "'"));
  std::string out;
  for (const auto& part : principal.and_ids().ids(0).and_ids().ids()) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    StrAppend(&out, part.metadata().value().string_match().ShortDebugString(), "|");
#pragma GCC diagnostic pop
  }
  return out;
}

TEST(AccessPolicy, RequestPrincipalsAreIssuerAndSubject) {
  EXPECT_EQ(RequestPrincipal("https://i/x/sub"), "exact: \"https://i/x\"|exact: \"sub\"|");
  EXPECT_EQ(RequestPrincipal("*"), "safe_regex { regex: \".+\" }|safe_regex { regex: \".+\" }|");
  EXPECT_EQ(RequestPrincipal("issuer/*"), "exact: \"issuer\"|safe_regex { regex: \".+\" }|");
  EXPECT_EQ(RequestPrincipal("issuer/a*"), "exact: \"issuer\"|prefix: \"a\"|");
  EXPECT_EQ(RequestPrincipal("*.com/sub"), "suffix: \".com\"|exact: \"sub\"|");
  EXPECT_EQ(RequestPrincipal("*sub"), "safe_regex { regex: \".+\" }|suffix: \"sub\"|");
  EXPECT_EQ(RequestPrincipal("iss*"), "prefix: \"iss\"|safe_regex { regex: \".+\" }|");
}

TEST(AccessPolicy, MalformedValuesLetFewerRequestsPass) {
  const std::string rule = "to { operation { ports: 'http' methods: 'GET' } }";
  EXPECT_EQ(PolicyOf(rule).permissions_size(), 0) << "an allowing rule is none";
  ExpectMessage(PolicyOf(rule, AccessAction::kDeny).permissions(0),
                "and_rules { rules { or_rules { rules { header { name: ':method' string_match { exact: 'GET' "
                "} } } } } }");
  EXPECT_EQ(PolicyOf("when { key: 'no.such' values: 'x' }", AccessAction::kDeny).principals_size(), 0);
  EXPECT_EQ(PolicyOf("when { key: 'source.ipx' values: '10.0.0.1' }").principals_size(), 0);
}

// What a connection's chain makes of a rule.
std::optional<pb::Policy> TcpPolicyOf(std::string_view rule, AccessAction action) {
  return BuildAccessPolicy(FromText<Rule>(rule), "shop", {.action = action, .tcp = true});
}

TEST(AccessPolicy, OnConnectionsWhatRequestsHaveLetsFewerPass) {
  for (const char* rule :
       {"to { operation { methods: 'GET' } }", "to { operation { hosts: 'a' } }",
        "to { operation { paths: '/' } }", "to { operation { not_paths: '/' } }",
        "from { source { request_principals: '*' } }", "when { key: 'request.headers[x]' values: 'y' }",
        "when { key: 'request.auth.claims[a]' values: 'x' }",
        "when { key: 'request.auth.audiences' not_values: 'x' }",
        "when { key: 'request.auth.presenter' values: 'x' }",
        "when { key: 'request.auth.principal' values: 'x' }"}) {
    EXPECT_FALSE(TcpPolicyOf(rule, AccessAction::kAllow).has_value()) << rule;
    for (const AccessAction action : {AccessAction::kDeny, AccessAction::kAudit}) {
      const auto policy = TcpPolicyOf(rule, action);
      ASSERT_TRUE(policy.has_value()) << rule;
      ExpectMessage(*policy,
                    "permissions { and_rules { rules { any: true } } } "
                    "principals { and_ids { ids { any: true } } }");
    }
  }
}

TEST(AccessPolicy, OnConnectionsTheRestOfARuleCounts) {
  const auto policy = TcpPolicyOf(
      "from { source { namespaces: 'a' } } to { operation { ports: '80' } } "
      "when { key: 'connection.sni' values: 'x' }",
      AccessAction::kAllow);
  ASSERT_TRUE(policy.has_value());
  EXPECT_EQ(policy->permissions(0).and_rules().rules_size(), 2);
  EXPECT_EQ(policy->principals(0).and_ids().ids_size(), 1);
}

TEST(AccessPolicy, IdentitiesAreMeantInAllTrustDomains) {
  const std::vector<std::string> domains = {"td", "old"};
  const auto policy = BuildAccessPolicy(
      FromText<Rule>("from { source { principals: 'td/ns/a/sa/b' not_trust_domains: 'old' } } "
                     "when { key: 'source.principal' not_values: 'cluster.local/ns/a/sa/c' }"),
      "shop", {.trust_domains = domains});
  ASSERT_TRUE(policy.has_value());
  const auto& all = policy->principals(0).and_ids();
  EXPECT_EQ(all.ids(0).or_ids().ids(0).authenticated().principal_name().exact(), "spiffe://td/ns/a/sa/b");
  EXPECT_EQ(all.ids(0).or_ids().ids(1).authenticated().principal_name().exact(), "spiffe://old/ns/a/sa/b");
  EXPECT_EQ(all.ids(1).not_id().or_ids().ids_size(), 2);
  EXPECT_EQ(all.ids(2).not_id().or_ids().ids_size(), 2);
}

TEST(AccessPolicy, ThePeerMayBeInFilterState) {
  const auto policy = BuildAccessPolicy(FromText<Rule>("from { source { principals: 'td/ns/a/sa/b' } }"),
                                        "shop", {.peer_in_filter_state = true});
  ASSERT_TRUE(policy.has_value());
  ExpectMessage(policy->principals(0).and_ids().ids(0).or_ids().ids(0),
                "filter_state { key: 'io.istio.peer_principal' "
                "string_match { exact: 'spiffe://td/ns/a/sa/b' } }");
}

}  // namespace
}  // namespace fairlead::gen::security
