#include "base/percent.h"

#include <gtest/gtest.h>

#include "base/go_bool.h"

namespace fairlead {
namespace {

TEST(GoBool, TakesGosSpellingsAlone) {
  for (const char* yes : {"1", "t", "T", "TRUE", "true", "True"}) EXPECT_EQ(ParseGoBool(yes), true) << yes;
  for (const char* no : {"0", "f", "F", "FALSE", "false", "False"}) EXPECT_EQ(ParseGoBool(no), false) << no;
  for (const char* other : {"", "yes", "tRUE", " true", "2"})
    EXPECT_EQ(ParseGoBool(other), std::nullopt) << other;
}

TEST(Percent, KeepsWhatIsUnreserved) {
  EXPECT_EQ(PercentEncoded("aZ09-._~"), "aZ09-._~");
  EXPECT_EQ(PercentEncoded("a=b,c/\xff %:"), "a%3Db%2Cc%2F%FF%20%25%3A");
  EXPECT_EQ(PercentEncoded("system:x.y", ":"), "system:x%2Ey");
}

}  // namespace
}  // namespace fairlead
