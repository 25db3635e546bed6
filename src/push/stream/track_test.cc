#include "push/stream/track.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "push/push_fakes.h"

// The life of tracks beside the live one: made, assigned, moved to, dropped.
namespace fairlead::push {
namespace {

using testing::ElementsAre;
using xds::TypeId;

using TrackTest = FakeMeshTest;

TEST_F(TrackTest, AStreamFollowsTheTrackThatItIsMovedTo) {
  auto pusher = Make();
  const mesh::SnapshotPtr live = EmptySnapshot(), other = EmptySnapshot();
  pusher->Publish(live, BecauseOf(Reason::kConfig));
  auto proxy = Connect(pusher.get());
  proxy->Ask(TypeId::kCluster);
  proxy->Await(0);
  EXPECT_FALSE(pusher->Move(1, "preview").ok()) << "nothing was published there";
  mesh.Put(TypeId::kCluster, "a", "2");
  pusher->Publish(other, BecauseOf(Reason::kConfig), "preview");
  EXPECT_FALSE(pusher->Move(99, "preview").ok()) << "there is no such stream";
  ASSERT_TRUE(pusher->Move(1, "preview").ok());
  EXPECT_THAT(Values(proxy->Await(1)), ElementsAre("a=2"));
  mesh.Put(TypeId::kCluster, "a", "3");
  pusher->Publish(EmptySnapshot(), BecauseOf(Reason::kConfig), "preview");
  EXPECT_THAT(Values(proxy->Await(2)), ElementsAre("a=3"));
  mesh.Put(TypeId::kCluster, "a", "4");
  pusher->Publish(EmptySnapshot(), BecauseOf(Reason::kConfig));  // does not concern it any more
  ASSERT_TRUE(pusher->Move(1, kLiveTrack).ok());
  EXPECT_THAT(Values(proxy->Await(3)), ElementsAre("a=4"));
  proxy->HangUp();
}

TEST_F(TrackTest, ATrackThatNoStreamFollowsMayGo) {
  auto pusher = Make();
  pusher->Publish(EmptySnapshot(), BecauseOf(Reason::kConfig));
  auto proxy = Connect(pusher.get());
  proxy->Ask(TypeId::kCluster);
  proxy->Await(0);
  mesh.Put(TypeId::kCluster, "a", "2");
  pusher->Publish(EmptySnapshot(), BecauseOf(Reason::kConfig), "preview");
  ASSERT_TRUE(pusher->Move(1, "preview").ok());
  proxy->Await(1);
  EXPECT_TRUE(absl::IsFailedPrecondition(pusher->Drop("preview")));
  mesh.Put(TypeId::kCluster, "a", "3");
  pusher->Publish(EmptySnapshot(), BecauseOf(Reason::kConfig));
  ASSERT_TRUE(pusher->Move(1, kLiveTrack).ok());
  EXPECT_THAT(Values(proxy->Await(2)), ElementsAre("a=3"));
  EXPECT_TRUE(pusher->Drop("preview").ok());
  EXPECT_TRUE(absl::IsNotFound(pusher->Drop("preview")));
  EXPECT_TRUE(absl::IsNotFound(pusher->Drop(kLiveTrack)));
  EXPECT_TRUE(absl::IsNotFound(pusher->Move(1, "preview")));
  proxy->HangUp();
}

TEST_F(TrackTest, ARuleSaysOnWhichTrackAStreamBegins) {
  auto pusher = Make();
  pusher->Publish(EmptySnapshot(), BecauseOf(Reason::kConfig));
  mesh.Put(TypeId::kCluster, "a", "2");
  pusher->Publish(EmptySnapshot(), BecauseOf(Reason::kConfig), "canary");
  std::vector<std::string> asked;
  std::string answer = "canary";
  pusher->SetRule([&](const model::Proxy& proxy) {
    asked.push_back(proxy.id);
    return answer;
  });
  auto proxy = Connect(pusher.get());
  proxy->Ask(TypeId::kCluster);
  proxy->Await(0);
  ASSERT_EQ(asked.size(), 1u);
  EXPECT_EQ(pusher->Report().at(0).track, "canary");
  EXPECT_TRUE(absl::IsFailedPrecondition(pusher->Drop("canary")));
  answer = "nothing of this name";
  auto other = Connect(pusher.get());
  other->Ask(TypeId::kCluster);
  other->Await(0);
  EXPECT_EQ(pusher->Report().at(1).track, kLiveTrack);
  answer = "canary";
  pusher->SetRule([&](const model::Proxy&) { return answer; }, /*all=*/true);
  EXPECT_EQ(pusher->Report().at(1).track, "canary");
  pusher->SetRule(nullptr, /*all=*/true);
  EXPECT_EQ(pusher->Report().at(0).track, kLiveTrack);
  EXPECT_EQ(pusher->Report().at(1).track, kLiveTrack);
  proxy->HangUp();
  other->HangUp();
}

TEST_F(TrackTest, WhoFollowsATrackThatIsDroppedGoesToTheLiveOne) {
  auto pusher = Make();
  pusher->Publish(EmptySnapshot(), BecauseOf(Reason::kConfig));
  mesh.Put(TypeId::kCluster, "a", "2");
  pusher->Publish(EmptySnapshot(), BecauseOf(Reason::kConfig), "canary");
  pusher->SetRule([](const model::Proxy&) { return "canary"; });
  auto proxy = Connect(pusher.get());
  proxy->Ask(TypeId::kCluster);
  EXPECT_THAT(Values(proxy->Await(0)), ElementsAre("a=2"));
  ASSERT_EQ(pusher->Tracks().size(), 2u);
  EXPECT_EQ(pusher->Tracks()[0].name, kLiveTrack);
  EXPECT_EQ(pusher->Tracks()[0].streams, 0u);
  EXPECT_EQ(pusher->Tracks()[1].name, "canary");
  EXPECT_EQ(pusher->Tracks()[1].streams, 1u);
  EXPECT_EQ(pusher->Tracks()[1].publications, 1u);
  mesh.Put(TypeId::kCluster, "a", "3");
  pusher->Publish(EmptySnapshot(), BecauseOf(Reason::kConfig));
  ASSERT_TRUE(pusher->Drop("canary", Pusher::Followers::kToLive).ok());
  EXPECT_THAT(Values(proxy->Await(1)), ElementsAre("a=3"));
  EXPECT_EQ(pusher->Tracks().size(), 1u);
  EXPECT_EQ(pusher->Report().at(0).track, kLiveTrack);
  auto next = Connect(pusher.get());  // the rule names what is gone
  next->Ask(TypeId::kCluster);
  EXPECT_THAT(Values(next->Await(0)), ElementsAre("a=3"));
  proxy->HangUp();
  next->HangUp();
}

}  // namespace
}  // namespace fairlead::push
