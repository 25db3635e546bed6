#include "push/stream/pusher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/thread_wakes_fixture.h"
#include "push/push_fakes.h"
#include "push/stream/push_metrics.h"

namespace fairlead::push {
namespace {

using testing::ElementsAre;
using xds::TypeId;

using PusherTest = FakeMeshTest;

TEST_F(PusherTest, NothingIsServedBeforeTheFirstSnapshot) {
  auto pusher = Make();
  auto early = Connect(pusher.get());
  EXPECT_TRUE(early->AwaitClosed());
  EXPECT_TRUE(absl::IsUnavailable(early->status()));
  early->HangUp();
}

TEST_F(PusherTest, ARequestIsAnsweredAndAChangePushed) {
  auto pusher = Make();
  pusher->Publish(EmptySnapshot(), BecauseOf(Reason::kConfig));
  auto proxy = Connect(pusher.get());
  proxy->Ask(TypeId::kCluster);
  EXPECT_THAT(Values(proxy->Await(0)), ElementsAre("a=1"));
  mesh.Put(TypeId::kCluster, "b", "1");
  pusher->Publish(EmptySnapshot(), BecauseOf(Reason::kConfig));
  EXPECT_THAT(Values(proxy->Await(1)), ElementsAre("a=1", "b=1"));
  EXPECT_EQ(pusher->StreamCount(), 1u);
  proxy->HangUp();
  EXPECT_EQ(pusher->StreamCount(), 0u);
}

TEST_F(PusherTest, WhatWasMadeFromTheSameIsNotMadeAgain) {
  auto pusher = Make();
  const mesh::SnapshotPtr same = EmptySnapshot();
  pusher->Publish(same, BecauseOf(Reason::kConfig));
  auto proxy = Connect(pusher.get());
  proxy->Ask(TypeId::kCluster);
  proxy->Await(0);
  const int generated = mesh.generated;
  pusher->Publish(same, BecauseOf(Reason::kConfig));
  mesh.Put(TypeId::kEndpoint, "e", "1");
  proxy->Ask(TypeId::kEndpoint, {"e"});  // answered after the publication was taken over
  proxy->Await(1);
  EXPECT_EQ(mesh.generated, generated + 1) << "for the endpoint alone";
  mesh.Put(TypeId::kCluster, "a", "2");
  pusher->Publish(EmptySnapshot(), BecauseOf(Reason::kConfig));
  EXPECT_THAT(Values(proxy->Await(2)), ElementsAre("a=2"));
  proxy->HangUp();
}

TEST_F(PusherTest, ShadowModeFindsWhatIsMadeFromMoreThanItsReads) {
  PusherOptions options = MakeFakeOptions();
  options.shadow = true;
  auto pusher = Make(std::move(options));
  const mesh::SnapshotPtr same = EmptySnapshot();
  pusher->Publish(same, BecauseOf(Reason::kConfig));
  auto proxy = Connect(pusher.get());
  proxy->Ask(TypeId::kCluster);
  proxy->Await(0);
  const double errors = Metrics().internal_errors.Value();
  mesh.Put(TypeId::kCluster, "a", "2");
  pusher->Publish(same, BecauseOf(Reason::kConfig));
  EXPECT_THAT(Values(proxy->Await(1)), ElementsAre("a=2"));
  proxy->HangUp();
  pusher->Stop();
  EXPECT_EQ(Metrics().internal_errors.Value(), errors + 1);
}

envoy::service::discovery::v3::DiscoveryRequest RequestOf(const std::string& generator) {
  envoy::service::discovery::v3::DiscoveryRequest request;
  request.mutable_node()->set_id("sidecar~10.0.0.1~a.default~c");
  (*request.mutable_node()->mutable_metadata()->mutable_fields())["GENERATOR"].set_string_value(generator);
  return request;
}

// A variant replaces some types, and what it makes is never shared with the usual proxies.
TEST_F(PusherTest, ProxiesGetTheGeneratorsThatTheirMetadataNames) {
  FakeMesh other;
  other.Put(TypeId::kCluster, "a", "other");
  mesh.Put(TypeId::kEndpoint, "a", "1");
  GeneratorVariants variants;
  variants["other"][static_cast<size_t>(TypeId::kCluster)] =
      std::make_unique<FakeGenerator>(&other, TypeId::kCluster);
  Pusher pusher(MakeFakeOptions(), MakeFakeGenerators(&mesh), std::move(variants));
  pusher.Publish(EmptySnapshot(), BecauseOf(Reason::kConfig));
  for (const auto& [generator, cluster] :
       {std::pair("", "a=1"), std::pair("other", "a=other"), std::pair("unknown", "a=1")}) {
    auto proxy = Connect(&pusher);
    auto request = RequestOf(generator);
    request.set_type_url(std::string(xds::InfoOf(TypeId::kCluster).url));
    proxy->Say(request.SerializeAsString());
    EXPECT_THAT(Values(proxy->Await(0)), ElementsAre(cluster));
    request.set_type_url(std::string(xds::InfoOf(TypeId::kEndpoint).url));
    request.add_resource_names("a");
    proxy->Say(request.SerializeAsString());
    EXPECT_THAT(Values(proxy->Await(1)), ElementsAre("a=1"));
    proxy->HangUp();
  }
}

TEST_F(PusherTest, EqualProxiesShareOneGeneration) {
  auto pusher = Make();
  pusher->Publish(EmptySnapshot(), BecauseOf(Reason::kConfig));
  std::vector<std::shared_ptr<FakeProxy>> proxies;
  for (int i = 0; i < 50; ++i) {
    proxies.push_back(Connect(pusher.get()));
    proxies.back()->Ask(TypeId::kCluster);
  }
  for (auto& proxy : proxies) proxy->Await(0);
  EXPECT_EQ(mesh.generated, 1);
  for (auto& proxy : proxies) proxy->HangUp();
}

TEST_F(PusherTest, AFirstRequestWithoutANodeIsRefused) {
  auto pusher = Make();
  pusher->Publish(EmptySnapshot(), BecauseOf(Reason::kConfig));
  auto proxy = Connect(pusher.get());
  proxy->Ask(TypeId::kCluster, {}, "");
  EXPECT_TRUE(proxy->AwaitClosed());
  EXPECT_EQ(proxy->status(), absl::InvalidArgumentError("missing node information"));
  proxy->HangUp();
  auto wrong = Connect(pusher.get());
  wrong->Ask(TypeId::kCluster, {}, "not a node id");
  EXPECT_TRUE(wrong->AwaitClosed());
  EXPECT_TRUE(absl::IsInvalidArgument(wrong->status()));
  wrong->HangUp();
  envoy::service::discovery::v3::DiscoveryRequest nameless;
  nameless.mutable_node()->set_cluster("a");
  nameless.set_type_url(std::string(xds::InfoOf(TypeId::kCluster).url));
  auto nobody = Connect(pusher.get());
  nobody->Say(nameless.SerializeAsString());
  EXPECT_TRUE(nobody->AwaitClosed());
  EXPECT_EQ(nobody->status(), absl::InvalidArgumentError("missing node information"));
  nobody->HangUp();
}

// "Only the first request on a stream is guaranteed to carry the node identifier": what later ones say of it
// changes nothing.
TEST_F(PusherTest, TheFirstNodeOfAStreamHolds) {
  auto pusher = Make();
  pusher->Publish(EmptySnapshot(), BecauseOf(Reason::kConfig));
  mesh.Put(TypeId::kListener, "l", "1");
  auto proxy = Connect(pusher.get());
  proxy->Ask(TypeId::kCluster);
  proxy->Await(0);
  for (const char* node : {"sidecar~10.0.0.2~b.other~c", "", "not a node id"}) {
    const size_t before = proxy->Responses();
    proxy->Ask(TypeId::kListener, {}, node);
    proxy->Await(before);
  }
  EXPECT_FALSE(proxy->AwaitClosed(std::chrono::milliseconds(0)));
  EXPECT_EQ(pusher->Report().at(0).scope->proxy->id, "a.default");
  proxy->HangUp();
}

TEST_F(PusherTest, Version2TypesAndGarbageEndTheStream) {
  auto pusher = Make();
  pusher->Publish(EmptySnapshot(), BecauseOf(Reason::kConfig));
  auto proxy = Connect(pusher.get());
  envoy::service::discovery::v3::DiscoveryRequest request;
  request.mutable_node()->set_id("sidecar~10.0.0.1~a.default~c");
  request.set_type_url("type.googleapis.com/envoy.api.v2.Cluster");
  proxy->Say(request.SerializeAsString());
  EXPECT_TRUE(proxy->AwaitClosed());
  EXPECT_THAT(std::string(proxy->status().message()), testing::HasSubstr("v3"));
  proxy->HangUp();
  auto garbage = Connect(pusher.get());
  garbage->Say("\xff\xff");
  EXPECT_TRUE(garbage->AwaitClosed());
  garbage->HangUp();
}

TEST_F(PusherTest, AStuckProxyDelaysNobodyAndIsCut) {
  PusherOptions options = MakeFakeOptions();
  options.send_timeout = std::chrono::milliseconds(300);
  auto pusher = Make(std::move(options));
  pusher->Publish(EmptySnapshot(), BecauseOf(Reason::kConfig));
  const double cut_before = Metrics().write_timeouts.Value();
  metrics::Counter& send_errors = Metrics().Of(TypeId::kCluster).send_errors;
  const double errors_before = send_errors.Value();
  std::vector<std::shared_ptr<FakeProxy>> stuck, quick;
  for (int i = 0; i < 10; ++i) {
    stuck.push_back(Connect(pusher.get(), /*stuck=*/true));
    stuck.back()->Ask(TypeId::kCluster);
  }
  for (int i = 0; i < 100; ++i) {
    quick.push_back(Connect(pusher.get()));
    quick.back()->Ask(TypeId::kCluster);
  }
  for (auto& proxy : quick) proxy->Await(0);
  for (int version = 2; version < 6; ++version) {
    mesh.Put(TypeId::kCluster, "a", StrCat(version));
    pusher->Publish(EmptySnapshot(), BecauseOf(Reason::kConfig));
    for (auto& proxy : quick) {
      EXPECT_THAT(Values(proxy->Await(static_cast<size_t>(version) - 1)), ElementsAre(StrCat("a=", version)));
    }
  }
  for (auto& proxy : stuck) {
    EXPECT_TRUE(proxy->AwaitClosed());
    EXPECT_TRUE(absl::IsDeadlineExceeded(proxy->status()));
    EXPECT_EQ(proxy->Responses(), 1u) << "no second message while the first is under way";
    proxy->HangUp();
  }
  EXPECT_EQ(Metrics().write_timeouts.Value() - cut_before, 10);
  EXPECT_EQ(send_errors.Value() - errors_before, 10);
  for (auto& proxy : quick) {
    EXPECT_FALSE(proxy->AwaitClosed(std::chrono::milliseconds(0)));
    proxy->HangUp();
  }
}

TEST_F(PusherTest, TheHousekeeperSleepsWhileThereIsNoWork) {
  PusherOptions options = MakeFakeOptions();
  options.rest_after = std::chrono::milliseconds(500);
  options.send_timeout = std::chrono::milliseconds(300);
  auto pusher = Make(std::move(options));
  pusher->Publish(EmptySnapshot(), BecauseOf(Reason::kConfig));
  auto proxy = Connect(pusher.get());
  proxy->Ask(TypeId::kCluster);
  proxy->Await(0);
  std::this_thread::sleep_for(std::chrono::milliseconds(1500));
  const uint64_t before = SleepsOf("housekeeper");
  std::this_thread::sleep_for(std::chrono::milliseconds(1500));
  EXPECT_EQ(SleepsOf("housekeeper"), before);
  auto stuck = Connect(pusher.get(), /*stuck=*/true);
  stuck->Ask(TypeId::kCluster);
  EXPECT_TRUE(stuck->AwaitClosed()) << "it woke, and cuts who does not read";
  stuck->HangUp();
  proxy->HangUp();
}

TEST_F(PusherTest, NobodyIsCutForTimeThatTheServerLost) {
  PusherOptions options = MakeFakeOptions();
  options.send_timeout = std::chrono::milliseconds(300);
  auto pusher = Make(std::move(options));
  pusher->Publish(EmptySnapshot(), BecauseOf(Reason::kConfig));
  auto waiting = Connect(pusher.get(), /*stuck=*/true);
  waiting->Ask(TypeId::kCluster);
  waiting->Await(0);
  pusher->Excuse(std::chrono::hours(1));
  auto later = Connect(pusher.get(), /*stuck=*/true);
  later->Ask(TypeId::kCluster);
  EXPECT_TRUE(later->AwaitClosed()) << "it has no excuse";
  EXPECT_FALSE(waiting->AwaitClosed(std::chrono::milliseconds(0)));
  waiting->HangUp();
  later->HangUp();
}

TEST_F(PusherTest, AProxyThatWasCutIsSentNothingMore) {
  PusherOptions options = MakeFakeOptions();
  options.send_timeout = std::chrono::milliseconds(1);
  options.threads = 1;  // which works for one after the other
  auto pusher = Make(std::move(options));
  pusher->Publish(EmptySnapshot(), BecauseOf(Reason::kConfig));
  auto stuck = Connect(pusher.get(), /*stuck=*/true);
  stuck->Ask(TypeId::kCluster);
  ASSERT_TRUE(stuck->AwaitClosed());
  mesh.Put(TypeId::kCluster, "a", "2");
  pusher->Publish(EmptySnapshot(), BecauseOf(Reason::kConfig));
  auto next = Connect(pusher.get());
  next->Ask(TypeId::kCluster);
  next->Await(0);
  EXPECT_EQ(stuck->Responses(), 1u) << "the first message was not given back yet";
  stuck->HangUp();
  next->HangUp();
}

TEST_F(PusherTest, AProxyThatComesBackGetsOnlyTheNewest) {
  auto pusher = Make();
  pusher->Publish(EmptySnapshot(), BecauseOf(Reason::kConfig));
  auto proxy = Connect(pusher.get());
  proxy->Ask(TypeId::kCluster);
  proxy->Await(0);
  for (int version = 2; version <= 100; ++version) {
    mesh.Put(TypeId::kCluster, "a", StrCat(version));
    pusher->Publish(EmptySnapshot(), BecauseOf(Reason::kConfig));
  }
  for (size_t i = 1;; ++i) {
    if (Values(proxy->Await(i)) == std::vector<std::string>{"a=100"}) break;
    ASSERT_LT(i, 100u);
  }
  proxy->HangUp();
}

TEST_F(PusherTest, EachStreamReportsWhatItsProxyTook) {
  auto pusher = Make();
  pusher->Publish(EmptySnapshot(), BecauseOf(Reason::kConfig));
  auto proxy = Connect(pusher.get());
  EXPECT_THAT(pusher->Report(), testing::IsEmpty()) << "it has not said who it is";
  proxy->Ask(TypeId::kCluster);
  const auto first = proxy->Await(0);
  envoy::service::discovery::v3::DiscoveryRequest answer;
  answer.set_type_url(std::string(xds::InfoOf(TypeId::kCluster).url));
  answer.set_response_nonce(first.nonce());
  proxy->Say(answer.SerializeAsString());
  mesh.Put(TypeId::kCluster, "a", "2");
  pusher->Publish(EmptySnapshot(), BecauseOf(Reason::kConfig));
  const auto second = proxy->Await(1);
  answer.set_response_nonce(second.nonce());
  answer.mutable_error_detail()->set_message("no");
  proxy->Say(answer.SerializeAsString());
  proxy->Ask(TypeId::kRoute, {"x"}, "");  // taken in order: the NACK has been read when this is
  const auto nacked = [&] { return pusher->Report().at(0).Of(TypeId::kCluster).status.nacks == 1; };
  while (!nacked()) std::this_thread::yield();

  const StreamReport report = pusher->Report().at(0);
  EXPECT_EQ(report.connection, "a.default-1");
  EXPECT_EQ(report.scope->proxy->id, "a.default");
  const StreamReport::OfType& clusters = report.Of(TypeId::kCluster);
  EXPECT_TRUE(clusters.status.wildcard);
  EXPECT_EQ(clusters.status.nonce_acked, first.nonce());
  EXPECT_EQ(clusters.status.version_acked, first.version_info());
  EXPECT_EQ(clusters.status.nonce_sent, second.nonce());
  EXPECT_EQ(clusters.status.version_nacked, second.version_info());
  EXPECT_EQ(clusters.status.error, "no");
  EXPECT_GT(clusters.times.acked, report.connected_at);
  EXPECT_GT(clusters.times.nacked, clusters.times.acked);
  ASSERT_NE(clusters.status.sent, nullptr);
  EXPECT_NE(clusters.status.sent->Find("a"), nullptr);
  proxy->HangUp();
  EXPECT_THAT(pusher->Report(), testing::IsEmpty());
}

// Which of the reasons are counted once more than `before` said.
std::array<double, kReasonCount> Triggers() {
  std::array<double, kReasonCount> values;
  for (size_t i = 0; i < kReasonCount; ++i) values[i] = Metrics().triggers[i]->Value();
  return values;
}
std::string CountedSince(const std::array<double, kReasonCount>& before) {
  Reasons counted;
  for (size_t i = 0; i < kReasonCount; ++i)
    counted.counts[i] = static_cast<uint32_t>(Metrics().triggers[i]->Value() - before[i]);
  return counted.ToText();
}

TEST_F(PusherTest, EveryReasonIsCountedWhereItIsPushed) {
  auto pusher = Make();
  pusher->Publish(EmptySnapshot(), BecauseOf(Reason::kConfig));
  auto proxy = Connect(pusher.get());
  proxy->Ask(TypeId::kCluster);
  proxy->Await(0);
  size_t responses = 1;
  for (size_t i = 0; i < kReasonCount; ++i) {
    const auto before = Triggers();
    mesh.Put(TypeId::kCluster, "a", StrCat("for ", i));
    pusher->Publish(EmptySnapshot(), BecauseOf(static_cast<Reason>(i)));
    proxy->Await(responses++);
    EXPECT_EQ(CountedSince(before), StrCat(NameOf(static_cast<Reason>(i)), ":1"));
  }
  const auto before = Triggers();
  mesh.Put(TypeId::kCluster, "a", "for nothing that is known");
  pusher->Publish(EmptySnapshot(), {});
  proxy->Await(responses);
  EXPECT_EQ(CountedSince(before), "unknown:1");
  proxy->HangUp();
}

TEST_F(PusherTest, WhoMissesPublicationsIsPushedForAllOfTheirReasons) {
  auto pusher = Make();
  pusher->Publish(EmptySnapshot(), BecauseOf(Reason::kConfig));
  auto proxy = Connect(pusher.get(), /*stuck=*/true);
  proxy->Ask(TypeId::kCluster);
  proxy->Await(0);  // and does not come back for more
  auto other = Connect(pusher.get());
  other->Ask(TypeId::kCluster);
  other->Await(0);
  const auto before = Triggers();
  Reasons first = BecauseOf(Reason::kService);
  first.everything = true;
  pusher->Publish(EmptySnapshot(), first);
  other->Await(1);
  for (int i = 0; i < 1000; ++i) pusher->Publish(EmptySnapshot(), BecauseOf(Reason::kEndpoint));
  proxy->ComeBack();
  proxy->Await(1);
  EXPECT_THAT(CountedSince(before), testing::HasSubstr("service:2"));
  proxy->HangUp();
  other->HangUp();
}

// Its pod was relabelled: nobody else's push says so.
TEST_F(PusherTest, TheProxysOwnChangeIsAReason) {
  PusherOptions options = MakeFakeOptions();
  const mesh::SnapshotPtr relabelled = EmptySnapshot();
  options.scope = [&](const mesh::MeshSnapshot& snapshot, const model::ProxyPtr& proxy,
                      const mesh::ProxyScopePtr&, bool /*shadow*/) {
    auto scope = std::make_shared<mesh::ProxyScope>();
    scope->proxy = proxy;
    if (&snapshot == relabelled.get() && proxy->id == "a.default") scope->labels["version"] = "v2";
    return scope;
  };
  auto pusher = Make(std::move(options));
  pusher->Publish(EmptySnapshot(), BecauseOf(Reason::kConfig));
  std::vector<std::shared_ptr<FakeProxy>> proxies;
  for (const char* node : {"sidecar~10.0.0.1~a.default~c", "sidecar~10.0.0.2~b.default~c"}) {
    proxies.push_back(Connect(pusher.get()));
    proxies.back()->Ask(TypeId::kCluster, {}, node);
    proxies.back()->Await(0);
  }
  const auto before = Triggers();
  mesh.Put(TypeId::kCluster, "a", "2");
  pusher->Publish(relabelled, BecauseOf(Reason::kEndpoint));
  for (const auto& proxy : proxies) {
    proxy->Await(1);
    proxy->HangUp();
  }
  EXPECT_EQ(CountedSince(before), "endpoint:2 proxy:1");
}

TEST_F(PusherTest, EverythingIsSentAgainOnDemand) {
  auto pusher = Make();
  pusher->Publish(EmptySnapshot(), BecauseOf(Reason::kConfig));
  auto proxy = Connect(pusher.get());
  proxy->Ask(TypeId::kCluster);
  const auto first = proxy->Await(0);
  Reasons wish = BecauseOf(Reason::kDebug);
  wish.everything = true;
  pusher->Publish(EmptySnapshot(), wish);
  const auto again = proxy->Await(1);
  EXPECT_EQ(again.version_info(), first.version_info());
  EXPECT_EQ(Values(again), Values(first));
  proxy->HangUp();
}

TEST_F(PusherTest, WhoComesAfterTheEndIsSentElsewhere) {
  auto pusher = Make();
  pusher->Publish(EmptySnapshot(), BecauseOf(Reason::kConfig));
  pusher->Stop();
  auto proxy = Connect(pusher.get());
  EXPECT_TRUE(proxy->AwaitClosed());
  EXPECT_TRUE(absl::IsUnavailable(proxy->status()));
  proxy->HangUp();
}

TEST_F(PusherTest, StoppingSendsProxiesElsewhere) {
  auto pusher = Make();
  pusher->Publish(EmptySnapshot(), BecauseOf(Reason::kConfig));
  auto proxy = Connect(pusher.get());
  pusher->Stop();
  EXPECT_TRUE(proxy->AwaitClosed());
  EXPECT_TRUE(absl::IsUnavailable(proxy->status()));
  proxy->HangUp();
}

}  // namespace
}  // namespace fairlead::push
