#include "cache/memo.h"

#include <gtest/gtest.h>

#include <string>

namespace fairlead::cache {
namespace {

class MemoTest : public ::testing::Test {
 protected:
  std::shared_ptr<const std::string> Get(int key, uint64_t stamp) {
    return memo_.Get(key, stamp, [this](int k) {
      ++computed_;
      return std::to_string(k);
    });
  }
  Memo<int, std::string> memo_;
  int computed_ = 0;
};

TEST_F(MemoTest, ComputesOncePerStamp) {
  const auto first = Get(7, 1);
  EXPECT_EQ(*first, "7");
  EXPECT_EQ(Get(7, 1), first);
  EXPECT_EQ(*Get(8, 1), "8");
  EXPECT_EQ(computed_, 2);
  EXPECT_NE(Get(7, 2), first);
  EXPECT_EQ(computed_, 3);
  EXPECT_EQ(*first, "7");  // whoever holds it keeps it
  EXPECT_EQ(memo_.size(), 2u);
}

TEST_F(MemoTest, ForgetsWhatNobodyAsksFor) {
  const auto kept = Get(1, 1);
  Get(2, 1);
  for (int i = 0; i < 20; ++i) {
    memo_.Sweep();
    EXPECT_EQ(Get(1, 1), kept);
  }
  EXPECT_EQ(memo_.size(), 1u);
}

}  // namespace
}  // namespace fairlead::cache
