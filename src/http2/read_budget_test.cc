#include "http2/read_budget.h"

#include <gmock/gmock.h>

namespace fairlead::http2 {
namespace {

using std::chrono::milliseconds;

struct TestReader : ReadBudget::Reader {
  void OnAdmitted() override { ++admitted; }
  int admitted = 0;
};

class ReadBudgetTest : public testing::Test {
 protected:
  Clock::time_point now_{std::chrono::hours(1)};
  ReadBudget budget_{100, milliseconds(500)};
  TestReader a_, b_, c_;
};

TEST_F(ReadBudgetTest, AdmitsInOrderAsThereIsRoom) {
  EXPECT_TRUE(budget_.Claim(&a_, 60, now_));
  EXPECT_FALSE(budget_.Claim(&b_, 60, now_));
  EXPECT_FALSE(budget_.Claim(&c_, 10, now_)) << "there would be room, but another was first";
  EXPECT_EQ(budget_.Admit(now_), now_ + milliseconds(500));
  EXPECT_EQ(b_.admitted, 0);
  budget_.Release(&a_);
  EXPECT_EQ(budget_.Admit(now_), Clock::time_point::max());
  EXPECT_EQ(b_.admitted, 1);
  EXPECT_EQ(c_.admitted, 1);
}

TEST_F(ReadBudgetTest, OneIsAlwaysAdmitted) {
  EXPECT_TRUE(budget_.Claim(&a_, 1000, now_));
  EXPECT_FALSE(budget_.Claim(&b_, 1000, now_));
  budget_.Release(&a_);
  budget_.Admit(now_);
  EXPECT_EQ(b_.admitted, 1);
}

TEST_F(ReadBudgetTest, PatienceEnds) {
  EXPECT_TRUE(budget_.Claim(&a_, 100, now_));
  EXPECT_FALSE(budget_.Claim(&b_, 50, now_));
  EXPECT_FALSE(budget_.Claim(&c_, 50, now_ + milliseconds(1)));
  EXPECT_EQ(budget_.Admit(now_ + milliseconds(500)), now_ + milliseconds(501));
  EXPECT_EQ(b_.admitted, 1);
  EXPECT_EQ(c_.admitted, 0);
}

TEST_F(ReadBudgetTest, WhoGoesWhileItWaitsIsNotAdmitted) {
  EXPECT_TRUE(budget_.Claim(&a_, 100, now_));
  EXPECT_FALSE(budget_.Claim(&b_, 50, now_));
  EXPECT_FALSE(budget_.Claim(&c_, 50, now_));
  budget_.Release(&b_);
  budget_.Release(&a_);
  budget_.Admit(now_);
  EXPECT_EQ(b_.admitted, 0);
  EXPECT_EQ(c_.admitted, 1);
  EXPECT_TRUE(budget_.Claims(c_));
  EXPECT_FALSE(budget_.Claims(b_));
}

}  // namespace
}  // namespace fairlead::http2
