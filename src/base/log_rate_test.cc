#include "base/log_rate.h"

#include <gtest/gtest.h>

namespace fairlead {
namespace {

using std::chrono::seconds;

TEST(LogRate, APeerHasSomeLinesAtOnceAndThenOneASecond) {
  LogRate rate(3, 1);
  const Clock::time_point start{};
  for (int i = 0; i < 3; ++i) EXPECT_EQ(rate.Admit("a", start), "");
  for (int i = 0; i < 5; ++i) EXPECT_EQ(rate.Admit("a", start), std::nullopt);
  EXPECT_EQ(rate.Admit("b", start), "") << "others have rates of their own";
  EXPECT_EQ(rate.Admit("a", start + seconds(1)), " (5 more of this peer were left out)");
  EXPECT_EQ(rate.Admit("a", start + seconds(1)), std::nullopt);
  EXPECT_EQ(rate.Admit("a", start + seconds(100)), " (1 more of this peer were left out)");
}

TEST(LogRate, PeersWithoutEndShareARate) {
  LogRate rate(1, 1);
  const Clock::time_point start{};
  size_t admitted = 0;
  for (int i = 0; i < 100'000; ++i) {
    if (rate.Admit(StrCat("peer-", i), start)) ++admitted;
  }
  EXPECT_LE(admitted, 1001u);
  EXPECT_TRUE(rate.Admit("late", start + seconds(10))) << "the silent are forgotten";
}

TEST(HostOfPeer, LeavesThePortOut) {
  EXPECT_EQ(HostOfPeer("ipv4:10.0.0.1:43210"), "10.0.0.1");
  EXPECT_EQ(HostOfPeer("10.0.0.1:43210"), "10.0.0.1");
  EXPECT_EQ(HostOfPeer("10.0.0.1"), "10.0.0.1");
  EXPECT_EQ(HostOfPeer("ipv6:[::1]:80"), "[::1]");
  EXPECT_EQ(HostOfPeer("::1"), "::1");
  EXPECT_EQ(HostOfPeer("[::1]"), "[::1]");
  EXPECT_EQ(HostOfPeer("test"), "test");
  EXPECT_EQ(HostOfPeer(""), "");
}

}  // namespace
}  // namespace fairlead
