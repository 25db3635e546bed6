#include "base/hash.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

namespace fairlead {
namespace {

TEST(Hash128Test, IsTheSameInEveryProcess) {
  EXPECT_EQ(ToHex(StableHash("")), "99aa06d3014798d86001c324468d497f") << "XXH3's own value";
  EXPECT_NE(StableHash("a"), StableHash("b"));
}

TEST(Hash128Test, OfTwoDependsOnTheirOrder) {
  const Hash128 a = StableHash("a"), b = StableHash("b");
  EXPECT_NE(StableHash(a, b), StableHash(b, a));
  EXPECT_EQ(StableHash(a, b), StableHash(a, b));
}

TEST(Hash128Test, SumsCarry) {
  Hash128 sum{1, UINT64_MAX};
  sum += {2, 1};
  EXPECT_EQ(sum, (Hash128{4, 0}));
}

TEST(Hash128Test, HexGoesBothWays) {
  const Hash128 hash{0x0123456789abcdef, 0xfedcba9876543210};
  EXPECT_EQ(ToHex(hash), "0123456789abcdeffedcba9876543210");
  Hash128 read;
  ASSERT_TRUE(ParseHex(ToHex(hash), &read));
  EXPECT_EQ(read, hash);
  for (const char* text : {"", "0123456789abcdef", "0123456789abcdeffedcba987654321g", "of another server"}) {
    EXPECT_FALSE(ParseHex(text, &read)) << text;
    EXPECT_EQ(read, hash);
  }
  EXPECT_EQ(ToHex(uint64_t{0xabc}), "0000000000000abc");
}

}  // namespace
}  // namespace fairlead
