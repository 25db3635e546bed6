#include "fetch/reading_pace.h"

#include <gtest/gtest.h>

namespace fairlead::fetch {
namespace {

using std::chrono::milliseconds;

class ReadingPaceTest : public testing::Test {
 protected:
  // Readings of so many bytes, `gap` apart; how many of them wait.
  int Read(int times, uint64_t bytes, milliseconds gap) {
    int waiting = 0;
    for (int i = 0; i < times; ++i) {
      now_ += std::max(gap, pace_.Pause());
      waiting += pace_.Pause().count() > 0 ? 1 : 0;
      pace_.OnRead(bytes, now_);
    }
    return waiting;
  }

  ReadingPace pace_;
  Clock::time_point now_ = Clock::now();
};

TEST_F(ReadingPaceTest, FewPiecesDoNotWait) {
  EXPECT_EQ(Read(30, 2000, milliseconds(15)), 0);
  EXPECT_EQ(Read(5, 2000, milliseconds(1)), 0);
}

TEST_F(ReadingPaceTest, AStormIsReadWithPauses) {
  EXPECT_EQ(Read(50, 2000, milliseconds(5)), 0);
  EXPECT_GT(Read(100, 8000, milliseconds(5)), 95);
}

TEST_F(ReadingPaceTest, AfterAStormTheFirstPieceDoesNotWait) {
  Read(100, 2000, milliseconds(5));
  EXPECT_GT(pace_.Pause().count(), 0);
  now_ += milliseconds(500);
  pace_.OnRead(2000, now_);
  EXPECT_EQ(pace_.Pause().count(), 0);
}

TEST_F(ReadingPaceTest, LargeAnswersDoNotWait) {
  EXPECT_EQ(Read(200, 64'000, milliseconds(1)), 0);
  Read(100, 2000, milliseconds(5));
  EXPECT_GT(pace_.Pause().count(), 0);
  EXPECT_LT(Read(200, 64'000, milliseconds(1)), 6);
}

}  // namespace
}  // namespace fairlead::fetch
