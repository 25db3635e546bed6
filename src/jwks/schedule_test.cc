#include "jwks/schedule.h"

#include <gmock/gmock.h>

namespace fairlead::jwks {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::IsEmpty;
using testing::SizeIs;

const model::KeySource kA{"https://a", {}}, kB{{}, "https://b"};
const char kKeys[] = R"({"keys": [{"kid": "1"}, {"kid": "2"}]})";

class ScheduleTest : public testing::Test {
 protected:
  std::string Known(const model::KeySource& source) const {
    const auto found = schedule_.known()->find(source);
    return found == schedule_.known()->end() ? "" : *found->second;
  }
  // Until it is due again.
  Clock::duration Wait() { return *schedule_.NextDue() - now_; }

  Clock::time_point now_{hours(1)};
  Schedule schedule_{{}, [] { return 0.5; }};
};

TEST_F(ScheduleTest, WhatIsWantedIsDueAtOnceAndThenUnderWay) {
  EXPECT_FALSE(schedule_.NextDue());
  EXPECT_TRUE(schedule_.Settled());
  EXPECT_FALSE(schedule_.Want({{kA, seconds(3)}, {kB, seconds(5)}}, now_));
  EXPECT_EQ(schedule_.NextDue(), now_);
  const auto orders = schedule_.TakeDue(now_);
  ASSERT_THAT(orders, SizeIs(2));
  EXPECT_EQ(orders[1].source, kA) << "sorted by URI";
  EXPECT_EQ(orders[1].timeout, seconds(3));
  EXPECT_THAT(schedule_.TakeDue(now_), IsEmpty());
  EXPECT_FALSE(schedule_.NextDue());
  EXPECT_FALSE(schedule_.Settled());
}

TEST_F(ScheduleTest, KeysAreFetchedAgainAfterAWhile) {
  schedule_.Want({{kA, seconds(5)}}, now_);
  schedule_.TakeDue(now_);
  EXPECT_TRUE(schedule_.Succeeded(kA, kKeys, now_));
  EXPECT_EQ(Known(kA), kKeys);
  EXPECT_TRUE(schedule_.Settled());
  EXPECT_EQ(Wait(), minutes(20));
}

TEST_F(ScheduleTest, RefreshesAreSpread) {
  for (const auto& [random, wait] : {std::pair(0.0, minutes(18)), std::pair(1.0, minutes(22))}) {
    Schedule schedule({}, [random = random] { return random; });
    schedule.Want({{kA, seconds(5)}}, now_);
    schedule.Succeeded(kA, kKeys, now_);
    EXPECT_NEAR(std::chrono::duration<double>(*schedule.NextDue() - now_).count(),
                std::chrono::seconds(wait).count(), 1);
  }
}

TEST_F(ScheduleTest, TheSameKeysAreNoChange) {
  schedule_.Want({{kA, seconds(5)}}, now_);
  schedule_.Succeeded(kA, kKeys, now_);
  const model::KeySetsPtr known = schedule_.known();
  EXPECT_FALSE(schedule_.Succeeded(kA, R"({"keys": [{"kid": "2"}, {"kid": "1"}]})", now_));
  EXPECT_EQ(schedule_.known(), known);
  EXPECT_TRUE(schedule_.Succeeded(kA, R"({"keys": []})", now_));
  EXPECT_NE(schedule_.known(), known);
}

TEST_F(ScheduleTest, FailuresAreTriedAgainEverLater) {
  schedule_.Want({{kA, seconds(5)}}, now_);
  std::vector<int64_t> waits;
  for (int i = 0; i < 11; ++i) {
    schedule_.TakeDue(now_);
    EXPECT_FALSE(schedule_.Failed(kA, now_));
    waits.push_back(std::chrono::duration_cast<seconds>(Wait()).count());
    now_ = *schedule_.NextDue();
  }
  EXPECT_THAT(waits, testing::ElementsAre(1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300));
  EXPECT_TRUE(schedule_.Settled()) << "it was tried";
  schedule_.Succeeded(kA, kKeys, now_);
  schedule_.Failed(kA, now_);
  EXPECT_EQ(Wait(), seconds(1));
}

TEST_F(ScheduleTest, TheLastGoodKeysStayButNotForEver) {
  schedule_.Want({{kA, seconds(5)}}, now_);
  schedule_.Succeeded(kA, kKeys, now_);
  EXPECT_FALSE(schedule_.Failed(kA, now_ + hours(24 * 7) - milliseconds(1)));
  EXPECT_EQ(Known(kA), kKeys);
  EXPECT_TRUE(schedule_.Failed(kA, now_ + hours(24 * 7)));
  EXPECT_EQ(Known(kA), "");
}

TEST_F(ScheduleTest, WhatIsNotWantedIsForgotten) {
  schedule_.Want({{kA, seconds(5)}, {kB, seconds(5)}}, now_);
  schedule_.Succeeded(kA, kKeys, now_);
  EXPECT_FALSE(schedule_.Want({{kA, seconds(5)}}, now_));
  EXPECT_FALSE(schedule_.Succeeded(kB, kKeys, now_)) << "it was under way";
  EXPECT_EQ(Known(kB), "");
  EXPECT_TRUE(schedule_.Want({}, now_));
  EXPECT_EQ(Known(kA), "");
  EXPECT_EQ(schedule_.wanted(), 0u);
}

}  // namespace
}  // namespace fairlead::jwks
