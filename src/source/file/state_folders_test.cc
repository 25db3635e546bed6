#include "source/file/state_folders.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "base/strings.h"
#include "source/file/last_good.h"
#include "source/file/source_fake.h"

namespace fairlead::source {
namespace {

using std::chrono::hours;
using std::chrono::seconds;

class StateFoldersTest : public ::testing::Test {
 protected:
  // A state for a folder of manifests, as a process leaves it; last written an hour ago.
  std::string Leave(const std::string& folder, bool noted = true) {
    const std::string path = root_ / StateFolderOf(folder);
    auto kept = LastGood::Open(path);
    (*kept)->Put({folder + "/deep/a.yaml", {}, {{"Namespace a", 1, 1, "{}"}}});
    kept->reset();
    if (noted) NoteFolder(path, folder);
    Age(path);
    return path;
  }
  static void Age(const std::string& path) {
    const auto then = std::filesystem::file_time_type::clock::now() - hours(1);
    for (const auto& entry : std::filesystem::directory_iterator(path))
      std::filesystem::last_write_time(entry.path(), then);
    std::filesystem::last_write_time(path, then);
  }
  void Sweep(seconds age = seconds(60)) {
    RemoveAbandonedStates(root_.path(), StateFolderOf("/the/own"), age);
  }
  static bool IsThere(const std::string& path) { return std::filesystem::exists(path); }

  TestFolder root_;
};

TEST_F(StateFoldersTest, OfAFolderThatIsGoneItIsRemoved) {
  const std::string noted = Leave("/no/such/mesh"), old = Leave("/no/such/other", false);
  Sweep();
  EXPECT_FALSE(IsThere(noted));
  EXPECT_FALSE(IsThere(old));
}

TEST_F(StateFoldersTest, OneThatNeverKeptAnythingIsRemoved) {
  root_.Write("0123456789abcdef/lock", "");
  Age(root_ / "0123456789abcdef");
  Sweep();
  EXPECT_FALSE(IsThere(root_ / "0123456789abcdef"));
}

TEST_F(StateFoldersTest, EverythingElseStays) {
  const TestFolder mesh;
  const std::string live = Leave(mesh.path()), own = Leave("/the/own"), used = Leave("/no/such/a"),
                    strange = Leave("/no/such/b"), linked = Leave("/no/such/c");
  const auto open = LastGood::Open(used);
  root_.Write(StrCat(StateFolderOf("/no/such/b"), "/precious"), "x");
  Age(used);
  Age(strange);
  root_.Write("notes/lock", "");
  root_.Write("fedcba9876543210/lock/x", "");
  root_.Write("0123456789abcdef/deadbeef.good", "of another format");
  Age(root_ / "0123456789abcdef");
  std::filesystem::rename(linked, root_ / "elsewhere");
  root_.Link("elsewhere", StateFolderOf("/no/such/c"));
  Sweep();
  for (const std::string& path :
       {live, own, used, strange, linked, root_ / "notes", root_ / "fedcba9876543210",
        root_ / "elsewhere/lock", root_ / "0123456789abcdef"})
    EXPECT_TRUE(IsThere(path)) << path;
}

TEST_F(StateFoldersTest, OneThatWasUsedNotLongAgoStays) {
  const std::string path = Leave("/no/such/mesh");
  Sweep(hours(2));
  EXPECT_TRUE(IsThere(path));
  Sweep(hours(1) - seconds(5));
  EXPECT_FALSE(IsThere(path));
}

}  // namespace
}  // namespace fairlead::source
