#include "gen/resource/warn_once.h"

#include <gtest/gtest.h>

#include "base/strings.h"

namespace fairlead::gen {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

TEST(WrittenLines, ALineIsNewsOnceWhileItIsFoundAgain) {
  WrittenLines lines;
  Clock::time_point now = Clock::now();
  EXPECT_TRUE(lines.IsNews("a", now));
  for (int i = 0; i < 10; ++i) EXPECT_FALSE(lines.IsNews("a", now += minutes(50)));
  EXPECT_TRUE(lines.IsNews("a", now + minutes(61))) << "it was gone for an hour";
}

// However many there were: what is new months later is still told.
TEST(WrittenLines, NewOnesAreToldAfterManyOthers) {
  WrittenLines lines(100);
  Clock::time_point now = Clock::now();
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(lines.IsNews(StrCat(i), now));
  EXPECT_FALSE(lines.IsNews("flood", now)) << "a hundred at once";
  EXPECT_TRUE(lines.IsNews("flood", now += seconds(1))) << "and one a second";
  EXPECT_FALSE(lines.IsNews("99", now)) << "it is known";
  for (int i = 0; i < 1000; ++i) EXPECT_TRUE(lines.IsNews(StrCat("new ", i), now += seconds(1)));
}

}  // namespace
}  // namespace fairlead::gen
