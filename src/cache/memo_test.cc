#include "cache/memo.h"

#include <gtest/gtest.h>

#include <string>

namespace fairlead::cache {
namespace {

TEST(Memo, ComputesOnceUntilCleared) {
  Memo<int, std::string> memo;
  int computed = 0;
  const auto value = [&](int key) {
    ++computed;
    return std::to_string(key);
  };
  const auto first = memo.Get(7, value);
  EXPECT_EQ(*first, "7");
  EXPECT_EQ(memo.Get(7, value), first);
  EXPECT_EQ(*memo.Get(8, value), "8");
  EXPECT_EQ(computed, 2);
  memo.Clear();
  EXPECT_EQ(memo.size(), 0u);
  EXPECT_EQ(*first, "7");  // whoever holds it keeps it
  memo.Get(7, value);
  EXPECT_EQ(computed, 3);
}

}  // namespace
}  // namespace fairlead::cache
