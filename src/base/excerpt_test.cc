#include "base/excerpt.h"

#include <gtest/gtest.h>

namespace fairlead {
namespace {

TEST(Excerpt, LongTextsAreCutBetweenCharacters) {
  EXPECT_EQ(Excerpt("short"), "short");
  EXPECT_EQ(Excerpt(std::string(4'000'000, 'a'), 3), "aaa… (4000000 bytes)");
  EXPECT_EQ(Excerpt("aä", 2), "a… (3 bytes)");
  EXPECT_EQ(Excerpt("a\xff"), "a?");
  EXPECT_LT(Excerpt(std::string(4'000'000, 'a')).size(), 1100u);
}

TEST(OnOneLine, WhatTerminalsActOnIsEscaped) {
  EXPECT_EQ(OnOneLine("plain \"text\" \\d+"), "plain \"text\" \\d+");
  EXPECT_EQ(OnOneLine("a\n2026\terror\r"), "a\\n2026\\terror\\r");
  EXPECT_EQ(OnOneLine("\x1b[2J\x7f" + std::string(1, '\0')), "\\x1b[2J\\x7f\\x00");
  EXPECT_EQ(OnOneLine("\xc2\x9b[2J"), "\\u009b[2J") << "the same by one character of eight bits";
  EXPECT_EQ(OnOneLine("a\xe2\x80\xaez\xe2\x80\xa8"), "a\\u202ez\\u2028");
  EXPECT_EQ(OnOneLine("ä€😀"), "ä€😀");
  EXPECT_EQ(OnOneLine("\xff\xed\xa0\x80"), "????");
}

}  // namespace
}  // namespace fairlead
