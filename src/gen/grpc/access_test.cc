#include <gmock/gmock.h>
#include <google/protobuf/any.pb.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "base/strings.h"
#include "envoy/config/rbac/v3/rbac.pb.h"
#include "gen/grpc/authorization.h"
#include "gen/route/expect_message.h"
#include "istio/security/v1beta1/authorization_policy.pb.h"
#include "mesh/mesh_fixture.h"

namespace fairlead::gen::grpc {
namespace {

namespace pb = envoy::config::rbac::v3;
using istio::security::v1beta1::AuthorizationPolicy;
using istio::security::v1beta1::Rule;
using route::ExpectMessage;
using route::FromText;
using testing::ElementsAre;
using testing::IsEmpty;

pb::Policy PolicyOf(std::string_view rule, AccessAction action = AccessAction::kAllow) {
  return BuildAccessPolicy(FromText<Rule>(rule), "shop", action).value_or(pb::Policy());
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

class AuthorizationTest : public mesh::MeshFixture {
 protected:
  void Put(std::string_view ns, std::string_view name, const std::string& text, LabelMap annotations = {}) {
    MeshFixture::Put(config::Kind::kAuthorizationPolicy, ns, name, FromText<AuthorizationPolicy>(text), 0,
                     std::move(annotations));
  }
  Authorization Collect() {
    AddPod("shop", "web-1", "10.1.0.1", {{"app", "web"}});
    const mesh::SnapshotPtr snapshot = Build();
    return CollectAuthorization(*snapshot,
                                *mesh::ComputeProxyScope(*snapshot, MakeProxy("shop", "web-1", "10.1.0.1")));
  }
  static std::vector<std::string> NamesOf(const std::vector<config::ConfigPtr>& policies) {
    std::vector<std::string> names;
    for (const auto& policy : policies) names.push_back(policy->name().str());
    return names;
  }
};

TEST_F(AuthorizationTest, PoliciesOfTheMeshAndTheNamespaceHoldWhereTheySelect) {
  settings_.root_namespace = "root";
  SetSettings();
  Put("root", "all", "action: DENY");
  Put("shop", "web", "selector { match_labels { key: 'app' value: 'web' } }");
  Put("shop", "other", "selector { match_labels { key: 'app' value: 'other' } }");
  Put("elsewhere", "far", "action: DENY");
  Put("shop", "gateway", "targetRef { kind: 'Gateway' name: 'g' }");
  Put("shop", "audit", "action: AUDIT");
  Put("shop", "custom", "action: CUSTOM");
  Put("shop", "trial", "action: DENY", {{"istio.io/dry-run", "true"}});
  const Authorization found = Collect();
  EXPECT_THAT(NamesOf(found.deny), ElementsAre("all"));
  EXPECT_THAT(NamesOf(found.allow), ElementsAre("web"));
}

TEST_F(AuthorizationTest, PoliciesOfTheRootNamespaceCountOnceThere) {
  settings_.root_namespace = "shop";
  SetSettings();
  Put("shop", "all", "action: DENY");
  EXPECT_THAT(NamesOf(Collect().deny), ElementsAre("all"));
}

TEST_F(AuthorizationTest, RulesAreNamedAfterTheirPolicies) {
  Put("shop", "p", "action: DENY rules {} rules { when { key: 'no.such' values: 'x' } } rules {}");
  pb::RBAC access;
  BuildAccess(AccessAction::kDeny, Collect().deny, &access);
  EXPECT_EQ(access.action(), pb::RBAC::DENY);
  std::vector<std::string> names;
  for (const auto& [name, policy] : access.policies()) names.push_back(name);
  EXPECT_THAT(names, testing::UnorderedElementsAre("shop-p-0", "shop-p-2"));
}

TEST_F(AuthorizationTest, AnEmptyPolicyAllowsNothing) {
  Put("shop", "nothing", "");
  const Authorization found = Collect();
  EXPECT_THAT(NamesOf(found.allow), ElementsAre("nothing"));
  pb::RBAC access;
  BuildAccess(AccessAction::kAllow, found.allow, &access);
  EXPECT_EQ(access.action(), pb::RBAC::ALLOW);
  EXPECT_THAT(access.policies(), IsEmpty());
}

}  // namespace
}  // namespace fairlead::gen::grpc
