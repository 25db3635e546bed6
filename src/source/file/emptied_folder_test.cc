#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "base/strings.h"
#include "source/file/file_source.h"
#include "source/file/source_fake.h"

// The guard on the loss of all objects at once.
namespace fairlead::source {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;

using OnEmptied = FileSource::Options::OnEmptied;

class EmptiedFolderTest : public ::testing::TestWithParam<bool> {
 protected:
  void Start(OnEmptied on_emptied = OnEmptied::kKeep, LastGood* kept = nullptr) {
    FileSource::Options options;
    options.folder = folder_.path();
    options.threads = 2;
    options.watch.poll = GetParam();
    options.watch.poll_interval = milliseconds(50);
    options.watch.unfinished_after = milliseconds(300);
    options.refilled_after = milliseconds(700);
    options.on_emptied = on_emptied;
    options.kept = kept;
    sink_ = std::make_unique<RecordingSink>();
    source_ = std::make_unique<FileSource>(std::move(options));
    ASSERT_TRUE(source_->Start(sink_.get()).ok());
    ASSERT_TRUE(sink_->WaitForSync());
  }
  void WriteAll(int count) {
    for (int i = 10; i < 10 + count; ++i)
      folder_.Write(StrCat("d", i % 3, "/", i, ".yaml"), NamespaceText(StrCat("n", i), "1"));
  }
  void RemoveAll() {
    for (const char* name : {"d0", "d1", "d2"}) folder_.Remove(name);
  }
  static std::string Names(int count) {
    std::string names;
    for (int i = 10; i < 10 + count; ++i) StrAppend(&names, i > 10 ? " " : "", "n", i, "=1");
    return names;
  }

  TestFolder folder_;
  std::unique_ptr<RecordingSink> sink_;
  std::unique_ptr<FileSource> source_;
};

INSTANTIATE_TEST_SUITE_P(Watching, EmptiedFolderTest, ::testing::Values(false, true),
                         [](const auto& info) { return info.param ? "Polled" : "Watched"; });

TEST_P(EmptiedFolderTest, WhatItHeldStaysUntilItIsFilledAgain) {
  WriteAll(50);
  Start();
  RemoveAll();
  EXPECT_TRUE(
      sink_->WaitForDiagnostic("error: nothing is left in the folder: the 50 objects that it held stay in "
                               "force until it has manifests "
                               "again (--onEmptied=keep) (emptied-folder)"));
  EXPECT_EQ(sink_->Objects(), Names(50));
  WriteAll(49);
  folder_.Write("new.yaml", NamespaceText("z", "1"));
  EXPECT_TRUE(sink_->WaitForObjects(StrCat(Names(49), " z=1")));
  EXPECT_TRUE(sink_->WaitForDiagnostic(""));
  for (const char* name : {"n10", "n58"}) EXPECT_THAT(sink_->History(name), ElementsAre("1"));
  EXPECT_THAT(sink_->History("n59"), ElementsAre("1", "-"));
}

TEST_P(EmptiedFolderTest, CommentsAreNothing) {
  folder_.Write("a.yaml", NamespaceText("a", "1"));
  folder_.Write("b.yaml", NamespaceText("b", "1"));
  Start();
  folder_.Replace("a.yaml", "# none\n");
  EXPECT_TRUE(sink_->WaitForObjects("b=1"));
  folder_.Remove("b.yaml");
  EXPECT_TRUE(sink_->WaitForDiagnostic("the 1 objects"));
  EXPECT_EQ(sink_->Objects(), "b=1");
  folder_.Replace("a.yaml", NamespaceText("a", "2"));
  EXPECT_TRUE(sink_->WaitForObjects("a=2"));
}

TEST_P(EmptiedFolderTest, ALinkToAnEmptyFolderIsNothing) {
  folder_.Write("one/a.yaml", NamespaceText("a", "1"));
  folder_.Write("two/readme", "");
  folder_.Link("one", "now");
  FileSource::Options options;
  options.folder = folder_ / "now";
  options.watch.poll = GetParam();
  options.watch.poll_interval = milliseconds(50);
  options.on_emptied = OnEmptied::kKeep;
  RecordingSink sink;
  FileSource source(std::move(options));
  ASSERT_TRUE(source.Start(&sink).ok());
  ASSERT_TRUE(sink.WaitForObjects("a=1"));
  folder_.Link("two", "next");
  folder_.Rename("next", "now");
  EXPECT_TRUE(sink.WaitForDiagnostic("(emptied-folder)"));
  EXPECT_EQ(sink.Objects(), "a=1");
}

TEST_P(EmptiedFolderTest, ItMayBeServedAsItIs) {
  WriteAll(5);
  Start(OnEmptied::kServe);
  RemoveAll();
  EXPECT_TRUE(sink_->WaitForObjects(""));
}

TEST_P(EmptiedFolderTest, AtTheStartWhatIsKeptIsServed) {
  const TestFolder state;
  auto kept = LastGood::Open(state.path());
  WriteAll(5);
  Start(OnEmptied::kKeep, kept->get());
  source_.reset();
  (*kept)->Flush();
  RemoveAll();
  Start(OnEmptied::kKeep, kept->get());
  EXPECT_TRUE(sink_->WaitForDiagnostic("the 5 objects that it held stay in force"));
  EXPECT_EQ(sink_->Objects(), Names(5));
  source_.reset();
  (*kept)->Flush();
  Start(OnEmptied::kKeep, kept->get());  // it is still kept
  EXPECT_EQ(sink_->Objects(), Names(5));
  folder_.Write("new.yaml", NamespaceText("z", "1"));
  EXPECT_TRUE(sink_->WaitForObjects("z=1"));
  source_.reset();
  (*kept)->Flush();
  Start(OnEmptied::kKeep, kept->get());
  EXPECT_EQ(sink_->Objects(), "z=1");
}

TEST_P(EmptiedFolderTest, AFolderThatNeverHeldAnythingIsAWarning) {
  Start();
  EXPECT_TRUE(sink_->WaitForDiagnostic("warning: there is no manifest in the folder (empty-folder)"));
  folder_.Write("a.yaml", NamespaceText("a", "1"));
  EXPECT_TRUE(sink_->WaitForObjects("a=1"));
  EXPECT_TRUE(sink_->WaitForDiagnostic(""));
}

}  // namespace
}  // namespace fairlead::source
