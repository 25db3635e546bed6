#include "push/mesh_thread.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "push/push_fakes.h"

namespace fairlead::push {
namespace {

using namespace std::chrono_literals;

TEST(DebounceTest, WaitsForQuietButNotForEver) {
  Debounce debounce({.quiet = 100ms, .max = 1s});
  const Clock::time_point start{};
  EXPECT_EQ(debounce.Due(), std::nullopt);
  debounce.OnChange(start);
  EXPECT_EQ(debounce.Due(), start + 100ms);
  debounce.OnChange(start + 50ms);
  EXPECT_EQ(debounce.Due(), start + 150ms);
  debounce.OnChange(start + 950ms);
  EXPECT_EQ(debounce.Due(), start + 1s);
  EXPECT_EQ(debounce.Take(), start);
  EXPECT_EQ(debounce.Due(), std::nullopt);
}

// Counts what it is given; says that nothing changed only when told to.
class FakeModel : public MeshModel {
 public:
  struct Log {
    std::mutex mutex;
    std::vector<std::vector<std::string>>
        batches;  // names of the changed objects, "-" before those that are gone
    std::atomic<bool> says_nothing_changed{false};
  };
  explicit FakeModel(Log* log) : log_(log) {}
  mesh::SnapshotPtr Update(std::span<const config::ObjectChange> changes, const model::SettingsPtr& settings,
                           Reasons* changed) override {
    if (log_->says_nothing_changed) return nullptr;
    std::vector<std::string> names;
    if (settings != nullptr) names.push_back("settings");
    for (const auto& change : changes) {
      names.push_back(StrCat(change.object == nullptr ? "-" : "", change.key.name.str()));
      changed->Add(ReasonOf(change.key.kind));
    }
    std::lock_guard lock(log_->mutex);
    log_->batches.push_back(std::move(names));
    return EmptySnapshot();
  }
  void SetKeySets(model::KeySetsPtr key_sets) override {
    std::lock_guard lock(log_->mutex);
    log_->batches.push_back({StrCat("keys:", key_sets->size())});
  }
  std::vector<config::Diagnostic> Diagnostics() const override { return {}; }

 private:
  Log* const log_;
};

config::ObjectChange Changed(config::Kind kind, const std::string& name, bool gone = false) {
  config::ObjectMeta meta;
  meta.name = name;
  meta.ns = "default";
  config::ConfigPtr object;
  if (!gone) object = std::make_shared<config::ConfigObject>(kind, meta, config::Origin{}, nullptr, 1);
  return {{kind, "default", name}, object};
}

class MeshThreadTest : public testing::Test {
 protected:
  explicit MeshThreadTest(MeshThreadOptions options = {.debounce = {.quiet = 500ms, .max = 10s}})
      : thread(options, std::make_unique<FakeModel>(&log),
               [this](mesh::SnapshotPtr snapshot, const Reasons& why) {
                 std::lock_guard lock(log.mutex);
                 snapshots.push_back(std::move(snapshot));
                 firsts.push_back(why.first);
                 everything.push_back(why.everything);
                 reasons.push_back(why.ToText());
               }) {
    sink = thread.AddSource("one");
  }
  void Await(size_t publications) {
    for (int i = 0; i < 1000; ++i) {
      {
        std::lock_guard lock(log.mutex);
        if (reasons.size() >= publications) return;
      }
      std::this_thread::sleep_for(10ms);
    }
    FAIL() << "no publication " << publications;
  }
  size_t Publications() {
    std::lock_guard lock(log.mutex);
    return reasons.size();
  }
  FakeModel::Log log;
  std::vector<std::string> reasons;
  std::vector<Clock::time_point> firsts;  // when the first change of each came
  std::vector<bool> everything;
  std::vector<mesh::SnapshotPtr> snapshots;
  MeshThread thread;
  source::Sink* sink;
};

// With a quiet time that no test would wait for.
class WithoutQuiet : public MeshThreadTest {
 protected:
  WithoutQuiet() : MeshThreadTest({.debounce = {.quiet = 1h, .max = 1h}}) {}
};

TEST_F(WithoutQuiet, PublishesWhenEverySourceHasSynced) {
  source::Sink* other = thread.AddSource("two");
  thread.SetSettings(std::make_shared<model::Settings>());
  thread.Start();
  sink->OnChanges({Changed(config::Kind::kService, "a")});
  sink->OnSynced();
  std::this_thread::sleep_for(250ms);
  EXPECT_EQ(Publications(), 0u);
  EXPECT_FALSE(thread.Ready());
  EXPECT_EQ(thread.Unsynced(), std::vector<std::string>{"two"});
  other->OnSynced();
  Await(1);  // what existed at the start waits for no quiet
  EXPECT_THAT(log.batches[0], testing::ElementsAre("settings", "a"));
}

TEST_F(MeshThreadTest, AnEmptyMeshIsPublished) {
  thread.Start();
  sink->OnSynced();
  Await(1);
}

TEST_F(MeshThreadTest, KeySetsReachTheModelBeforeItsUpdate) {
  thread.Start();
  sink->OnSynced();
  Await(1);
  thread.SetKeySets(std::make_shared<const model::KeySets>());
  Await(2);
  ASSERT_EQ(log.batches.size(), 3u);
  EXPECT_THAT(log.batches[1], testing::ElementsAre("keys:0"));
  EXPECT_THAT(log.batches[2], testing::IsEmpty()) << "no object changed";
  EXPECT_EQ(reasons[1], "unknown:1");
}

TEST_F(MeshThreadTest, ABurstIsOnePublicationOfTheLatest) {
  thread.Start();
  sink->OnSynced();
  Await(1);
  for (int i = 0; i < 5; ++i) {
    sink->OnChanges(
        {Changed(config::Kind::kVirtualService, "a"), Changed(config::Kind::kService, "b", i == 4)});
    std::this_thread::sleep_for(20ms);
  }
  Await(2);
  std::this_thread::sleep_for(200ms);
  ASSERT_EQ(Publications(), 2u);
  EXPECT_THAT(log.batches[1], testing::UnorderedElementsAre("a", "-b"));
  EXPECT_EQ(reasons[1], "config:1 service:1");
}

class EndpointDebounce : public MeshThreadTest {
 protected:
  explicit EndpointDebounce(bool debounce_endpoints = false)
      : MeshThreadTest({.debounce = {.quiet = 1h, .max = 2s}, .debounce_endpoints = debounce_endpoints}) {
    thread.Start();
    sink->OnSynced();
    Await(1);
    sink->OnChanges({Changed(config::Kind::kVirtualService, "a")});
    sink->OnChanges({Changed(config::Kind::kEndpointSlice, "e")});
    Await(2);
  }
};
class EndpointsDebounced : public EndpointDebounce {
 protected:
  EndpointsDebounced() : EndpointDebounce(true) {}
};

// PILOT_ENABLE_EDS_DEBOUNCE=false
TEST_F(EndpointDebounce, EndpointsDoNotWait) {
  EXPECT_THAT(log.batches[1], testing::ElementsAre("e"));
  Await(3);  // the other after PILOT_DEBOUNCE_MAX
  EXPECT_THAT(log.batches[2], testing::ElementsAre("a"));
}

// PILOT_ENABLE_EDS_DEBOUNCE=true
TEST_F(EndpointsDebounced, EndpointsWaitWithTheOthers) {
  EXPECT_THAT(log.batches[1], testing::UnorderedElementsAre("a", "e"));
}

// One write of a pod and of its endpoints is one publication.
TEST_F(MeshThreadTest, WhatIsHandedOverTogetherIsPublishedTogether) {
  thread.Start();
  sink->OnSynced();
  Await(1);
  sink->OnChanges({Changed(config::Kind::kPod, "p"), Changed(config::Kind::kEndpointSlice, "e")});
  Await(2);
  EXPECT_THAT(log.batches[1], testing::UnorderedElementsAre("p", "e"));
}

TEST_F(MeshThreadTest, ARelistIsWhatDiffersAndASourceSyncsByKinds) {
  source::Sink* other = thread.AddSource("two", {config::Kind::kService, config::Kind::kSecret});
  thread.Start();
  sink->OnSynced();
  other->Replace(config::Kind::kService, {Changed(config::Kind::kService, "a").object});
  other->Synced(config::Kind::kService);
  EXPECT_EQ(thread.Unsynced(), std::vector<std::string>{"two"});
  other->Synced(config::Kind::kSecret);
  Await(1);
  EXPECT_THAT(log.batches[0], testing::ElementsAre("a"));
  other->Replace(config::Kind::kService, {Changed(config::Kind::kService, "b").object});
  Await(2);
  EXPECT_THAT(log.batches[1], testing::UnorderedElementsAre("-a", "b"));
}

TEST_F(MeshThreadTest, AnObjectBelongsToTheSourceThatBroughtIt) {
  source::Sink* other = thread.AddSource("two");
  thread.Start();
  sink->OnChanges({Changed(config::Kind::kService, "a")});
  sink->OnSynced();
  other->OnSynced();
  Await(1);
  other->OnChanges({Changed(config::Kind::kService, "a", true), Changed(config::Kind::kService, "b")});
  Await(2);
  EXPECT_THAT(log.batches[1], testing::ElementsAre("b"));
}

// A wish to push all rides with what else there is, and needs no change.
TEST_F(MeshThreadTest, APushOfEverythingIsMergedWithChanges) {
  thread.Start();
  sink->OnSynced();
  Await(1);
  thread.PushAll();
  const Clock::time_point first = Clock::now();
  sink->OnChanges({Changed(config::Kind::kVirtualService, "a")});
  thread.PushAll();
  Await(2);
  EXPECT_LE(firsts[1], first) << "what has waited longest counts";
  EXPECT_EQ(reasons[1], "config:1 debug:2");
  EXPECT_TRUE(everything[1]);
  log.says_nothing_changed = true;
  sink->OnChanges({Changed(config::Kind::kVirtualService, "a")});
  thread.PushAll();
  Await(3);
  EXPECT_EQ(reasons[2], "debug:1");
  EXPECT_EQ(snapshots[2], snapshots[1]) << "the mesh is the same";
  EXPECT_FALSE(everything[0]);
}

}  // namespace
}  // namespace fairlead::push
