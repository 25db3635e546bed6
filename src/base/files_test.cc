#include "base/files.h"

#include <dirent.h>
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>

#include "base/strings.h"

namespace {
// How many entries can be read before the folder breaks; below 0: all.
int readable_entries = -1;
}  // namespace

// In place of the C library's: a folder that cannot be read to its end.
extern "C" dirent* readdir(DIR* folder) {
  static const auto real = reinterpret_cast<dirent* (*)(DIR*)>(dlsym(RTLD_NEXT, "readdir"));
  if (readable_entries == 0) {
    errno = EIO;
    return nullptr;
  }
  if (readable_entries > 0) --readable_entries;
  return real(folder);
}

namespace fairlead {
namespace {

class Files : public testing::Test {
 protected:
  Files() {
    std::string pattern = testing::TempDir() + "/filesXXXXXX";
    folder_ = mkdtemp(pattern.data());
  }
  std::string Path(std::string_view name) const { return StrCat(folder_, "/", name); }
  void Write(std::string_view name) const { std::ofstream(Path(name)) << name; }

  std::string folder_;
};

TEST_F(Files, AreListedInOrder) {
  for (const char* name : {"b", "a", ".c"}) Write(name);
  const auto names = ListFolder(folder_);
  ASSERT_TRUE(names.ok());
  EXPECT_THAT(*names, testing::ElementsAre(".c", "a", "b"));
}

TEST_F(Files, AFolderThatCannotBeReadToItsEndIsAStatus) {
  for (const char* name : {"a", "b", "c", "d"}) Write(name);
  readable_entries = 4;
  const auto names = ListFolder(folder_);
  readable_entries = -1;
  ASSERT_FALSE(names.ok());
  EXPECT_EQ(FromAbsl(names.status().message()),
            StrCat("cannot read the folder ", folder_, ": Input/output error"));
}

TEST_F(Files, WhatIsNotThereIsAStatus) {
  EXPECT_EQ(ListFolder(Path("none")).status().code(), absl::StatusCode::kNotFound);
  EXPECT_FALSE(IsFolder(Path("none")));
  EXPECT_TRUE(IsFolder(folder_));
  EXPECT_EQ(RenameFile(Path("none"), Path("other")).code(), absl::StatusCode::kNotFound);
  EXPECT_TRUE(RemoveFile(Path("none")).ok());
}

TEST_F(Files, FoldersAreCreatedWhereTheyCan) {
  EXPECT_TRUE(CreateFolders(Path("x/y")).ok());
  EXPECT_TRUE(CreateFolders(Path("x/y")).ok());
  Write("file");
  EXPECT_FALSE(CreateFolders(Path("file/y")).ok());
}

// A careless umask opens nothing to others.
TEST_F(Files, NobodyElseMayWriteToFoldersThatAreMade) {
  const mode_t before = umask(0);
  EXPECT_TRUE(CreateFolders(Path("open/x")).ok());
  EXPECT_TRUE(CreatePrivateFolder(Path("p/q/")).ok());
  EXPECT_TRUE(CreatePrivateFolder(Path("open")).ok()) << "it is there";
  umask(before);
  const auto mode = [this](const char* name) {
    struct stat found {};
    EXPECT_EQ(stat(Path(name).c_str(), &found), 0) << name;
    return found.st_mode & 0777;
  };
  EXPECT_EQ(mode("open"), 0755u);
  EXPECT_EQ(mode("open/x"), 0755u);
  EXPECT_EQ(mode("p"), 0755u);
  EXPECT_EQ(mode("p/q"), 0700u);
}

TEST_F(Files, AbsolutePathsAreNormal) {
  EXPECT_EQ(AbsolutePath("/a/./b/../c/"), "/a/c");
  EXPECT_EQ(AbsolutePath("/"), "/");
  EXPECT_TRUE(AbsolutePath("x").ends_with("/x"));
}

}  // namespace
}  // namespace fairlead
