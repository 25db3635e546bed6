#include "source/file/folder_watcher.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <string>
#include <vector>

#include "source/file/source_fake.h"

namespace fairlead::source {
namespace {

WatchOptions Everything(const TestFolder& folder) {
  WatchOptions options;
  options.folder = folder.path();
  options.wants = [](std::string_view) { return true; };
  options.poll_interval = std::chrono::milliseconds(20);
  return options;
}

std::vector<std::string> Paths(const FolderChanges& changes) {
  std::vector<std::string> paths;
  paths.reserve(changes.files.size());
  for (const FileChange& change : changes.files) paths.push_back(change.path);
  return paths;
}

// For as long as it lives no file can be opened.
class NoMoreFiles {
 public:
  NoMoreFiles() {
    getrlimit(RLIMIT_NOFILE, &before_);
    const rlimit none{0, before_.rlim_max};
    setrlimit(RLIMIT_NOFILE, &none);
  }
  ~NoMoreFiles() { setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_;
};

TEST(FolderWatcherTest, ListsTheFolderWhereItCannotBeWatched) {
  const TestFolder folder;
  folder.Write("a", "1");
  FolderWatcher watcher(Everything(folder));
  {
    const NoMoreFiles none;
    ASSERT_TRUE(watcher.Open().ok());
  }
  const FolderChanges first = watcher.Next();
  EXPECT_EQ(Paths(first), std::vector<std::string>{folder / "a"});
  ASSERT_EQ(first.problems.size(), 1u);
  EXPECT_TRUE(first.problems[0].warning);
  EXPECT_NE(first.problems[0].message.find("listed every 20 ms instead of being watched"), std::string::npos);
  folder.Write("b", "1");
  EXPECT_EQ(Paths(watcher.Next()), std::vector<std::string>{folder / "b"});
}

TEST(FolderWatcherTest, StopsForGood) {
  const TestFolder folder;
  FolderWatcher watcher(Everything(folder));
  ASSERT_TRUE(watcher.Open().ok());
  EXPECT_FALSE(watcher.Next().stopped);
  watcher.Stop();
  EXPECT_TRUE(watcher.Next().stopped);
  EXPECT_TRUE(watcher.Next().stopped);
}

TEST(FolderWatcherTest, ChangesOfOneStrokeComeTogether) {
  const TestFolder folder;
  FolderWatcher watcher(Everything(folder));
  ASSERT_TRUE(watcher.Open().ok());
  watcher.Next();
  for (const char* name : {"a", "b", "c"}) folder.Write(name, "1");
  EXPECT_EQ(Paths(watcher.Next()), (std::vector<std::string>{folder / "a", folder / "b", folder / "c"}));
}

TEST(FolderWatcherTest, AFolderThatCannotBeListedKeepsItsFiles) {
  const TestFolder folder;
  folder.Write("x/a", "1");
  folder.Write("b", "1");
  FolderWatcher watcher(Everything(folder));
  ASSERT_TRUE(watcher.Open().ok());
  EXPECT_EQ(watcher.Next().files.size(), 2u);
  folder.Remove("x");
  folder.Link("/proc/self/nothing", "x");  // leads nowhere
  const FolderChanges changes = watcher.Next();
  EXPECT_TRUE(changes.files.empty());
  ASSERT_EQ(changes.problems.size(), 1u);
  EXPECT_EQ(changes.problems[0].path, folder / "x");
}

// The first changes with a file, or the last before the time is over.
FolderChanges NextFile(FolderWatcher& watcher) {
  const auto deadline = Clock::now() + std::chrono::seconds(10);
  FolderChanges changes;
  while (!changes.timed_out && changes.files.empty()) changes = watcher.Next(deadline);
  return changes;
}

TEST(FolderWatcherTest, WhatTakesAFilesPlaceIsSeenAtOnce) {
  const TestFolder folder;
  folder.Write("a", "1");
  WatchOptions options = Everything(folder);
  options.recursive = false;
  options.safety_rescan = std::chrono::hours(1);
  FolderWatcher watcher(options);
  ASSERT_TRUE(watcher.Open().ok());
  watcher.Next();
  folder.Remove("a");
  folder.Link("/proc/self/nothing", "a");
  EXPECT_EQ(NextFile(watcher).problems.size(), 1u);
  folder.Replace("a", "2");
  EXPECT_EQ(NextFile(watcher).problems.size(), 0u) << "it is mended";
  folder.Remove("a");
  folder.Write("a/readme", "a folder");
  EXPECT_EQ(Paths(NextFile(watcher)), std::vector<std::string>{folder / "a"});
  folder.Remove("a");
  const FolderChanges last = NextFile(watcher);
  ASSERT_EQ(last.files.size(), 1u);
  EXPECT_EQ(last.files[0].kind, FileChange::Kind::kGone);
}

TEST(PathTest, HasAParentAndAName) {
  EXPECT_EQ(ParentOf("/a/b"), "/a");
  EXPECT_EQ(ParentOf("/a/b/"), "/a");
  EXPECT_EQ(ParentOf("/a"), "/");
  EXPECT_EQ(ParentOf("a"), ".");
  EXPECT_EQ(ParentOf("/"), "/");
  EXPECT_EQ(BaseName("/a/b/"), "b");
  EXPECT_EQ(BaseName("a"), "a");
}

}  // namespace
}  // namespace fairlead::source
