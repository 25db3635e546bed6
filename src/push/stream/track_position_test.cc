#include "push/stream/track_position.h"

#include <gtest/gtest.h>

#include "push/push_fakes.h"

namespace fairlead::push {
namespace {

class TrackPositionTest : public testing::Test {
 protected:
  TrackPositionTest() { Publish(); }
  mesh::SnapshotPtr Publish() {
    mesh::SnapshotPtr snapshot = EmptySnapshot();
    track_.Publish(snapshot, BecauseOf(Reason::kConfig));
    return snapshot;
  }

  Track track_{"live"};
  TrackPosition position_{&track_};
};

TEST_F(TrackPositionTest, ReturnsToWhatItLeft) {
  position_.BringToFirst();
  const TrackPublicationPtr before = position_.publication();
  EXPECT_TRUE(position_.Reacquire());
  position_.Release();
  EXPECT_EQ(position_.publication(), nullptr);
  EXPECT_TRUE(position_.Reacquire());
  EXPECT_EQ(position_.publication(), before);
}

// A publication that comes after Leave is one that the client is still to be brought to, with its reasons.
TEST_F(TrackPositionTest, WhatIsPublishedMeanwhileIsNotPassedOver) {
  position_.BringToFirst();
  position_.Release();
  const mesh::SnapshotPtr newest = Publish();
  EXPECT_FALSE(position_.Reacquire());
  EXPECT_FALSE(position_.IsAtNewest());
  const Reasons reasons = position_.BringToNewest(nullptr).reasons;
  EXPECT_EQ(reasons.counts[static_cast<size_t>(Reason::kConfig)], 1u);
  EXPECT_EQ(position_.publication()->snapshot, newest);
  EXPECT_TRUE(position_.Reacquire());
}

TEST_F(TrackPositionTest, WhatWasTouchedIsToldOfInterestsThatWereSetInTime) {
  const auto advance = [this] {
    const mesh::SnapshotPtr before = track_.Newest()->snapshot;
    const mesh::SnapshotPtr now = std::make_shared<mesh::MeshSnapshot>(*before);
    const uint64_t number = track_.Publish(now, BecauseOf(Reason::kConfig)).now->reached.number;
    track_.interests().ConcernedBy(*before, *now, number);
    return position_.BringToNewest(nullptr).touched.has_value();
  };
  position_.BringToFirst();
  EXPECT_FALSE(advance()) << "nothing was said of interests";
  position_.SetInterests(nullptr, {});
  EXPECT_TRUE(advance());
  EXPECT_FALSE(advance()) << "more was made since";
  position_.SetInterests(nullptr, {});
  position_.Release();
  EXPECT_TRUE(position_.Reacquire());
  EXPECT_FALSE(advance()) << "more may have been made since";
}

}  // namespace
}  // namespace fairlead::push
