#include "push/publish/control_loop.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/strings.h"
#include "config/read/manifests.h"
#include "model/mesh_config.h"

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

config::ObjectChange Changed(config::Kind kind, const std::string& name, bool gone = false) {
  const auto text = [&] {
    switch (kind) {
      case config::Kind::kService:
        return StrCat("{apiVersion: v1, kind: Service, metadata: {name: ", name,
                      "}, spec: {ports: [{port: 80}]}}");
      case config::Kind::kPod:
        return StrCat("{apiVersion: v1, kind: Pod, metadata: {name: ", name, "}}");
      case config::Kind::kEndpointSlice:
        return StrCat("{apiVersion: discovery.k8s.io/v1, kind: EndpointSlice, metadata: {name: ", name,
                      "}, addressType: IPv4, endpoints: []}");
      default:
        return StrCat("{apiVersion: networking.istio.io/v1, kind: VirtualService, metadata: {name: ", name,
                      "}, spec: {hosts: [", name, "], http: [{route: [{destination: {host: ", name,
                      "}}]}]}}");
    }
  };
  const auto parsed = config::ParseManifests(text(), "test.yaml");
  EXPECT_EQ(parsed.objects.size(), 1u);
  return {config::KeyOf(*parsed.objects[0]), gone ? nullptr : parsed.objects[0]};
}

model::SettingsPtr SomeSettings() {
  return model::MakeSettings(model::ParseMeshConfig("", "mesh.yaml").mesh,
                             model::ParseMeshNetworks("", "networks.yaml").networks, "cluster.local",
                             "Kubernetes");
}

class ControlLoopTest : public testing::Test {
 protected:
  explicit ControlLoopTest(IntakeOptions options = {.debounce = {.quiet = 500ms, .max = 10s}})
      : loop(options) {
    loop.AddObserver([this](const Publication& publication) {
      std::vector<std::string> names;
      for (const auto& change : publication.changes)
        names.push_back(StrCat(change.object == nullptr ? "-" : "", change.key.name.str()));
      EXPECT_EQ(publication.mesh.snapshot(), publication.snapshot);
      std::lock_guard lock(mutex);
      batches.push_back(std::move(names));
      snapshots.push_back(publication.snapshot);
      firsts.push_back(publication.reasons.first);
      everything.push_back(publication.reasons.everything);
      reasons.push_back(publication.reasons.ToText());
    });
    sink = loop.AddSource("one");
  }
  ~ControlLoopTest() override { loop.Stop(); }
  void StartWithSettings() {
    loop.Set(SomeSettings());
    loop.Start();
  }
  void Await(size_t publications) {
    for (int i = 0; i < 1000; ++i) {
      {
        std::lock_guard lock(mutex);
        if (reasons.size() >= publications) return;
      }
      std::this_thread::sleep_for(10ms);
    }
    FAIL() << "no publication " << publications;
  }
  size_t Publications() {
    std::lock_guard lock(mutex);
    return reasons.size();
  }
  std::mutex mutex;
  // Of each publication: names of the changed objects, "-" before those that are gone; …
  std::vector<std::vector<std::string>> batches;
  std::vector<std::string> reasons;
  std::vector<Clock::time_point> firsts;  // when the first change of each came
  std::vector<bool> everything;
  std::vector<mesh::SnapshotPtr> snapshots;
  ControlLoop loop;
  source::Sink* sink;
};

// With a quiet time that no test would wait for.
class WithoutQuiet : public ControlLoopTest {
 protected:
  WithoutQuiet() : ControlLoopTest({.debounce = {.quiet = 1h, .max = 1h}}) {}
};

TEST_F(WithoutQuiet, PublishesWhenEverySourceHasSynced) {
  source::Sink* other = loop.AddSource("two");
  StartWithSettings();
  sink->OnChanges({Changed(config::Kind::kService, "a")});
  sink->OnSynced();
  std::this_thread::sleep_for(250ms);
  EXPECT_EQ(Publications(), 0u);
  EXPECT_FALSE(loop.Ready());
  EXPECT_EQ(loop.Unsynced(), std::vector<std::string>{"two"});
  other->OnSynced();
  Await(1);  // what existed at the start waits for no quiet
  EXPECT_THAT(batches[0], testing::ElementsAre("a"));
}

TEST_F(ControlLoopTest, AnEmptyMeshIsPublished) {
  StartWithSettings();
  sink->OnSynced();
  Await(1);
}

TEST_F(WithoutQuiet, WaitsForSettings) {
  loop.Start();
  sink->OnSynced();
  std::this_thread::sleep_for(250ms);
  EXPECT_EQ(Publications(), 0u);
  loop.Set(SomeSettings());
  Await(1);
}

TEST_F(ControlLoopTest, AFactIsAChangeOfItsOwn) {
  StartWithSettings();
  sink->OnSynced();
  Await(1);
  const auto keys = std::make_shared<const model::KeySets>();
  loop.Set(keys);
  Await(2);
  EXPECT_THAT(batches[1], testing::IsEmpty()) << "no object changed";
  EXPECT_EQ(reasons[1], "unknown:1");
  EXPECT_EQ(snapshots[1]->key_sets, keys);
  const auto roots = std::make_shared<const model::TrustBundle>(model::TrustBundle{"root"});
  loop.Set(roots);
  Await(3);
  EXPECT_EQ(reasons[2], "global:1");
  EXPECT_EQ(snapshots[2]->trust_bundle, roots);
  EXPECT_EQ(snapshots[2]->key_sets, keys) << "what is not said is as it was";
}

TEST_F(ControlLoopTest, AForkIsASecondMeshThatOthersChange) {
  EXPECT_EQ(loop.Fork(), nullptr) << "there is none yet";
  StartWithSettings();
  sink->OnChanges({Changed(config::Kind::kVirtualService, "a")});
  sink->OnSynced();
  Await(1);
  std::vector<std::thread> others;
  for (int i = 0; i < 4; ++i) {
    others.emplace_back([&, i] {
      const auto second = loop.Fork();
      second->Apply(std::vector{Changed(config::Kind::kVirtualService, StrCat("of-", i))}, nullptr);
      EXPECT_GE(second->snapshot()->virtual_services->All().size(), 2u);
      sink->OnChanges({Changed(config::Kind::kService, StrCat("live-", i))});
    });
  }
  for (auto& other : others) other.join();
  Await(2);
  EXPECT_EQ(snapshots.back()->virtual_services->All().size(), 1u) << "the live one does not have theirs";
}

// A track beside the live one: a loop of its own over a fork.
TEST_F(ControlLoopTest, AForkMayHaveALoopOfItsOwn) {
  StartWithSettings();
  sink->OnChanges({Changed(config::Kind::kVirtualService, "a")});
  sink->OnSynced();
  Await(1);
  ControlLoop canary({.debounce = {.quiet = 1ms, .max = 1s}}, *loop.Fork());
  std::mutex canary_mutex;
  std::vector<size_t> routes;
  canary.AddObserver([&](const Publication& now) {
    std::lock_guard lock(canary_mutex);
    routes.push_back(now.snapshot->virtual_services->All().size());
  });
  source::Sink* const change = canary.AddSource("change");
  change->OnSynced();
  canary.Start();
  const auto await = [&](size_t publications) {
    for (int i = 0; i < 1000; ++i) {
      {
        std::lock_guard lock(canary_mutex);
        if (routes.size() >= publications) return;
      }
      std::this_thread::sleep_for(10ms);
    }
    FAIL() << "no publication " << publications;
  };
  await(1);
  change->OnChanges({Changed(config::Kind::kVirtualService, "b")});
  await(2);
  canary.Stop();
  EXPECT_THAT(routes, testing::ElementsAre(1u, 2u));
  EXPECT_EQ(Publications(), 1u) << "the live one does not know of it";
}

TEST_F(ControlLoopTest, DiagnosticsNameThePlacesOfToday) {
  const auto rules = [](int lines_before) {
    std::string text(static_cast<size_t>(lines_before), '\n');
    for (const char* name : {"one", "two"})
      StrAppend(&text, "{apiVersion: networking.istio.io/v1, kind: DestinationRule, metadata: {name: ", name,
                "}, spec: {host: web, subsets: [{name: v1}]}}\n---\n");
    std::vector<config::ObjectChange> changes;
    for (const auto& object : config::ParseManifests(text, "a.yaml").objects)
      changes.push_back({config::KeyOf(*object), object});
    return changes;
  };
  std::atomic<int> told{0};
  loop.AddPlaceObserver([&told] { ++told; });
  StartWithSettings();
  sink->OnChanges(rules(0));
  sink->OnSynced();
  Await(1);
  EXPECT_EQ(told, 0);
  ASSERT_EQ(loop.Diagnostics()->size(), 1u);
  EXPECT_EQ(loop.Diagnostics()->front().line, 3);
  const uint64_t before = loop.rounds();
  sink->OnChanges(rules(5));
  for (int i = 0; i < 1000 && loop.rounds() == before; ++i) std::this_thread::sleep_for(10ms);
  ASSERT_EQ(loop.Diagnostics()->size(), 1u);
  EXPECT_EQ(loop.Diagnostics()->front().line, 8);
  EXPECT_EQ(loop.Objects().Written()[0]->origin().line, 6);
  EXPECT_EQ(Publications(), 1u) << "proxies are told nothing";
  EXPECT_EQ(told, 1);
}

TEST_F(ControlLoopTest, ABurstIsOnePublicationOfTheLatest) {
  StartWithSettings();
  sink->OnChanges({Changed(config::Kind::kService, "b")});
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
  EXPECT_THAT(batches[1], testing::UnorderedElementsAre("a", "-b"));
  EXPECT_EQ(reasons[1], "config:1 service:1");
}

class EndpointDebounce : public ControlLoopTest {
 protected:
  explicit EndpointDebounce(bool debounce_endpoints = false)
      : ControlLoopTest({.debounce = {.quiet = 1h, .max = 2s}, .debounce_endpoints = debounce_endpoints}) {
    StartWithSettings();
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
  EXPECT_THAT(batches[1], testing::ElementsAre("e"));
  Await(3);  // the other after PILOT_DEBOUNCE_MAX
  EXPECT_THAT(batches[2], testing::ElementsAre("a"));
}

// PILOT_ENABLE_EDS_DEBOUNCE=true
TEST_F(EndpointsDebounced, EndpointsWaitWithTheOthers) {
  EXPECT_THAT(batches[1], testing::UnorderedElementsAre("a", "e"));
}

// One write of a pod and of its endpoints is one publication.
TEST_F(ControlLoopTest, WhatIsHandedOverTogetherIsPublishedTogether) {
  StartWithSettings();
  sink->OnSynced();
  Await(1);
  sink->OnChanges({Changed(config::Kind::kPod, "p"), Changed(config::Kind::kEndpointSlice, "e")});
  Await(2);
  EXPECT_THAT(batches[1], testing::UnorderedElementsAre("p", "e"));
}

TEST_F(ControlLoopTest, ARelistIsWhatDiffersAndASourceSyncsByKinds) {
  source::Sink* other = loop.AddSource("two", {config::Kind::kService, config::Kind::kSecret});
  StartWithSettings();
  sink->OnSynced();
  other->Replace(config::Kind::kService, {Changed(config::Kind::kService, "a").object});
  other->Synced(config::Kind::kService);
  EXPECT_EQ(loop.Unsynced(), std::vector<std::string>{"two"});
  other->Synced(config::Kind::kSecret);
  Await(1);
  EXPECT_THAT(batches[0], testing::ElementsAre("a"));
  other->Replace(config::Kind::kService, {Changed(config::Kind::kService, "b").object});
  Await(2);
  EXPECT_THAT(batches[1], testing::UnorderedElementsAre("-a", "b"));
}

TEST_F(ControlLoopTest, AnObjectBelongsToTheSourceThatBroughtIt) {
  source::Sink* other = loop.AddSource("two");
  StartWithSettings();
  sink->OnChanges({Changed(config::Kind::kService, "a")});
  sink->OnSynced();
  other->OnSynced();
  Await(1);
  other->OnChanges({Changed(config::Kind::kService, "a", true), Changed(config::Kind::kService, "b")});
  Await(2);
  EXPECT_THAT(batches[1], testing::ElementsAre("b"));
}

// A wish to push all rides with what else there is, and needs no change.
TEST_F(ControlLoopTest, APushOfEverythingIsMergedWithChanges) {
  StartWithSettings();
  sink->OnSynced();
  Await(1);
  loop.PushAll();
  const Clock::time_point first = Clock::now();
  sink->OnChanges({Changed(config::Kind::kVirtualService, "a")});
  loop.PushAll();
  Await(2);
  EXPECT_LE(firsts[1], first) << "what has waited longest counts";
  EXPECT_EQ(reasons[1], "config:1 debug:2");
  EXPECT_TRUE(everything[1]);
  sink->OnChanges({Changed(config::Kind::kVirtualService, "a")});
  loop.PushAll();
  Await(3);
  EXPECT_EQ(reasons[2], "debug:1");
  EXPECT_EQ(snapshots[2], snapshots[1]) << "the mesh is the same";
  EXPECT_FALSE(everything[0]);
}

}  // namespace
}  // namespace fairlead::push
