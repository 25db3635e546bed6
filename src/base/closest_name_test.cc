#include "base/closest_name.h"

#include <gtest/gtest.h>

namespace fairlead {
namespace {

TEST(ClosestName, IsWhatWasMeant) {
  const std::vector<std::string> flags = {"--configDir", "--meshConfig", "--domain", "--httpAddr",
                                          "--httpsAddr"};
  EXPECT_EQ(ClosestName("--confgDir", flags), "--configDir");
  EXPECT_EQ(ClosestName("--configdir", flags), "--configDir");
  EXPECT_EQ(ClosestName("--doamin", flags), "--domain");
  EXPECT_EQ(ClosestName("--httpsAdr", flags), "--httpsAddr");
  EXPECT_EQ(ClosestName("--colour", flags), "");
  EXPECT_EQ(ClosestName("", flags), "");
  EXPECT_EQ(ClosestName(std::string(1000, 'a'), flags), "");
}

}  // namespace
}  // namespace fairlead
