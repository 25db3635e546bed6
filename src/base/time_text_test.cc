#include "base/time_text.h"

#include <gtest/gtest.h>

namespace fairlead {
namespace {

TEST(ParseDurationTest, ReadsBothForms) {
  EXPECT_EQ(ParseDuration("1s"), (SecondsAndNanos{1, 0}));
  EXPECT_EQ(ParseDuration("1.000000001s"), (SecondsAndNanos{1, 1}));
  EXPECT_EQ(ParseDuration(".5s"), (SecondsAndNanos{0, 500'000'000}));
  EXPECT_EQ(ParseDuration("1.s"), (SecondsAndNanos{1, 0}));
  EXPECT_EQ(ParseDuration("1h30m5s"), (SecondsAndNanos{5405, 0}));
  EXPECT_EQ(ParseDuration("1.5h"), (SecondsAndNanos{5400, 0}));
  EXPECT_EQ(ParseDuration("100ms"), (SecondsAndNanos{0, 100'000'000}));
  EXPECT_EQ(ParseDuration("3us"), (SecondsAndNanos{0, 3000}));
  EXPECT_EQ(ParseDuration("3µs"), (SecondsAndNanos{0, 3000}));
  EXPECT_EQ(ParseDuration("7ns"), (SecondsAndNanos{0, 7}));
  EXPECT_EQ(ParseDuration("-1.5s"), (SecondsAndNanos{-1, -500'000'000}));
  EXPECT_EQ(ParseDuration("+1s"), (SecondsAndNanos{1, 0}));
  EXPECT_EQ(ParseDuration("0"), (SecondsAndNanos{0, 0}));
  EXPECT_EQ(ParseDuration("0.3333333333333333333333s"), (SecondsAndNanos{0, 333'333'333}));
}

TEST(ParseDurationTest, RefusesOtherTexts) {
  for (std::string_view text : {"", "s", "1", "1 s", "1s ", "1d", "1.2.3s", ".s", "-", "--1s", "1e3s",
                                "315576000000s", "99999999999999999999999999999999999999h"}) {
    EXPECT_EQ(ParseDuration(text), std::nullopt) << text;
  }
}

TEST(ParseTimestampTest, ReadsRfc3339) {
  EXPECT_EQ(ParseTimestamp("1970-01-01T00:00:00Z"), (SecondsAndNanos{0, 0}));
  EXPECT_EQ(ParseTimestamp("2026-01-02T03:04:05Z"), (SecondsAndNanos{1'767'323'045, 0}));
  EXPECT_EQ(ParseTimestamp("2000-02-29T23:59:59.5Z"), (SecondsAndNanos{951'868'799, 500'000'000}));
  EXPECT_EQ(ParseTimestamp("2026-01-02T05:04:05+02:00"), (SecondsAndNanos{1'767'323'045, 0}));
  EXPECT_EQ(ParseTimestamp("2026-01-01T23:34:05-03:30"), (SecondsAndNanos{1'767'323'045, 0}));
  EXPECT_EQ(ParseTimestamp("1969-12-31T23:59:59Z"), (SecondsAndNanos{-1, 0}));
  EXPECT_EQ(ParseTimestamp("0001-01-01T00:00:00Z"), (SecondsAndNanos{-62'135'596'800, 0}));
  EXPECT_EQ(ParseTimestamp("9999-12-31T23:59:59Z"), (SecondsAndNanos{253'402'300'799, 0}));
}

TEST(ParseTimestampTest, RefusesOtherTexts) {
  for (std::string_view text :
       {"", "2026-01-02", "2026-01-02T03:04:05", "2026-01-02 03:04:05Z", "2026-13-02T03:04:05Z",
        "2026-02-29T03:04:05Z", "2026-01-02T24:04:05Z", "2026-01-02T03:60:05Z", "2026-01-02T03:04:60Z",
        "2026-01-02T03:04:05.Z", "2026-01-02T03:04:05Zx", "2026-01-02T03:04:05+2:00", "0000-01-02T03:04:05Z",
        "2026-1-2T03:04:05Z"}) {
    EXPECT_EQ(ParseTimestamp(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace fairlead
