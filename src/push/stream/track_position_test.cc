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
  position_.Start();
  const EpochPtr before = position_.epoch();
  EXPECT_TRUE(position_.Return());
  position_.Leave();
  EXPECT_EQ(position_.epoch(), nullptr);
  EXPECT_TRUE(position_.Return());
  EXPECT_EQ(position_.epoch(), before);
}

// A publication that comes after Leave is one that the client is still to be brought to, with its reasons.
TEST_F(TrackPositionTest, WhatIsPublishedMeanwhileIsNotPassedOver) {
  position_.Start();
  position_.Leave();
  const mesh::SnapshotPtr newest = Publish();
  EXPECT_FALSE(position_.Return());
  EXPECT_FALSE(position_.AtNewest());
  const Reasons reasons = position_.Advance(nullptr).reasons;
  EXPECT_EQ(reasons.counts[static_cast<size_t>(Reason::kConfig)], 1u);
  EXPECT_EQ(position_.epoch()->snapshot, newest);
  EXPECT_TRUE(position_.Return());
}

TEST_F(TrackPositionTest, WhatWasTouchedIsToldOfInterestsThatWereSetInTime) {
  const auto advance = [this] {
    const mesh::SnapshotPtr before = track_.Newest()->snapshot;
    const mesh::SnapshotPtr now = std::make_shared<mesh::MeshSnapshot>(*before);
    const uint64_t number = track_.Publish(now, BecauseOf(Reason::kConfig)).now->reached.number;
    track_.interests().ConcernedBy(*before, *now, number);
    return position_.Advance(nullptr).touched.has_value();
  };
  position_.Start();
  EXPECT_FALSE(advance()) << "nothing was said of interests";
  position_.SetInterests(nullptr, {});
  EXPECT_TRUE(advance());
  EXPECT_FALSE(advance()) << "more was made since";
  position_.SetInterests(nullptr, {});
  position_.Leave();
  EXPECT_TRUE(position_.Return());
  EXPECT_FALSE(advance()) << "more may have been made since";
}

}  // namespace
}  // namespace fairlead::push
