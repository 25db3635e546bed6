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
using route::FromText;
using testing::ElementsAre;
using testing::IsEmpty;

class AuthorizationTest : public mesh::MeshFixture {
 protected:
  void Put(std::string_view ns, std::string_view name, const std::string& text, LabelMap annotations = {}) {
    MeshFixture::Put(config::Kind::kAuthorizationPolicy, ns, name, FromText<AuthorizationPolicy>(text), 0,
                     std::move(annotations));
  }
  ServerPolicies Collect() {
    AddPod("shop", "web-1", "10.1.0.1", {{"app", "web"}});
    const mesh::SnapshotPtr snapshot = Build();
    const auto scope = mesh::ComputeProxyScope(*snapshot, MakeProxy("shop", "web-1", "10.1.0.1"));
    mesh::View view({*snapshot, scope.get()});
    return CollectAuthorization(view);
  }
  static std::vector<std::string> NamesOf(const std::vector<config::ConfigPtr>& policies) {
    std::vector<std::string> names;
    names.reserve(policies.size());
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
  const ServerPolicies found = Collect();
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
  const ServerPolicies found = Collect();
  EXPECT_THAT(NamesOf(found.allow), ElementsAre("nothing"));
  pb::RBAC access;
  BuildAccess(AccessAction::kAllow, found.allow, &access);
  EXPECT_EQ(access.action(), pb::RBAC::ALLOW);
  EXPECT_THAT(access.policies(), IsEmpty());
}

}  // namespace
}  // namespace fairlead::gen::grpc
