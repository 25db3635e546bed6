#include "source/file/file_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/strings.h"
#include "source/file/source_fake.h"

namespace fairlead::source {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;

class FileSourceTest : public ::testing::TestWithParam<bool> {
 protected:
  FileSource::Options Options() const {
    FileSource::Options options;
    options.folder = folder_.path();
    options.threads = 2;
    options.watch.poll = GetParam();
    options.watch.poll_interval = milliseconds(50);
    options.watch.unfinished_after = milliseconds(300);
    return options;
  }
  bool polling() const { return GetParam(); }
  void Start() {
    source_ = std::make_unique<FileSource>(Options());
    ASSERT_TRUE(source_->Start(&sink_).ok());
    ASSERT_TRUE(sink_.WaitForSync());
  }
  // Time enough for a change to show if it was going to.
  void Settle() const { std::this_thread::sleep_for(milliseconds(polling() ? 600 : 300)); }

  TestFolder folder_;
  RecordingSink sink_;
  std::unique_ptr<FileSource> source_;  // stops before the sink goes
};

INSTANTIATE_TEST_SUITE_P(Watching, FileSourceTest, ::testing::Values(false, true),
                         [](const auto& info) { return info.param ? "Polled" : "Watched"; });

TEST_P(FileSourceTest, ReadsWhatThereIs) {
  folder_.Write("a.yaml", NamespaceText("a", "1") + NamespaceText("b", "1"));
  folder_.Write("deep/er/c.yml", NamespaceText("c", "1"));
  folder_.Write("d.json", R"({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "d"}})");
  folder_.Write("e.txt", NamespaceText("e", "1"));
  folder_.Write(".f.yaml", NamespaceText("f", "1"));
  folder_.Write(".git/g.yaml", NamespaceText("g", "1"));
  Start();
  EXPECT_EQ(sink_.Objects(), "a=1 b=1 c=1 d=");
  EXPECT_EQ(sink_.batches(), 1u);
  EXPECT_THAT(sink_.Diagnostics(), IsEmpty());
  EXPECT_EQ(sink_.Find("c")->origin().file, folder_ / "deep/er/c.yml");
}

TEST_P(FileSourceTest, NothingIsSaidOfAKindThatAFeatureGivesAnEffect) {
  folder_.Write("pool.yaml",
                "{apiVersion: inference.networking.k8s.io/v1, kind: InferencePool, metadata: {name: p}, "
                "spec: {a: 1}}\n---\n"
                "{apiVersion: networking.istio.io/v1beta1, kind: ProxyConfig, metadata: {name: u}, spec: "
                "{concurrency: 2}}\n");
  FileSource::Options options = Options();
  options.acted_on = {config::Kind::kInferencePool};
  source_ = std::make_unique<FileSource>(options);
  ASSERT_TRUE(source_->Start(&sink_).ok());
  ASSERT_TRUE(sink_.WaitForSync());
  EXPECT_THAT(sink_.Diagnostics(), ElementsAre(testing::HasSubstr("injection of sidecars")));
}

TEST_P(FileSourceTest, AnEmptyFolderIsInSync) {
  Start();
  EXPECT_EQ(sink_.Objects(), "");
  EXPECT_EQ(sink_.batches(), 0u);
}

TEST_P(FileSourceTest, NoFolderIsAnError) {
  FileSource::Options options = Options();
  options.folder = folder_ / "none";
  EXPECT_TRUE(absl::IsNotFound(FileSource(options).Start(&sink_)));
}

TEST_P(FileSourceTest, FollowsNewChangedAndRemovedFiles) {
  Start();
  folder_.Write("a.yaml", NamespaceText("a", "1"));
  EXPECT_TRUE(sink_.WaitForObjects("a=1"));
  folder_.Write("a.yaml", NamespaceText("a", "22"));
  EXPECT_TRUE(sink_.WaitForObjects("a=22"));
  folder_.Replace("a.yaml", NamespaceText("a", "3") + NamespaceText("b", "1"));
  EXPECT_TRUE(sink_.WaitForObjects("a=3 b=1"));
  folder_.Replace("a.yaml", NamespaceText("b", "1"));
  EXPECT_TRUE(sink_.WaitForObjects("b=1"));
  folder_.Remove("a.yaml");
  EXPECT_TRUE(sink_.WaitForObjects(""));
}

TEST_P(FileSourceTest, FollowsRenames) {
  folder_.Write("a.yaml", NamespaceText("a", "1"));
  Start();
  folder_.Rename("a.yaml", "b.yaml");
  Settle();
  EXPECT_EQ(sink_.Objects(), "a=1");
  folder_.Rename("b.yaml", "b.txt");
  EXPECT_TRUE(sink_.WaitForObjects(""));
}

TEST_P(FileSourceTest, UnchangedObjectsKeepTheirPointerAndTellNothing) {
  folder_.Write("a.yaml", NamespaceText("a", "1") + NamespaceText("b", "1"));
  Start();
  const config::ConfigPtr a = sink_.Find("a");
  folder_.Replace("a.yaml", NamespaceText("a", "1") + NamespaceText("b", "2"));
  EXPECT_TRUE(sink_.WaitForObjects("a=1 b=2"));
  EXPECT_EQ(sink_.Find("a"), a);
  EXPECT_EQ(sink_.last_batch().changes.size(), 1u);
  const size_t batches = sink_.batches();
  folder_.Replace("a.yaml", NamespaceText("a", "1") + NamespaceText("b", "2") + "# again\n");
  Settle();
  EXPECT_EQ(sink_.batches(), batches);
}

TEST_P(FileSourceTest, FollowsNewMovedAndRemovedFolders) {
  Start();
  folder_.Write("x/y/a.yaml", NamespaceText("a", "1"));
  EXPECT_TRUE(sink_.WaitForObjects("a=1"));
  folder_.Write("x/y/b.yaml", NamespaceText("b", "1"));
  EXPECT_TRUE(sink_.WaitForObjects("a=1 b=1"));
  folder_.Rename("x", "z");
  Settle();
  EXPECT_EQ(sink_.Objects(), "a=1 b=1");
  folder_.Write("z/y/a.yaml", NamespaceText("a", "22"));
  EXPECT_TRUE(sink_.WaitForObjects("a=22 b=1"));
  folder_.Remove("z");
  EXPECT_TRUE(sink_.WaitForObjects(""));
  folder_.Write("z/y/a.yaml", NamespaceText("a", "3"));
  EXPECT_TRUE(sink_.WaitForObjects("a=3"));
}

TEST_P(FileSourceTest, AFolderMovedInComesWithItsFiles) {
  TestFolder other;
  other.Write("x/y/a.yaml", NamespaceText("a", "1"));
  Start();
  std::filesystem::rename(other / "x", folder_ / "x");
  EXPECT_TRUE(sink_.WaitForObjects("a=1"));
  folder_.Replace("x/y/a.yaml", NamespaceText("a", "2"));
  EXPECT_TRUE(sink_.WaitForObjects("a=2"));
}

TEST_P(FileSourceTest, AFolderThatIsDeletedAndMadeAnewLosesNothing) {
  folder_.Write("x/a.yaml", NamespaceText("a", "1") + NamespaceText("b", "1"));
  Start();
  folder_.Remove("x");
  folder_.Write("x/a.yaml", NamespaceText("a", "2") + NamespaceText("b", "1"));
  EXPECT_TRUE(sink_.WaitForObjects("a=2 b=1"));
  Settle();
  EXPECT_THAT(sink_.History("b"), ElementsAre("1"));
}

TEST_P(FileSourceTest, TheRootMayBeDeletedAndMadeAnew) {
  folder_.Write("x/a.yaml", NamespaceText("a", "1"));
  FileSource::Options options = Options();
  options.folder = folder_ / "x";
  source_ = std::make_unique<FileSource>(options);
  ASSERT_TRUE(source_->Start(&sink_).ok());
  ASSERT_TRUE(sink_.WaitForSync());
  folder_.Remove("x");
  EXPECT_TRUE(sink_.WaitForDiagnostic("the folder is missing"));
  Settle();
  EXPECT_EQ(sink_.Objects(), "a=1");
  folder_.Write("x/b.yaml", NamespaceText("b", "1"));
  EXPECT_TRUE(sink_.WaitForObjects("b=1"));
  EXPECT_TRUE(sink_.WaitForDiagnostic(""));
  folder_.Write("x/b.yaml", NamespaceText("b", "22"));
  EXPECT_TRUE(sink_.WaitForObjects("b=22"));
}

TEST_P(FileSourceTest, TheRootMayBeALinkThatIsSwapped) {
  folder_.Write("one/a.yaml", NamespaceText("a", "1"));
  folder_.Write("two/a.yaml", NamespaceText("a", "2"));
  folder_.Link("one", "now");
  FileSource::Options options = Options();
  options.folder = folder_ / "now";
  source_ = std::make_unique<FileSource>(options);
  ASSERT_TRUE(source_->Start(&sink_).ok());
  ASSERT_TRUE(sink_.WaitForObjects("a=1"));
  folder_.Link("two", "next");
  folder_.Rename("next", "now");
  EXPECT_TRUE(sink_.WaitForObjects("a=2"));
  folder_.Replace("two/a.yaml", NamespaceText("a", "3"));
  EXPECT_TRUE(sink_.WaitForObjects("a=3"));
}

TEST_P(FileSourceTest, FollowsAConfigMapVolume) {
  folder_.Write("..1/a.yaml", NamespaceText("a", "1"));
  folder_.Write("..1/b.yaml", NamespaceText("b", "1"));
  folder_.Link("..1", "..data");
  folder_.Link("..data/a.yaml", "a.yaml");
  folder_.Link("..data/b.yaml", "b.yaml");
  Start();
  EXPECT_EQ(sink_.Objects(), "a=1 b=1");
  for (int round = 2; round < 5; ++round) {
    const std::string version = StrCat(round), old = StrCat("..", round - 1), fresh = StrCat("..", round);
    folder_.Write(fresh + "/a.yaml", NamespaceText("a", version));
    folder_.Write(fresh + "/b.yaml", NamespaceText("b", version));
    folder_.Link(fresh, "..data_tmp");
    folder_.Rename("..data_tmp", "..data");
    folder_.Remove(old);
    EXPECT_TRUE(sink_.WaitForObjects(StrCat("a=", version, " b=", version)));
  }
  // A swap may fall between the reading of the two files, which then come in two batches: what must not be is
  // that an object is gone for a while, goes back, or is told twice.
  EXPECT_THAT(sink_.History("a"), ElementsAre("1", "2", "3", "4"));
  EXPECT_THAT(sink_.History("b"), ElementsAre("1", "2", "3", "4"));
  EXPECT_THAT(sink_.Diagnostics(), IsEmpty());
}

TEST_P(FileSourceTest, FollowsLinksToFilesElsewhere) {
  TestFolder other;
  other.Write("real.txt", NamespaceText("a", "1"));
  folder_.Link(other / "real.txt", "a.yaml");
  Start();
  EXPECT_EQ(sink_.Objects(), "a=1");
  other.Write("real.txt", NamespaceText("a", "22"));
  EXPECT_TRUE(sink_.WaitForObjects("a=22"));
  other.Replace("real.txt", NamespaceText("a", "3"));
  EXPECT_TRUE(sink_.WaitForObjects("a=3"));
}

TEST_P(FileSourceTest, FoldersThatLinkInCirclesEnd) {
  folder_.Write("x/a.yaml", NamespaceText("a", "1"));
  folder_.Link("..", "x/up");
  folder_.Link("x", "y");
  Start();
  EXPECT_EQ(sink_.Objects(), "a=1");
  EXPECT_THAT(sink_.Diagnostics(), IsEmpty());
}

TEST_P(FileSourceTest, ABrokenEditKeepsTheLastGoodObjects) {
  folder_.Write("a.yaml", NamespaceText("a", "1") + NamespaceText("b", "1") + NamespaceText("c", "1"));
  Start();
  folder_.Replace("a.yaml",
                  NamespaceText("a", "2") + ReplaceAll(NamespaceText("b", "2"), "labels", "lables"));
  EXPECT_TRUE(sink_.WaitForObjects("a=2 b=1"));
  EXPECT_TRUE(sink_.WaitForDiagnostic("a.yaml:12: error: Namespace b: metadata.lables: unknown field"));
  folder_.Replace("a.yaml", NamespaceText("a", "3") + "---\nx: [\n");
  EXPECT_TRUE(sink_.WaitForObjects("a=3 b=1"));
  folder_.Replace("a.yaml", "no manifest");
  EXPECT_TRUE(sink_.WaitForDiagnostic("a manifest is a mapping"));
  EXPECT_EQ(sink_.Objects(), "a=3 b=1");
  folder_.Replace("a.yaml", NamespaceText("a", "4"));
  EXPECT_TRUE(sink_.WaitForObjects("a=4"));
  EXPECT_TRUE(sink_.WaitForDiagnostic(""));
}

TEST_P(FileSourceTest, AnEditThatIstioWouldRefuseKeepsTheLastGoodObject) {
  const auto route = [](std::string_view name, std::string_view v, std::string_view timeout) {
    return StrCat("---\napiVersion: networking.istio.io/v1\nkind: VirtualService\nmetadata:\n  name: ", name,
                  "\n  labels: {v: \"", v,
                  "\"}\nspec:\n  hosts: [a.example.com]\n  http:\n  - timeout: ", timeout,
                  "\n    route: [{destination: {host: a.example.com}}]\n");
  };
  folder_.Write("a.yaml", route("r", "1", "1s") + route("s", "1", "1s"));
  Start();
  EXPECT_EQ(sink_.Objects(), "r=1 s=1");
  EXPECT_THAT(sink_.Diagnostics(), IsEmpty());
  folder_.Replace("a.yaml", route("r", "2", "0.1ms") + route("s", "2", "2s"));
  EXPECT_TRUE(sink_.WaitForObjects("r=1 s=2"));
  EXPECT_TRUE(sink_.WaitForDiagnostic(
      "a.yaml:10: error: VirtualService default/r: spec.http[0].timeout: a duration is at least 1ms"));
  folder_.Replace("a.yaml", route("r", "3", "3s") + route("s", "2", "2s"));
  EXPECT_TRUE(sink_.WaitForObjects("r=3 s=2"));
  EXPECT_TRUE(sink_.WaitForDiagnostic(""));
}

TEST_P(FileSourceTest, AtTheStartTheFirstPathWinsAnObjectInTwoFiles) {
  folder_.Write("b.yaml", NamespaceText("x", "b"));
  folder_.Write("c.yaml", "# two\n" + NamespaceText("x", "c"));
  Start();
  EXPECT_EQ(sink_.Objects(), "x=b");
  EXPECT_THAT(sink_.Diagnostics(),
              ElementsAre(StrCat(folder_ / "c.yaml", ":3: error: Namespace x: the same object is in ",
                                 folder_ / "b.yaml", ":2, which counts (duplicate-object)")));
  folder_.Remove("b.yaml");
  EXPECT_TRUE(sink_.WaitForObjects("x=c"));
  EXPECT_TRUE(sink_.WaitForDiagnostic(""));
  EXPECT_THAT(sink_.History("x"), ElementsAre("b", "c"));
}

TEST_P(FileSourceTest, AStrayCopyDoesNotWinOverWhatIsInForce) {
  folder_.Write("b.yaml", NamespaceText("x", "b"));
  Start();
  folder_.Write("a.yaml", NamespaceText("x", "a"));
  EXPECT_TRUE(
      sink_.WaitForDiagnostic(StrCat(folder_ / "a.yaml", ":2: error: Namespace x: the same object is in ",
                                     folder_ / "b.yaml", ":2, which counts")));
  folder_.Replace("b.yaml", NamespaceText("x", "bb"));
  EXPECT_TRUE(sink_.WaitForObjects("x=bb"));
  folder_.Remove("b.yaml");
  EXPECT_TRUE(sink_.WaitForObjects("x=a"));
  folder_.Write("b.yaml", NamespaceText("x", "b"));
  EXPECT_TRUE(sink_.WaitForDiagnostic(StrCat(folder_ / "b.yaml", ":2: error")));
  EXPECT_THAT(sink_.History("x"), ElementsAre("b", "bb", "a"));
}

TEST_P(FileSourceTest, ARenamedFileSaysNothing) {
  folder_.Write("a.yaml", NamespaceText("a", "1") + NamespaceText("b", "1"));
  Start();
  folder_.Rename("a.yaml", "b.yaml");
  Settle();
  EXPECT_EQ(sink_.Objects(), "a=1 b=1");
  EXPECT_THAT(sink_.EverSaid(), IsEmpty());
}

TEST_P(FileSourceTest, AFileThatCannotBeReadKeepsItsObjects) {
  folder_.Write("a.yaml", NamespaceText("a", "1"));
  folder_.Write("b.yaml", NamespaceText("b", "1"));
  Start();
  folder_.Link("/proc/self/mem", "next");  // a regular file, whose first byte nobody can read
  folder_.Rename("next", "a.yaml");
  EXPECT_TRUE(sink_.WaitForDiagnostic("Input/output error"));
  EXPECT_EQ(sink_.Objects(), "a=1 b=1");
  folder_.Replace("a.yaml", NamespaceText("a", "2"));
  EXPECT_TRUE(sink_.WaitForObjects("a=2 b=1"));
  EXPECT_TRUE(sink_.WaitForDiagnostic(""));
}

TEST_P(FileSourceTest, StopsAtOnce) {
  Start();
  const auto before = std::chrono::steady_clock::now();
  source_->Stop();
  EXPECT_LT(std::chrono::steady_clock::now() - before, milliseconds(500));
}

// The following need events: a listing cannot tell that a file is still open.
using WatchedFileSourceTest = FileSourceTest;
INSTANTIATE_TEST_SUITE_P(Watching, WatchedFileSourceTest, ::testing::Values(false));

TEST_P(WatchedFileSourceTest, AHalfWrittenFileWaitsForItsEnd) {
  folder_.Write("a.yaml", NamespaceText("a", "1") + NamespaceText("b", "1"));
  Start();
  std::ofstream file(folder_ / "a.yaml", std::ios::trunc);
  file << NamespaceText("a", "2") << std::flush;
  std::this_thread::sleep_for(milliseconds(100));
  EXPECT_EQ(sink_.Objects(), "a=1 b=1");
  file << NamespaceText("b", "2") << std::flush;
  file.close();
  EXPECT_TRUE(sink_.WaitForObjects("a=2 b=2"));
  EXPECT_EQ(sink_.batches(), 2u);
}

TEST_P(WatchedFileSourceTest, AFileThatStaysOpenTakesNothingAwayUntilItIsClosed) {
  folder_.Write("a.yaml", NamespaceText("a", "1") + NamespaceText("b", "1"));
  Start();
  std::ofstream file(folder_ / "a.yaml", std::ios::trunc);
  file << NamespaceText("a", "2") << std::flush;
  EXPECT_TRUE(sink_.WaitForObjects("a=2 b=1"));
  file.close();
  EXPECT_TRUE(sink_.WaitForObjects("a=2"));
}

TEST_P(WatchedFileSourceTest, AnEditorsDeleteAndCreateShowsNoGap) {
  folder_.Write("a.yaml", NamespaceText("a", "1") + NamespaceText("b", "1"));
  Start();
  folder_.Rename("a.yaml", "a.yaml~");
  std::this_thread::sleep_for(milliseconds(20));
  folder_.Write("a.yaml", NamespaceText("a", "2") + NamespaceText("b", "1"));
  folder_.Remove("a.yaml~");
  EXPECT_TRUE(sink_.WaitForObjects("a=2 b=1"));
  EXPECT_THAT(sink_.History("a"), ElementsAre("1", "2"));
  EXPECT_THAT(sink_.History("b"), ElementsAre("1"));
}

// A listing tells that a file is gone before it tells of the new one.
TEST_P(WatchedFileSourceTest, ARenamedFileKeepsWhatIsBroken) {
  folder_.Write("a.yaml", NamespaceText("a", "1") + NamespaceText("b", "1"));
  Start();
  folder_.Replace("a.yaml",
                  NamespaceText("a", "1") + ReplaceAll(NamespaceText("b", "2"), "labels", "lables"));
  EXPECT_TRUE(sink_.WaitForDiagnostic("Namespace b: serving the version of 20"));
  folder_.Rename("a.yaml", "b.yaml");
  EXPECT_TRUE(sink_.WaitForDiagnostic("b.yaml:12: error: Namespace b"));
  Settle();
  EXPECT_EQ(sink_.Objects(), "a=1 b=1");
  EXPECT_THAT(sink_.History("b"), ElementsAre("1"));
}

TEST_P(WatchedFileSourceTest, AHardLinkIsReadAtOnce) {
  Start();
  folder_.Write("a.txt", NamespaceText("a", "1"));
  std::filesystem::create_hard_link(folder_ / "a.txt", folder_ / "a.yaml");
  EXPECT_TRUE(sink_.WaitForObjects("a=1"));
}

TEST_P(WatchedFileSourceTest, ARenameIsToldInMilliseconds) {
  folder_.Write("a.yaml", NamespaceText("a", "0"));
  Start();
  std::vector<int64_t> micros;
  for (int i = 1; i <= 21; ++i) {
    folder_.Write("a.yaml.new", NamespaceText("a", StrCat(i)));
    std::this_thread::sleep_for(milliseconds(5));
    const auto before = std::chrono::steady_clock::now();
    folder_.Rename("a.yaml.new", "a.yaml");
    ASSERT_TRUE(sink_.WaitForObjects(StrCat("a=", i)));
    micros.push_back(
        std::chrono::duration_cast<std::chrono::microseconds>(sink_.last_batch().at - before).count());
  }
  std::sort(micros.begin(), micros.end());
  RecordProperty("median_us", std::to_string(micros[10]));
  EXPECT_LT(micros[10], 50'000) << "the median of the renames, microseconds";
}

TEST_P(WatchedFileSourceTest, EndsRightUnderASteadyStreamOfChanges) {
  constexpr int kFiles = 8, kRounds = 60;
  for (int f = 0; f < kFiles; ++f)
    folder_.Write(StrCat("d", f % 3, "/f", f, ".yaml"), NamespaceText(StrCat("n", f), "0"));
  Start();
  std::atomic<bool> go_on{true};
  std::thread noise([&] {  // another folder comes and goes all the time
    for (int i = 0; go_on; ++i) {
      folder_.Write("noise/x.yaml", NamespaceText("noise", StrCat(i)));
      if (i % 3 == 0) folder_.Remove("noise");
    }
  });
  for (int round = 1; round <= kRounds; ++round) {
    const int f = round % kFiles;
    const std::string name = StrCat("d", f % 3, "/f", f, ".yaml"),
                      text = NamespaceText(StrCat("n", f), StrCat(round));
    round % 2 ? folder_.Replace(name, text) : folder_.Write(name, text);
    if (round % 7 == 0)
      folder_.Rename(StrCat("d", f % 3), StrCat("e", f % 3)),
          folder_.Rename(StrCat("e", f % 3), StrCat("d", f % 3));
    std::this_thread::sleep_for(milliseconds(3));
  }
  go_on = false;
  noise.join();
  folder_.Remove("noise");
  std::string expected;
  for (int f = 0; f < kFiles; ++f) {
    int last = kRounds;
    while (last % kFiles != f) --last;
    StrAppend(&expected, f ? " " : "", "n", f, "=", last);
  }
  EXPECT_TRUE(sink_.WaitForObjects(expected)) << sink_.Objects();
  for (int f = 0; f < kFiles; ++f) EXPECT_THAT(sink_.History(StrCat("n", f)), Not(testing::Contains("-")));
}

// What stands elsewhere and says the same is told, so that who names its place names that of today.
TEST_P(FileSourceTest, AnObjectThatMovesInItsFileHasItsPlaceOfToday) {
  folder_.Write("a.yaml", NamespaceText("a", "1"));
  Start();
  const config::ConfigPtr before = sink_.Find("a");
  const int line = before->origin().line;
  folder_.Write("a.yaml", StrCat("# a remark\n", NamespaceText("a", "1")));
  for (int i = 0; i < 1000 && sink_.Find("a")->origin().line == line; ++i)
    std::this_thread::sleep_for(milliseconds(10));
  const config::ConfigPtr now = sink_.Find("a");
  EXPECT_EQ(now->origin().line, line + 1);
  EXPECT_EQ(now->content_hash(), before->content_hash());
  EXPECT_EQ(now->SharedSpec<void>(), before->SharedSpec<void>()) << "it is not kept twice";
  const size_t batches = sink_.batches();
  folder_.Write("a.yaml", StrCat("# a remark\n", NamespaceText("a", "1"), "# and another\n"));
  Settle();
  EXPECT_EQ(sink_.batches(), batches) << "nothing moved";
}

}  // namespace
}  // namespace fairlead::source
