#include "mesh/index/policy_index.h"

#include <gmock/gmock.h>

#include "istio/security/v1beta1/authorization_policy.pb.h"
#include "istio/telemetry/v1alpha1/telemetry.pb.h"
#include "mesh/mesh_fixture.h"

namespace fairlead::mesh {
namespace {

using config::Kind;
using istio::security::v1beta1::AuthorizationPolicy;

class PolicyIndexTest : public MeshFixture {
 protected:
  void PutAuthorization(std::string_view ns, std::string_view name, const std::string& text = "") {
    Put(Kind::kAuthorizationPolicy, ns, name, Parse<AuthorizationPolicy>(text));
  }
  std::shared_ptr<const PolicyIndex> Policies() { return Build()->policies; }
};

TEST_F(PolicyIndexTest, APartStaysWhileItsNamespacesPoliciesOfTheKindAreTheSame) {
  PutAuthorization("shop", "p");
  PutAuthorization("other", "p");
  Put(Kind::kTelemetry, "shop", "t", Parse<istio::telemetry::v1alpha1::Telemetry>(""));
  const auto before = Policies();
  PutAuthorization("shop", "q");
  const auto after = Policies();
  EXPECT_NE(after, before);
  EXPECT_NE(after->Part(Kind::kAuthorizationPolicy, "shop"),
            before->Part(Kind::kAuthorizationPolicy, "shop"));
  EXPECT_EQ(after->Part(Kind::kAuthorizationPolicy, "other"),
            before->Part(Kind::kAuthorizationPolicy, "other"));
  EXPECT_EQ(after->Part(Kind::kTelemetry, "shop"), before->Part(Kind::kTelemetry, "shop"));
  Remove(Kind::kAuthorizationPolicy, "other", "p");
  EXPECT_EQ(Policies()->Part(Kind::kAuthorizationPolicy, "other"), nullptr);
}

TEST_F(PolicyIndexTest, WhatIsNoPolicyLeavesTheIndexAsItIs) {
  PutAuthorization("shop", "p");
  const auto before = Policies();
  AddService("shop", "web", {80});
  PutDestinationRule("shop", "web", "host: 'web'");
  NewMeshConfig().set_proxy_listen_port(15002);
  SetSettings();
  EXPECT_EQ(Policies(), before);
  settings_.root_namespace = "shop";
  SetSettings();
  const auto after = Policies();
  EXPECT_NE(after, before);
  EXPECT_EQ(after->Part(Kind::kAuthorizationPolicy, "shop"),
            before->Part(Kind::kAuthorizationPolicy, "shop"));
}

TEST_F(PolicyIndexTest, PartsOfASubjectAreThoseOfItsNamespaces) {
  for (const char* ns : {"istio-system", "shop", "infra"}) PutAuthorization(ns, "p");
  const auto policies = Policies();
  const auto part = [&](std::string_view ns) { return policies->Part(Kind::kAuthorizationPolicy, ns); };
  const LabelMap labels;
  const auto web = AddService("shop", "web", {80});
  const PolicyParts own = policies->PartsFor(Kind::kAuthorizationPolicy, {"shop", labels});
  EXPECT_EQ(own.root, part("istio-system"));
  EXPECT_EQ(own.own, part("shop"));
  EXPECT_EQ(own.of_service, nullptr);
  const PolicyParts root = policies->PartsFor(Kind::kAuthorizationPolicy, {"istio-system", labels});
  EXPECT_TRUE(root.in_root);
  EXPECT_EQ(root.own, nullptr);
  const PolicyParts waypoint =
      policies->PartsFor(Kind::kAuthorizationPolicy, {"infra", labels, true, web.get()});
  EXPECT_EQ(waypoint.own, part("infra"));
  EXPECT_EQ(waypoint.of_service, part("shop"));
}

}  // namespace
}  // namespace fairlead::mesh
