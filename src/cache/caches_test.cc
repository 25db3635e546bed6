#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>

#include "cache/byte_cache.h"
#include "cache/own_count.h"
#include "cache/recorded.h"

namespace fairlead::cache {
namespace {

struct NoReads {
  bool Hold(int /*world*/) const { return true; }
};

// As the generators have them: one by what is asked for, above one by what it is made from.
class TwoCachesTest : public testing::Test {
 protected:
  std::shared_ptr<const std::string> Ask() {
    const auto build = [](int) { return std::make_shared<const std::string>("made"); };
    const auto make = [&](int, const auto&) -> Recorded<std::string, NoReads> {
      return {WithOwnCount(below_.GetOrBuild(1, build)), std::make_shared<NoReads>()};
    };
    return above_.Get(1, /*world=*/0, make).value;
  }
  void LetTimePass() {
    for (int i = 0; i < 3; ++i) {
      now_ += std::chrono::minutes(1);
      above_.Sweep(now_);
      below_.Sweep(now_);
    }
  }

  Clock::time_point now_ = Clock::now();
  RecordedCache<int, std::string, NoReads> above_;
  ByteCache<int, std::string> below_;
};

TEST_F(TwoCachesTest, WhatSomebodyHasIsKept) {
  const auto held = Ask();
  LetTimePass();
  EXPECT_EQ(Ask(), held);
  EXPECT_EQ(*held, "made");
}

TEST_F(TwoCachesTest, WhatNobodyHasIsForgottenByBoth) {
  Ask();
  LetTimePass();
  EXPECT_EQ(above_.size(), 0u);
  EXPECT_EQ(below_.size(), 0u);
}

}  // namespace
}  // namespace fairlead::cache
