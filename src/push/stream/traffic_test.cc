#include "push/stream/traffic.h"

#include <gtest/gtest.h>

namespace fairlead::push {
namespace {

constexpr auto kPatience = std::chrono::seconds(5);
constexpr size_t kSize = 1000;
const Clock::time_point kStart{std::chrono::hours(1)};

TEST(TrafficTest, AProxyIsAtFaultOnceTheOthersTookTheirShare) {
  Traffic traffic;
  for (int i = 0; i < 9; ++i) traffic.Begin();
  const Traffic::Start slow = traffic.Begin();
  for (int i = 0; i < 9; ++i) traffic.End(kSize, true, kStart);
  EXPECT_FALSE(traffic.AtFault(slow, kSize, kStart, kPatience)) << "nine of ten shares of this size";
  traffic.Begin();
  traffic.End(kSize, true, kStart);
  EXPECT_TRUE(traffic.AtFault(slow, kSize, kStart, kPatience));
}

TEST(TrafficTest, AProxyIsAtFaultWhereNobodyTakesAnything) {
  Traffic traffic;
  for (int i = 0; i < 9; ++i) traffic.Begin();
  const Traffic::Start slow = traffic.Begin();
  traffic.End(kSize, true, kStart);
  traffic.End(kSize, false, kStart + kPatience / 2);  // given up
  EXPECT_FALSE(traffic.AtFault(slow, kSize, kStart + kPatience / 2, kPatience));
  EXPECT_TRUE(traffic.AtFault(slow, kSize, kStart + kPatience, kPatience));
}

}  // namespace
}  // namespace fairlead::push
