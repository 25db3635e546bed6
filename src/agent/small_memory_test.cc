#include "agent/small_memory.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "base/json.h"

namespace fairlead::agent {
namespace {

// Pages of files that are resident.
size_t FilePages() {
  size_t all = 0, resident = 0, of_files = 0;
  std::ifstream("/proc/self/statm") >> all >> resident >> of_files;
  return of_files;
}

TEST(ReleaseStartPages, LetsGoOfPagesAndTheProgramGoesOn) {
  EXPECT_TRUE(ParseJson(R"({"a": 1})"));
  const size_t before = FilePages();
  ReleaseStartPages();
  EXPECT_LT(FilePages(), before / 2);
  EXPECT_TRUE(ParseJson(R"({"a": 1})")) << "its pages are read again";
  try {
    throw 1;  // which needs tables of all libraries
  } catch (int thrown) {
    EXPECT_EQ(thrown, 1);
  }
}

}  // namespace
}  // namespace fairlead::agent
