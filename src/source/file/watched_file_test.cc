#include "source/file/watched_file.h"

#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>
#include <string>
#include <vector>

#include "source/file/source_fake.h"

namespace fairlead::source {
namespace {

class WatchedFileTest : public ::testing::Test {
 protected:
  WatchedFile::Callback Record() {
    return [this](absl::StatusOr<std::string> text) {
      std::lock_guard lock(mutex_);
      told_.push_back(text.ok() ? *text : "error");
      changed_.notify_all();
    };
  }
  bool WaitForLast(const std::string& text) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(10),
                             [&] { return !told_.empty() && told_.back() == text; });
  }
  size_t calls() {
    std::lock_guard lock(mutex_);
    return told_.size();
  }

  TestFolder folder_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> told_;
};

TEST_F(WatchedFileTest, TellsTheTextAndItsChanges) {
  folder_.Write("mesh.yaml", "a");
  folder_.Write("other.yaml", "x");
  WatchedFile file(folder_ / "mesh.yaml", Record());
  ASSERT_TRUE(file.Start().ok());
  EXPECT_EQ(told_, std::vector<std::string>{"a"});
  folder_.Replace("mesh.yaml", "b");
  EXPECT_TRUE(WaitForLast("b"));
  folder_.Write("other.yaml", "y");
  folder_.Replace("mesh.yaml", "b");
  folder_.Write("mesh.yaml", "c");
  EXPECT_TRUE(WaitForLast("c"));
  EXPECT_EQ(calls(), 3u);
  folder_.Remove("mesh.yaml");
  EXPECT_TRUE(WaitForLast("error"));
  folder_.Write("mesh.yaml", "d");
  EXPECT_TRUE(WaitForLast("d"));
}

TEST_F(WatchedFileTest, TheFileMayComeLater) {
  WatchedFile file(folder_ / "mesh.yaml", Record());
  ASSERT_TRUE(file.Start().ok());
  EXPECT_EQ(told_, std::vector<std::string>{"error"});
  folder_.Write("mesh.yaml", "a");
  EXPECT_TRUE(WaitForLast("a"));
}

TEST_F(WatchedFileTest, FollowsAConfigMapVolume) {
  folder_.Write("..1/mesh", "a");
  folder_.Link("..1", "..data");
  folder_.Link("..data/mesh", "mesh");
  WatchedFile file(folder_ / "mesh", Record());
  ASSERT_TRUE(file.Start().ok());
  folder_.Write("..2/mesh", "b");
  folder_.Link("..2", "..data_tmp");
  folder_.Rename("..data_tmp", "..data");
  folder_.Remove("..1");
  EXPECT_TRUE(WaitForLast("b"));
}

TEST_F(WatchedFileTest, NoFolderIsAnError) {
  WatchedFile file(folder_ / "none/mesh.yaml", Record());
  EXPECT_TRUE(absl::IsNotFound(file.Start()));
}

}  // namespace
}  // namespace fairlead::source
