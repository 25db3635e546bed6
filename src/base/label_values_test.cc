#include "base/label_values.h"

#include <gtest/gtest.h>

namespace fairlead::metrics {
namespace {

TEST(LabelValues, AreOtherBeyondTheMost) {
  LabelValues values(2, 10);
  EXPECT_EQ(values.Of("a"), "a");
  EXPECT_EQ(values.Of("b"), "b");
  EXPECT_EQ(values.Of("c"), "other");
  EXPECT_EQ(values.Of("a"), "a");
}

TEST(LabelValues, AreShortAndValid) {
  LabelValues values(100, 5);
  EXPECT_EQ(values.Of("123456"), "12345");
  EXPECT_EQ(values.Of("abc\xC3\xA9\xC3\xA9"), "abc\xC3\xA9") << "cut between characters";
  EXPECT_EQ(values.Of("a\xff\xC3z"), "a??z");
  EXPECT_EQ(values.Of("\xC0\x80"), "??") << "overlong";
  EXPECT_EQ(values.Of("\xED\xA0\x80"), "???") << "half of a surrogate pair";
  EXPECT_EQ(values.Of("\xF0\x9F\x98\x80"), "\xF0\x9F\x98\x80");
  EXPECT_EQ(values.Of("\xF4\x90\x80\x80"), "????") << "beyond Unicode";
}

}  // namespace
}  // namespace fairlead::metrics
