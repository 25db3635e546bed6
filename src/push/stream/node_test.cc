#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "base/strings.h"
#include "envoy/config/core/v3/base.pb.h"
#include "push/push_fakes.h"
#include "push/stream/pusher.h"

// Clients whose nodes are not to be served, and what all that have proven nothing may take.
namespace fairlead::push {
namespace {

using envoy::config::core::v3::Node;
using envoy::service::discovery::v3::DiscoveryRequest;
using testing::HasSubstr;
using xds::TypeId;

constexpr char kId[] = "sidecar~10.0.0.1~a.default~c";

std::string RequestOf(const Node& node, TypeId type = TypeId::kCluster) {
  DiscoveryRequest request;
  *request.mutable_node() = node;
  request.set_type_url(std::string(xds::InfoOf(type).url));
  return request.SerializeAsString();
}

Node WithText(const std::string& key, size_t size) {
  Node node;
  node.set_id(kId);
  (*node.mutable_metadata()->mutable_fields())[key].set_string_value(std::string(size, 'x'));
  return node;
}

class NodeTest : public testing::Test {
 protected:
  void Start(PusherOptions options = MakeFakeOptions()) {
    mesh_.Put(TypeId::kCluster, "a", "1");
    pusher_.reset(new Pusher(std::move(options), MakeFakeGenerators(&mesh_)));
    pusher_->Publish(EmptySnapshot(), BecauseOf(Reason::kConfig));
  }
  std::shared_ptr<FakeProxy> Say(const std::string& request, StreamOptions options = {}) {
    auto proxy = std::make_shared<FakeProxy>();
    proxy->Connect(pusher_.get(), std::move(options));
    proxy->Say(request);
    return proxy;
  }
  // The status by which a client of that request is refused, after which others are served.
  absl::Status Refusal(const std::string& request, StreamOptions options = {}) {
    const auto refused = Say(request, std::move(options));
    EXPECT_TRUE(refused->AwaitClosed());
    refused->HangUp();
    const auto other = std::make_shared<FakeProxy>();
    other->Connect(pusher_.get());
    other->Ask(TypeId::kCluster);
    EXPECT_EQ(other->Await(0).resources_size(), 1);
    other->HangUp();
    return refused->status();
  }

  FakeMesh mesh_;
  OwnedPusher pusher_;
};

TEST_F(NodeTest, TypesThatAreNotServedAreToldSo) {
  Start();
  for (const char* type : {"waypoint", "ztunnel"}) {
    Node node;
    node.set_id(StrCat(type, "~10.1.0.9~x.a~a.svc.cluster.local"));
    for (const TypeId asked : {TypeId::kRoute, TypeId::kCluster}) {
      const absl::Status status = Refusal(RequestOf(node, asked));
      EXPECT_TRUE(absl::IsUnimplemented(status)) << status;
      EXPECT_THAT(std::string(status.message()), HasSubstr(type));
    }
  }
}

TEST_F(NodeTest, TheClusterOfABootstrapIsShort) {
  Start();
  const absl::Status status =
      Refusal(RequestOf(WithText("FAIRLEAD_XDS_CLUSTER", 100'000)), {.only = TypeId::kCluster});
  EXPECT_TRUE(absl::IsInvalidArgument(status));
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("FAIRLEAD_XDS_CLUSTER: 100000 bytes, of at most 4096"));
}

TEST_F(NodeTest, ALargeNodeIsRefusedBeforeItWaits) {
  Start();
  const absl::Status status = Refusal(RequestOf(WithText("X", 3 << 20)));
  EXPECT_TRUE(absl::IsInvalidArgument(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr("the node has more than 524288 bytes"));
}

TEST_F(NodeTest, ThoseWithoutIdentityHaveABudgetTogether) {
  PusherOptions options = MakeFakeOptions();
  options.unproven.memory = 8 << 20;
  Start(std::move(options));
  std::vector<std::shared_ptr<FakeProxy>> held;
  absl::Status refused;
  for (int i = 0; i < 20 && refused.ok(); ++i) {
    held.push_back(Say(RequestOf(WithText("X", 400 << 10))));
    const std::chrono::milliseconds patience(i < 10 ? 10 : 2000);
    if (held.back()->AwaitClosed(patience)) refused = held.back()->status();
  }
  EXPECT_TRUE(absl::IsResourceExhausted(refused)) << refused;
  EXPECT_GE(held.size(), 10u);
  EXPECT_LE(held.size(), 12u) << "half of the budget for one address";
  const auto proven = Say(RequestOf(WithText("X", 400 << 10)),
                          {.peer = {.identities = {"spiffe://cluster.local/ns/default/sa/a"}}});
  EXPECT_EQ(proven->Await(0).resources_size(), 1) << "who has proven an identity is not counted";
  proven->HangUp();
  for (const auto& proxy : held) proxy->HangUp();
}

TEST_F(NodeTest, NamesAreCountedToo) {
  PusherOptions options = MakeFakeOptions();
  options.unproven.memory = 4 << 20;
  mesh_.Put(TypeId::kEndpoint, "a0", "1");
  Start(std::move(options));
  const auto asking = [&](const std::string& prefix) {
    DiscoveryRequest request;
    request.mutable_node()->set_id(kId);
    request.set_type_url(std::string(xds::InfoOf(TypeId::kEndpoint).url));
    for (int i = 0; i < 4000; ++i) request.add_resource_names(StrCat(prefix, i));
    return Say(request.SerializeAsString());
  };
  const auto first = asking("a");
  EXPECT_EQ(first->Await(0).resources_size(), 1);
  const auto same = asking("a");
  EXPECT_EQ(same->Await(0).resources_size(), 1) << "the same names take nothing more";
  std::vector<std::shared_ptr<FakeProxy>> others;
  for (int i = 0; i < 12; ++i) others.push_back(asking(StrCat("other-", i, "-")));
  EXPECT_TRUE(others.back()->AwaitClosed()) << "2 MiB for one address";
  EXPECT_TRUE(absl::IsResourceExhausted(others.back()->status())) << others.back()->status();
  for (const auto& proxy : {first, same}) proxy->HangUp();
  for (const auto& proxy : others) proxy->HangUp();
}

}  // namespace
}  // namespace fairlead::push
