#include "ca/issue_rate.h"

#include <gtest/gtest.h>

#include "base/strings.h"

namespace fairlead::ca {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Verdict = IssueRate::Verdict;

int Granted(IssueRate* rate, const std::string& who, Clock::time_point now, int tries) {
  int granted = 0;
  for (int i = 0; i < tries; ++i) granted += rate->Take(who, now) == Verdict::kGranted ? 1 : 0;
  return granted;
}

TEST(IssueRateTest, ABurstAndThenSoManyASecond) {
  IssueRate rate({.per_second = 2, .burst = 20});
  const Clock::time_point start = Clock::now();
  EXPECT_EQ(Granted(&rate, "a", start, 100), 20);
  EXPECT_EQ(Granted(&rate, "b", start, 5), 5) << "another's is another's";
  EXPECT_EQ(Granted(&rate, "a", start + milliseconds(400), 100), 0);
  EXPECT_EQ(Granted(&rate, "a", start + milliseconds(1600), 100), 3);
  EXPECT_EQ(Granted(&rate, "a", start + seconds(100), 100), 20);
}

TEST(IssueRateTest, TheFirstRefusalIsWorthALine) {
  IssueRate rate({.per_second = 1, .burst = 1});
  const Clock::time_point start = Clock::now();
  EXPECT_EQ(rate.Take("a", start), Verdict::kGranted);
  EXPECT_EQ(rate.Take("a", start), Verdict::kFirstRefused);
  EXPECT_EQ(rate.Take("a", start), Verdict::kRefused);
  EXPECT_EQ(rate.Take("a", start + seconds(1)), Verdict::kGranted);
  EXPECT_EQ(rate.Take("a", start + seconds(1)), Verdict::kRefused);
}

TEST(IssueRateTest, WhoIsDoneIsForgotten) {
  IssueRate rate({.per_second = 1, .burst = 20});
  Clock::time_point now = Clock::now();
  for (int i = 0; i < 100'000; ++i) {
    now += milliseconds(10);
    EXPECT_EQ(rate.Take(StrCat(i), now), Verdict::kGranted);
  }
  EXPECT_LE(rate.known(), 1100u) << "a hundred of them came within the last second";
}

TEST(IssueRateTest, WithoutARateAllIsGrantedAndNobodyRemembered) {
  IssueRate rate({.per_second = 0, .burst = 1});
  EXPECT_EQ(Granted(&rate, "a", Clock::now(), 1000), 1000);
  EXPECT_EQ(rate.known(), 0u);
}

}  // namespace
}  // namespace fairlead::ca
