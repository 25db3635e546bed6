#include "fetch/one_at_a_time.h"

#include <gtest/gtest.h>

namespace fairlead::fetch {
namespace {

TEST(OneAtATime, OneAtATimeInEachPlace) {
  OneAtATime turns;
  EXPECT_TRUE(turns.Take(1, 10));
  EXPECT_FALSE(turns.Take(1, 11));
  EXPECT_FALSE(turns.Take(1, 12));
  EXPECT_TRUE(turns.Take(2, 20));
  EXPECT_EQ(turns.Leave(12), std::nullopt) << "it was not its turn";
  EXPECT_EQ(turns.Leave(10), 11u);
  EXPECT_EQ(turns.Leave(10), std::nullopt) << "once";
  EXPECT_FALSE(turns.Take(1, 13));
  EXPECT_EQ(turns.Leave(11), 13u);
  EXPECT_EQ(turns.Leave(13), std::nullopt);
  EXPECT_EQ(turns.Leave(20), std::nullopt);
  EXPECT_TRUE(turns.empty());
  EXPECT_TRUE(turns.Take(1, 14));
}

}  // namespace
}  // namespace fairlead::fetch
