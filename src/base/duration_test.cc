#include "base/duration.h"

#include <gtest/gtest.h>

namespace fairlead {
namespace {

using std::chrono::nanoseconds;
using namespace std::chrono_literals;

TEST(GoDuration, ReadsWhatGoWrites) {
  EXPECT_EQ(ParseGoDuration("10s"), nanoseconds(10s));
  EXPECT_EQ(ParseGoDuration("1m30s"), nanoseconds(90s));
  EXPECT_EQ(ParseGoDuration("100ms"), nanoseconds(100ms));
  EXPECT_EQ(ParseGoDuration("1.5h"), nanoseconds(90min));
  EXPECT_EQ(ParseGoDuration("2us3ns"), nanoseconds(2003));
  EXPECT_EQ(ParseGoDuration("5µs"), nanoseconds(5000));
  EXPECT_EQ(ParseGoDuration("0"), nanoseconds(0));
  EXPECT_EQ(ParseGoDuration("-1s"), nanoseconds(-1s));
  EXPECT_EQ(ParseGoDuration("+0"), nanoseconds(0));
  EXPECT_EQ(ParseGoDuration(".5s"), nanoseconds(500ms));
  EXPECT_EQ(ParseGoDuration("1.s"), nanoseconds(1s));
  EXPECT_EQ(ParseGoDuration("1h2m3s4ms5us6ns"), nanoseconds(3'723'004'005'006));
  EXPECT_EQ(ParseGoDuration("0.3333333333333333333333s"), nanoseconds(333'333'333));
  EXPECT_EQ(ParseGoDuration("9223372036854775807ns"), nanoseconds(INT64_MAX));
}

TEST(GoDuration, RefusesWhatGoRefuses) {
  for (const char* text : {"", "10", "s", "1x", "1s2", "nan s", "--1s", "1 s", "1e3s", "infs", "300000000h",
                           "-", ".s", "9223372036854775808ns"}) {
    EXPECT_EQ(ParseGoDuration(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace fairlead
