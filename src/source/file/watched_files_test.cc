#include "source/file/watched_files.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

namespace fairlead::source {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
namespace fs = std::filesystem;

class WatchedFilesTest : public testing::Test {
 protected:
  WatchedFilesTest() {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  ~WatchedFilesTest() override { fs::remove_all(folder_); }
  void Write(const fs::path& path, std::string_view text) { std::ofstream(folder_ / path) << text; }
  // How long a wait of at most that time took.
  Clock::duration WaitFor(Clock::duration most) {
    const auto start = Clock::now();
    files_.Wait(start + most);
    return Clock::now() - start;
  }

  const fs::path folder_ = fs::temp_directory_path() / "fairlead-watched-files";
  WatchedFiles files_{milliseconds(10)};
};

TEST_F(WatchedFilesTest, ADeadlineEndsTheWait) {
  files_.Watch({folder_ / "a"});
  const auto waited = WaitFor(milliseconds(300));
  EXPECT_GE(waited, milliseconds(290));
  EXPECT_LT(waited, seconds(10));
}

TEST_F(WatchedFilesTest, AFileThatComesOrChangesEndsIt) {
  files_.Watch({folder_ / "a"});
  Write("a", "1");
  EXPECT_LT(WaitFor(seconds(20)), seconds(10)) << "though it came before the wait";
  files_.Watch({folder_ / "a"});
  std::thread writer([this] {
    std::this_thread::sleep_for(milliseconds(50));
    Write("a", "2");
  });
  EXPECT_LT(WaitFor(seconds(20)), seconds(10));
  writer.join();
}

TEST_F(WatchedFilesTest, AFolderThatComesEndsIt) {
  const std::string file = folder_ / "later" / "a";
  files_.Watch({file});
  fs::create_directories(folder_ / "later");
  EXPECT_LT(WaitFor(seconds(20)), seconds(10));
  files_.Watch({file});
  Write("later/a", "1");
  EXPECT_LT(WaitFor(seconds(20)), seconds(10));
}

TEST_F(WatchedFilesTest, ALinkThatIsSwappedEndsIt) {
  fs::create_directories(folder_ / "old");
  fs::create_directories(folder_ / "new");
  fs::create_directory_symlink("old", folder_ / "..data");
  fs::create_symlink("..data/a", folder_ / "a");
  Write("old/a", "1");
  files_.Watch({folder_ / "a"});
  fs::create_directory_symlink("new", folder_ / "..data_tmp");
  fs::rename(folder_ / "..data_tmp", folder_ / "..data");
  EXPECT_LT(WaitFor(seconds(20)), seconds(10));
}

TEST_F(WatchedFilesTest, WithoutFilesOnlyAWakeEndsIt) {
  files_.Watch({folder_ / "a"});
  files_.Watch({});
  Write("a", "1");
  EXPECT_GE(WaitFor(milliseconds(200)), milliseconds(190));
  std::thread waker([this] {
    std::this_thread::sleep_for(milliseconds(50));
    files_.Wake();
  });
  files_.Wait(Clock::time_point::max());
  waker.join();
}

}  // namespace
}  // namespace fairlead::source
