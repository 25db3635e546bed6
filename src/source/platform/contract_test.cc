// What every source of a platform keeps to, whatever the platform.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "base/eventually_fixture.h"
#include "base/metrics.h"
#include "base/strings.h"
#include "source/consul/consul_fake.h"
#include "source/etcd/etcd_peer_fake.h"
#include "source/file/source_fake.h"
#include "source/mcp/mcp_peer_fake.h"
#include "source/platform/platform_peer_fake.h"

namespace fairlead::source {
namespace {

using namespace std::chrono_literals;

struct PeerCase {
  const char* name;
  std::function<std::unique_ptr<PlatformPeerFake>()> make;
};

class PlatformContractTest : public ::testing::TestWithParam<PeerCase> {
 protected:
  // A source as a process has it, with what it tells.
  struct Process {
    RecordingSink sink;
    std::unique_ptr<PlatformSource> source;
    ~Process() {
      if (source != nullptr) source->Stop();
    }
  };

  void SetUp() override {
    peer_ = GetParam().make();
    if (peer_ == nullptr) GTEST_SKIP() << "no " << GetParam().name << " on this machine";
  }

  std::unique_ptr<Process> Start() {
    PlatformSource::Options options;
    options.name = StrCat(GetParam().name, "://contract");
    options.kept_file = folder_ / "sources/view.json";
    options.patience = 300ms;
    options.keep_after = 20ms;
    auto process = std::make_unique<Process>();
    process->source = std::make_unique<PlatformSource>(options, peer_->MakeFollower());
    EXPECT_TRUE(process->source->Start(&process->sink).ok());
    return process;
  }
  std::unique_ptr<Process> StartAndSync() {
    auto process = Start();
    EXPECT_TRUE(process->sink.WaitForSync()) << ::testing::PrintToString(process->source->Awaited());
    return process;
  }

  std::string Objects(Process& process) const {
    std::set<std::string> texts;
    for (const config::ConfigPtr& object : process.sink.All())
      texts.insert(StrCat(object->name().str(), "=", peer_->VersionOf(*object)));
    return Join(texts, " ");
  }
  // "a=1 b=2".
  bool WaitFor(Process& process, std::string_view expected) const {
    return Eventually([&] { return Objects(process) == expected; });
  }

  TestFolder folder_;
  std::unique_ptr<PlatformPeerFake> peer_;
};

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

INSTANTIATE_TEST_SUITE_P(Platforms, PlatformContractTest,
                         ::testing::Values(PeerCase{"consul", [] { return std::make_unique<ConsulFake>(); }},
                                           PeerCase{"etcd",
                                                    []() -> std::unique_ptr<PlatformPeerFake> {
                                                      if (!EtcdPeerFake::IsThere()) return nullptr;
                                                      return std::make_unique<EtcdPeerFake>();
                                                    }},
                                           PeerCase{"mcp", [] { return std::make_unique<McpPeerFake>(); }}),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace fairlead::source
