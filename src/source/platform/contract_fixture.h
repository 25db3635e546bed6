#ifndef FAIRLEAD_SOURCE_PLATFORM_CONTRACT_FIXTURE_H_
#define FAIRLEAD_SOURCE_PLATFORM_CONTRACT_FIXTURE_H_

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "base/eventually_fixture.h"
#include "base/strings.h"
#include "source/file/source_fake.h"
#include "source/platform/platform_peer_fake.h"

namespace fairlead::source {

// For tests: a platform that keeps to the contract of all sources (contract_test.cc). Each is
// instantiated beside its fake: INSTANTIATE_TEST_SUITE_P(Consul, PlatformContractTest, Values(PeerCase{…}),
// NameOfPeer).
struct PeerCase {
  const char* name;
  // Null: its program is not on this machine.
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
    options.patience = std::chrono::milliseconds(300);
    options.keep_after = std::chrono::milliseconds(20);
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

inline std::string NameOfPeer(const ::testing::TestParamInfo<PeerCase>& info) { return info.param.name; }

}  // namespace fairlead::source

#endif  // FAIRLEAD_SOURCE_PLATFORM_CONTRACT_FIXTURE_H_
