#include <gmock/gmock.h>

#include "mesh/mesh_fixture.h"

namespace fairlead::mesh {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using testing::SizeIs;

class PeerAuthenticationIndexTest : public MeshFixture {
 protected:
  PeerAuthentication For(std::string_view ns, const LabelMap& labels = {}) {
    return Build()->peer_authentications->ForWorkload(ns, labels);
  }
};

TEST_F(PeerAuthenticationIndexTest, IsPermissiveWithoutPolicy) {
  EXPECT_EQ(For("a"), PeerAuthentication());
  EXPECT_EQ(For("a").mode, MutualTlsMode::kPermissive);
  EXPECT_EQ(Build()->peer_authentications->ForNamespace("a"), MutualTlsMode::kUnset);
}

TEST_F(PeerAuthenticationIndexTest, NarrowerScopeWins) {
  PutPeerAuthentication("istio-system", "mesh", "mtls { mode: STRICT }");
  PutPeerAuthentication("a", "namespace", "mtls { mode: DISABLE }");
  PutPeerAuthentication("a", "workload",
                        R"(selector { match_labels { key: "app" value: "web" } } mtls { mode: PERMISSIVE })");
  EXPECT_EQ(For("b").mode, MutualTlsMode::kStrict);
  EXPECT_EQ(For("a").mode, MutualTlsMode::kDisable);
  EXPECT_EQ(For("a", {{"app", "web"}}).mode, MutualTlsMode::kPermissive);
  EXPECT_EQ(Build()->peer_authentications->ForNamespace("b"), MutualTlsMode::kStrict);
}

TEST_F(PeerAuthenticationIndexTest, UnsetModesInherit) {
  PutPeerAuthentication("istio-system", "mesh", "mtls { mode: STRICT }");
  PutPeerAuthentication("a", "namespace", "mtls { mode: UNSET }");
  PutPeerAuthentication("a", "workload", R"(
      selector { match_labels { key: "app" value: "web" } }
      port_level_mtls { key: 9090 value { mode: UNSET } }
      port_level_mtls { key: 8080 value { mode: DISABLE } })");
  const PeerAuthentication web = For("a", {{"app", "web"}});
  EXPECT_EQ(web.mode, MutualTlsMode::kStrict);
  EXPECT_THAT(web.ports,
              ElementsAre(Pair(8080, MutualTlsMode::kDisable), Pair(9090, MutualTlsMode::kStrict)));
  EXPECT_EQ(web.ForPort(8080), MutualTlsMode::kDisable);
  EXPECT_EQ(web.ForPort(1), MutualTlsMode::kStrict);
}

TEST_F(PeerAuthenticationIndexTest, UnsetMeshPolicyIsPermissive) {
  PutPeerAuthentication("istio-system", "mesh", "");
  EXPECT_EQ(Build()->peer_authentications->ForNamespace("a"), MutualTlsMode::kPermissive);
}

TEST_F(PeerAuthenticationIndexTest, OldestWinsAndTheOthersAreReported) {
  PutPeerAuthentication("a", "young", "mtls { mode: DISABLE }", 1);
  PutPeerAuthentication("a", "old", "mtls { mode: STRICT }", 2);
  EXPECT_EQ(For("a").mode, MutualTlsMode::kStrict);
  ASSERT_THAT(builder_.diagnostics(), SizeIs(1));
  EXPECT_EQ(builder_.diagnostics()[0].code, "duplicate-policy");
  EXPECT_EQ(builder_.diagnostics()[0].object->name, "young");
  Remove(config::Kind::kPeerAuthentication, "a", "old");
  EXPECT_EQ(For("a").mode, MutualTlsMode::kDisable);
  EXPECT_THAT(builder_.diagnostics(), IsEmpty());
}

TEST_F(PeerAuthenticationIndexTest, SelectorInTheRootNamespaceNeverApplies) {
  PutPeerAuthentication("istio-system", "selected",
                        R"(selector { match_labels { key: "app" value: "web" } } mtls { mode: STRICT })");
  EXPECT_EQ(For("a", {{"app", "web"}}).mode, MutualTlsMode::kPermissive);
  EXPECT_EQ(For("istio-system", {{"app", "web"}}).mode, MutualTlsMode::kPermissive);
}

TEST_F(PeerAuthenticationIndexTest, PartsOfNamespacesAnswerAsTheIndexDoes) {
  PutPeerAuthentication("istio-system", "mesh", "mtls { mode: STRICT }");
  PutPeerAuthentication("a", "workload",
                        R"(selector { match_labels { key: "app" value: "web" } } mtls { mode: DISABLE })");
  const auto index = Build()->peer_authentications;
  const auto web = mesh::ForWorkload(index->Mesh(), index->Namespace("a"), {{"app", "web"}});
  EXPECT_EQ(web.mode, MutualTlsMode::kDisable);
  EXPECT_EQ(mesh::ForWorkload(nullptr, index->Namespace("a"), {}).mode, MutualTlsMode::kPermissive);
  EXPECT_EQ(mesh::ForNamespace(index->Mesh(), index->Namespace("a")), MutualTlsMode::kStrict);
  EXPECT_EQ(mesh::ForNamespace(index->Mesh(), nullptr), MutualTlsMode::kStrict);
  EXPECT_EQ(mesh::ForNamespace(nullptr, nullptr), MutualTlsMode::kUnset);
  EXPECT_EQ(index->Namespace("istio-system"), index->Mesh());
  EXPECT_EQ(index->Namespace("b"), nullptr);
}

TEST_F(PeerAuthenticationIndexTest, PartsStayWhilePoliciesOfOtherNamespacesChange) {
  PutPeerAuthentication("istio-system", "mesh", "mtls { mode: STRICT }");
  PutPeerAuthentication("a", "p", "mtls { mode: DISABLE }");
  PutPeerAuthentication("b", "p", "mtls { mode: DISABLE }");
  const auto before = Build()->peer_authentications;
  PutPeerAuthentication("b", "p", "mtls { mode: STRICT }");
  const auto after = Build()->peer_authentications;
  EXPECT_EQ(after->Mesh(), before->Mesh());
  EXPECT_EQ(after->Namespace("a"), before->Namespace("a"));
  EXPECT_NE(after->Namespace("b"), before->Namespace("b"));
  Remove(config::Kind::kPeerAuthentication, "b", "p");
  EXPECT_EQ(Build()->peer_authentications->Namespace("b"), nullptr);
}

TEST_F(PeerAuthenticationIndexTest, WhatNeverAppliesChangesNothing) {
  PutPeerAuthentication("istio-system", "mesh", "mtls { mode: STRICT }");
  PutPeerAuthentication("a", "old", "mtls { mode: DISABLE }", 2);
  const auto before = Build()->peer_authentications;
  PutPeerAuthentication("istio-system", "selected",
                        R"(selector { match_labels { key: "app" value: "web" } } mtls { mode: STRICT })");
  PutPeerAuthentication("a", "young", "mtls { mode: STRICT }", 1);
  EXPECT_EQ(Build()->peer_authentications, before);
}

TEST_F(PeerAuthenticationIndexTest, AnotherRootNamespaceHasAnotherMeshPart) {
  PutPeerAuthentication("config", "mesh", "mtls { mode: STRICT }");
  EXPECT_EQ(For("a").mode, MutualTlsMode::kPermissive);
  settings_.root_namespace = "config";
  SetSettings();
  EXPECT_EQ(For("a").mode, MutualTlsMode::kStrict);
}

}  // namespace
}  // namespace fairlead::mesh
