#include "push/stream/authorizer.h"

#include <gtest/gtest.h>

namespace fairlead::push {
namespace {

model::Proxy Workload(std::string ns, std::string account) {
  model::Proxy proxy;
  proxy.ns = std::move(ns);
  proxy.metadata.service_account = std::move(account);
  return proxy;
}

TEST(SpiffeIds, AreReadStrictly) {
  EXPECT_EQ(model::ParseSpiffeId("spiffe://td/ns/shop/sa/web"), (model::PeerIdentity{"td", "shop", "web"}));
  for (const char* text :
       {"", "td/ns/shop/sa/web", "spiffe://td/ns/shop/sa", "spiffe://td/ns/shop/sa/web/x",
        "spiffe://td/ns//sa/web", "spiffe://td/sa/shop/ns/web", "https://td/ns/shop/sa/web"}) {
    EXPECT_FALSE(model::ParseSpiffeId(text)) << text;
  }
}

TEST(NodeAuthorizers, WantAVerifiedPeerToBeTheProxy) {
  const NodeAuthorizer authorizer(/*believe_plaintext=*/true);
  const StreamPeer web{"", {"spiffe://td/ns/other/sa/x", "spiffe://td/ns/shop/sa/web"}};
  const auto identity = authorizer.Authorize(web, Workload("shop", "web"));
  ASSERT_TRUE(identity.ok());
  EXPECT_EQ((*identity)->service_account, "web");
  EXPECT_TRUE(authorizer.Authorize(web, Workload("shop", "")).ok());
  EXPECT_TRUE(absl::IsPermissionDenied(authorizer.Authorize(web, Workload("shop", "admin")).status()));
  EXPECT_TRUE(absl::IsPermissionDenied(authorizer.Authorize(web, Workload("bank", "")).status()));
  EXPECT_TRUE(
      absl::IsPermissionDenied(authorizer.Authorize({"", {"garbage"}}, Workload("shop", "web")).status()));
}

TEST(NodeAuthorizers, BelievePlaintextPeersOnlyWhereTold) {
  const auto nobody = NodeAuthorizer(false).Authorize({}, Workload("shop", "web"));
  ASSERT_TRUE(nobody.ok());
  EXPECT_FALSE(*nobody);
  const auto believed = NodeAuthorizer(true).Authorize({}, Workload("shop", "web"));
  ASSERT_TRUE(believed.ok());
  EXPECT_EQ(**believed, (model::PeerIdentity{"", "shop", "web"}));
}

}  // namespace
}  // namespace fairlead::push
