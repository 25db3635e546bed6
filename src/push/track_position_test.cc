#include "push/track_position.h"

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
  const Reasons reasons = position_.Advance(nullptr);
  EXPECT_EQ(reasons.counts[static_cast<size_t>(Reason::kConfig)], 1u);
  EXPECT_EQ(position_.epoch()->snapshot, newest);
  EXPECT_TRUE(position_.Return());
}

}  // namespace
}  // namespace fairlead::push
