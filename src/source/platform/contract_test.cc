// What every source of a platform keeps to, whatever the platform.
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <thread>

#include "base/metrics.h"
#include "source/platform/contract_fixture.h"

namespace fairlead::source {
namespace {

using namespace std::chrono_literals;

TEST_P(PlatformContractTest, ShowsWhatIsThereThenWhatChanges) {
  peer_->Put("a", "1");
  peer_->Put("b", "1");
  const auto process = StartAndSync();
  EXPECT_EQ(Objects(*process), "a=1 b=1");
  EXPECT_TRUE(process->source->Awaited().empty());
  peer_->Put("a", "2");
  peer_->Put("c", "1");
  EXPECT_TRUE(WaitFor(*process, "a=2 b=1 c=1")) << Objects(*process);
  EXPECT_TRUE(process->sink.Diagnostics().empty()) << ::testing::PrintToString(process->sink.Diagnostics());
}

TEST_P(PlatformContractTest, WhatIsDeletedGoesAndMayComeBack) {
  peer_->Put("a", "1");
  peer_->Put("b", "1");
  const auto process = StartAndSync();
  peer_->Delete("a");
  EXPECT_TRUE(WaitFor(*process, "b=1")) << Objects(*process);
  peer_->Put("a", "2");
  EXPECT_TRUE(WaitFor(*process, "a=2 b=1")) << Objects(*process);
}

TEST_P(PlatformContractTest, ARenameIsADeletionAndANewOne) {
  peer_->Put("old", "1");
  const auto process = StartAndSync();
  peer_->Put("new", "1");
  peer_->Delete("old");
  EXPECT_TRUE(WaitFor(*process, "new=1")) << Objects(*process);
}

TEST_P(PlatformContractTest, AnEmptyPlatformIsAWholeView) {
  const auto process = StartAndSync();
  EXPECT_EQ(Objects(*process), "");
  peer_->Put("a", "1");
  EXPECT_TRUE(WaitFor(*process, "a=1")) << Objects(*process);
}

TEST_P(PlatformContractTest, AfterAForgottenHistoryTheViewIsRight) {
  peer_->Put("a", "1");
  peer_->Put("b", "1");
  peer_->Put("c", "1");
  const auto process = StartAndSync();
  peer_->SetAway(true);
  peer_->Delete("a");
  peer_->Put("b", "2");
  peer_->Put("d", "1");
  peer_->Forget();
  peer_->SetAway(false);
  EXPECT_TRUE(WaitFor(*process, "b=2 c=1 d=1")) << Objects(*process);
  peer_->Put("c", "2");
  EXPECT_TRUE(WaitFor(*process, "b=2 c=2 d=1")) << Objects(*process);
}

TEST_P(PlatformContractTest, WhileThePlatformIsAwayItsLastViewStays) {
  peer_->Put("a", "1");
  const auto process = StartAndSync();
  peer_->SetAway(true);
  EXPECT_TRUE(process->sink.WaitForDiagnostic("unreachable-source"));
  EXPECT_EQ(Objects(*process), "a=1");
  peer_->Put("a", "2");
  peer_->SetAway(false);
  EXPECT_TRUE(WaitFor(*process, "a=2")) << Objects(*process);
  EXPECT_TRUE(process->sink.WaitForDiagnostic(""));
}

TEST_P(PlatformContractTest, IsNotReadyWithoutAWholeView) {
  peer_->SetAway(true);
  const auto process = Start();
  EXPECT_TRUE(process->sink.WaitForDiagnostic("unreachable-source"));
  EXPECT_TRUE(Eventually([&] { return !process->source->Awaited().empty(); }));
  EXPECT_EQ(process->sink.batches(), 0u);
  peer_->Put("a", "1");
  peer_->SetAway(false);
  EXPECT_TRUE(process->sink.WaitForSync());
  EXPECT_EQ(Objects(*process), "a=1");
}

TEST_P(PlatformContractTest, ARestartSeesWhatChangedMeanwhile) {
  peer_->Put("a", "1");
  peer_->Put("b", "1");
  StartAndSync();
  peer_->Delete("a");
  peer_->Put("b", "2");
  const auto process = StartAndSync();
  EXPECT_EQ(Objects(*process), "b=2");
}

TEST_P(PlatformContractTest, ARestartWhileThePlatformIsAwayServesTheKeptView) {
  peer_->Put("a", "1");
  peer_->Put("b", "1");
  StartAndSync();
  peer_->SetAway(true);
  peer_->Delete("a");
  peer_->Put("c", "1");
  const auto process = StartAndSync();
  EXPECT_EQ(Objects(*process), "a=1 b=1");
  EXPECT_TRUE(process->sink.WaitForDiagnostic("kept-source"));
  peer_->SetAway(false);
  EXPECT_TRUE(WaitFor(*process, "b=1 c=1")) << Objects(*process);
  EXPECT_TRUE(process->sink.WaitForDiagnostic(""));
}

TEST_P(PlatformContractTest, OfTwoForOneObjectTheSameCountsInEitherOrder) {
  if (!peer_->HasTwins()) GTEST_SKIP() << "each thing stands for an object of its own";
  peer_->Put("a", "1");
  const auto process = StartAndSync();
  peer_->PutTwin("a", "2");
  EXPECT_TRUE(process->sink.WaitForDiagnostic("duplicate-object"));
  EXPECT_EQ(Objects(*process), "a=1");
  peer_->Delete("a");
  EXPECT_TRUE(WaitFor(*process, "a=2")) << Objects(*process);
  EXPECT_TRUE(process->sink.WaitForDiagnostic(""));
  peer_->Put("a", "3");
  EXPECT_TRUE(WaitFor(*process, "a=3")) << Objects(*process);
  EXPECT_TRUE(process->sink.WaitForDiagnostic("duplicate-object"));
}

TEST_P(PlatformContractTest, MetricsCountObjectsAndErrors) {
  peer_->Put("a", "1");
  peer_->Put("b", "1");
  const auto process = StartAndSync();
  const std::string name = process->source->Name();
  const auto& objects = metrics::GetGauge("pilot_source_objects", "", {{"source", name}});
  const auto& errors = metrics::GetCounter("pilot_source_errors_total", "", {{"source", name}});
  const auto& success =
      metrics::GetGauge("pilot_source_last_success_timestamp_seconds", "", {{"source", name}});
  EXPECT_EQ(objects.Value(), 2);
  EXPECT_GT(success.Value(), 1e9);
  const double before = errors.Value();
  peer_->SetAway(true);
  EXPECT_TRUE(Eventually([&] { return errors.Value() > before; }));
}

TEST_P(PlatformContractTest, AnyOrderOfChangesEndsAsANewStartSeesIt) {
  for (const unsigned seed : {1u, 2u, 3u}) {
    std::mt19937 random(seed);
    std::map<std::string, std::string> there;
    const auto process = StartAndSync();
    for (int step = 0; step < 30; ++step) {
      const std::string name(1, static_cast<char>('a' + random() % 5));
      if (random() % 3 == 0) {
        if (there.erase(name) > 0) peer_->Delete(name);
      } else {
        peer_->Put(name, there[name] = StrCat(step));
      }
    }
    std::set<std::string> texts;
    for (const auto& [name, version] : there) texts.insert(StrCat(name, "=", version));
    EXPECT_TRUE(WaitFor(*process, Join(texts, " "))) << seed << ": " << Objects(*process);
    EXPECT_EQ(Objects(*StartAndSync()), Join(texts, " ")) << seed;
    for (const auto& [name, version] : there) peer_->Delete(name);
  }
}

// However early a process ends, the next one has a whole view: of then or of now, never a part of it.
TEST_P(PlatformContractTest, ARestartInTheMiddleLeavesNoPartOfAView) {
  constexpr int kThings = 20;
  const auto put_all = [this](const std::string& version) {
    for (int i = 0; i < kThings; ++i) peer_->Put(StrCat("t", i), version);
  };
  put_all("1");
  StartAndSync();
  for (int round = 2; round < 6; ++round) {
    put_all(StrCat(round));
    {
      const auto process = Start();
      std::this_thread::sleep_for(3ms * round);
    }
    peer_->SetAway(true);
    EXPECT_EQ(StartAndSync()->sink.All().size(), static_cast<size_t>(kThings)) << round;
    peer_->SetAway(false);
  }
  const auto process = StartAndSync();
  std::set<std::string> texts;
  for (int i = 0; i < kThings; ++i) texts.insert(StrCat("t", i, "=5"));
  EXPECT_TRUE(WaitFor(*process, Join(texts, " "))) << Objects(*process);
}

}  // namespace
}  // namespace fairlead::source
