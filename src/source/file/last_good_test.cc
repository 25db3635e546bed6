#include "source/file/last_good.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "base/files.h"
#include "base/strings.h"
#include "source/file/file_source.h"
#include "source/file/read_file.h"
#include "source/file/source_fake.h"

namespace fairlead::source {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class LastGoodTest : public ::testing::Test {
 protected:
  std::unique_ptr<LastGood> Open() const {
    auto kept = LastGood::Open(state_ / "one");
    EXPECT_TRUE(kept.ok()) << kept.status();
    return kept.ok() ? *std::move(kept) : nullptr;
  }
  // A process: starts on the folder, does something, and ends.
  void Run(const std::function<void(RecordingSink&)>& act) {
    const std::unique_ptr<LastGood> kept = Open();
    RecordingSink sink;
    FileSource::Options options;
    options.folder = folder_.path();
    options.threads = 2;
    options.kept = kept.get();
    FileSource source(options);
    ASSERT_TRUE(source.Start(&sink).ok());
    ASSERT_TRUE(sink.WaitForSync());
    act(sink);
    source.Stop();
    kept->Flush();
  }
  std::vector<std::string> Kept() const {
    std::vector<std::string> names;
    const absl::StatusOr<std::vector<std::string>> all = ListFolder(state_ / "one");
    for (const std::string& name : *all) {
      if (name != "lock") names.push_back(state_ / ("one/" + name));
    }
    return names;
  }

  TestFolder folder_, state_;
};

std::string Broken(std::string_view name) { return ReplaceAll(NamespaceText(name, "9"), "labels", "lables"); }

TEST_F(LastGoodTest, WhatIsBrokenAtTheStartIsServedAsItWasGood) {
  folder_.Write("a.yaml", NamespaceText("a", "1") + NamespaceText("b", "1"));
  folder_.Write("c.yaml", NamespaceText("c", "1"));
  Run([&](RecordingSink& sink) { EXPECT_EQ(sink.Objects(), "a=1 b=1 c=1"); });
  folder_.Replace("a.yaml", NamespaceText("a", "2") + Broken("b"));
  folder_.Replace("c.yaml", "x: [");
  for (int start = 0; start < 2; ++start) {
    Run([&](RecordingSink& sink) {
      EXPECT_EQ(sink.Objects(), "a=2 b=1 c=1");
      EXPECT_EQ(sink.Find("b")->origin().file, folder_ / "a.yaml");
      EXPECT_EQ(sink.Find("b")->origin().line, 8);
      EXPECT_TRUE(sink.WaitForDiagnostic("a.yaml:12: warning: Namespace b: serving the version of 20"));
      EXPECT_TRUE(sink.WaitForDiagnostic("warning: Namespace c: serving the version of 20"));
    });
  }
  folder_.Replace("a.yaml", Broken("a") + Broken("b"));
  Run([&](RecordingSink& sink) { EXPECT_EQ(sink.Objects(), "a=2 b=1 c=1"); });
}

TEST_F(LastGoodTest, WhatIsRemovedIsGone) {
  folder_.Write("a.yaml", NamespaceText("a", "1") + NamespaceText("b", "1"));
  folder_.Write("c.yaml", NamespaceText("c", "1"));
  folder_.Write("d.yaml", NamespaceText("d", "1"));
  Run([&](RecordingSink& sink) {
    folder_.Remove("d.yaml");
    EXPECT_TRUE(sink.WaitForObjects("a=1 b=1 c=1"));
  });
  folder_.Remove("c.yaml");
  folder_.Replace("a.yaml", Broken("b"));
  Run([&](RecordingSink& sink) { EXPECT_EQ(sink.Objects(), "b=1"); });
  folder_.Write("c.yaml", Broken("c"));
  folder_.Write("d.yaml", Broken("d"));
  Run([&](RecordingSink& sink) { EXPECT_EQ(sink.Objects(), "b=1"); });
  EXPECT_EQ(Kept().size(), 1u);
}

TEST_F(LastGoodTest, ADamagedFileIsPassedOver) {
  folder_.Write("a.yaml", NamespaceText("a", "1"));
  Run([](RecordingSink&) {});
  ASSERT_EQ(Kept().size(), 1u);
  const std::string name = Kept()[0], whole = *ReadFile(name);
  folder_.Replace("a.yaml", Broken("a"));
  for (const std::string& text :
       {whole.substr(0, whole.size() / 2), std::string(), ReplaceAll(whole, "\\\"1\\\"", "\\\"2\\\""),
        ReplaceAll(whole, "good 1 ", "good 2 ")}) {
    std::ofstream(name, std::ios::trunc) << text;
    const std::unique_ptr<LastGood> kept = Open();
    EXPECT_FALSE(kept->Find(folder_ / "a.yaml")) << text;
  }
  std::ofstream(name, std::ios::trunc) << whole;
  Run([](RecordingSink& sink) { EXPECT_EQ(sink.Objects(), "a=1"); });
}

TEST_F(LastGoodTest, NoSecretIsWrittenDown) {
  folder_.Write("a.yaml",
                NamespaceText("a", "1") +
                    "---\napiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {k: hush}\n");
  Run([](RecordingSink& sink) { EXPECT_EQ(sink.Objects(), "a=1 s="); });
  ASSERT_EQ(Kept().size(), 1u);
  EXPECT_THAT(*ReadFile(Kept()[0]), HasSubstr("Namespace a"));
  EXPECT_THAT(*ReadFile(Kept()[0]), HasSubstr(ToHex(Hash128())));
  EXPECT_THAT(*ReadFile(Kept()[0]), Not(HasSubstr("hush")));
  EXPECT_THAT(*ReadFile(Kept()[0]), Not(HasSubstr("Secret")));
  struct stat info;
  ASSERT_EQ(stat(Kept()[0].c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
  folder_.Replace("a.yaml", "x: [");
  Run([](RecordingSink& sink) { EXPECT_EQ(sink.Objects(), "a=1"); });
}

TEST_F(LastGoodTest, WhatIsAsItWasIsNotWrittenAgain) {
  folder_.Write("a.yaml", NamespaceText("a", "1"));
  Run([](RecordingSink&) {});
  struct stat before, after;
  ASSERT_EQ(stat(Kept()[0].c_str(), &before), 0);
  Run([](RecordingSink&) {});
  ASSERT_EQ(stat(Kept()[0].c_str(), &after), 0);
  EXPECT_EQ(before.st_ino, after.st_ino);
}

TEST_F(LastGoodTest, ASecondProcessReadsAlone) {
  const std::unique_ptr<LastGood> first = Open();
  first->Put({"/a", {}, {{"", 1, 1, "x"}}});
  first->Flush();
  {
    const std::unique_ptr<LastGood> second = Open();
    EXPECT_TRUE(second->read_only());
    second->Remove("/a");
    second->Flush();
    EXPECT_EQ(second->Find("/a")->parts.front().text, "x");
  }
  EXPECT_FALSE(first->read_only());
}

TEST_F(LastGoodTest, AFolderThatCannotBeMadeIsAnError) {
  state_.Write("one", "a file");
  EXPECT_FALSE(LastGood::Open(state_ / "one").ok());
}

}  // namespace
}  // namespace fairlead::source
