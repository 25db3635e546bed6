#include "agent/own_socket.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

#include "base/strings.h"

namespace fairlead::agent {
namespace {

// With the widest umask, another user of the machine can neither speak to the socket nor put one of its own
// into its place.
TEST(OwnSocket, NobodyElseMayUseOrReplaceIt) {
  std::string pattern = testing::TempDir() + "/socketXXXXXX";
  const std::string folder = mkdtemp(pattern.data());
  const mode_t before = umask(0);
  const auto server = ServeOnOwnSocket(folder + "/a/b/XDS", {});
  umask(before);
  ASSERT_TRUE(server.ok()) << server.status();
  const auto mode = [&](const char* name) {
    struct stat found {};
    EXPECT_EQ(stat(StrCat(folder, name).c_str(), &found), 0) << name;
    return found.st_mode & 0777;
  };
  EXPECT_EQ(mode("/a"), 0755u);
  EXPECT_EQ(mode("/a/b"), 0700u);
  EXPECT_EQ(mode("/a/b/XDS"), 0600u);
  EXPECT_EQ(std::system(StrCat("rm -rf ", folder).c_str()), 0);
}

}  // namespace
}  // namespace fairlead::agent
