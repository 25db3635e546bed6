#include "push/publish/pending_changes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/strings.h"
#include "config/kubernetes_types.h"

namespace fairlead::push {
namespace {

using config::Kind;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;
using namespace std::chrono_literals;

constexpr auto kQuiet = 100ms;
constexpr auto kMax = 1s;

template <typename Spec = config::PodSpec>
config::ObjectChange Changed(Kind kind, const std::string& ns, const std::string& name, Spec spec = {}) {
  config::ObjectMeta meta;
  meta.name = name;
  meta.ns = ns;
  return {{kind, ns, name},
          std::make_shared<config::ConfigObject>(kind, meta, config::Origin{},
                                                 std::make_shared<const Spec>(std::move(spec)), 1)};
}

config::ObjectChange Gone(Kind kind, const std::string& ns, const std::string& name) {
  return {{kind, ns, name}, nullptr};
}

// A slice whose endpoints are these pods of its namespace; "" for one that names no pod.
config::ObjectChange Slice(const std::string& ns, const std::string& name,
                           const std::vector<std::string>& pods = {}) {
  config::EndpointSliceSpec spec;
  for (const std::string& pod : pods) {
    config::SliceEndpoint& endpoint = spec.endpoints.emplace_back();
    endpoint.addresses = {"10.0.0.1"};
    if (!pod.empty()) endpoint.target = config::TargetReference{"Pod", ns, pod};
  }
  return Changed(Kind::kEndpointSlice, ns, name, std::move(spec));
}

class PendingChangesTest : public testing::Test {
 protected:
  // One batch, handed over now.
  void Add(std::vector<config::ObjectChange> batch) { pending_.Add(std::move(batch), now_); }
  // Names of what is published now.
  std::vector<std::string> Take() {
    std::vector<std::string> names;
    for (const auto& [key, change] : pending_.Take(now_, false).changes)
      names.push_back(StrCat(change.object == nullptr ? "-" : "", key.name.str()));
    return names;
  }
  // The same when all have waited long enough.
  std::vector<std::string> TakeQuiet() {
    now_ += kQuiet;
    return Take();
  }

  PendingChanges pending_{{.quiet = kQuiet, .max = kMax}, false};
  Clock::time_point now_ = Clock::time_point() + 1h;
};

TEST_F(PendingChangesTest, EndpointsAloneDoNotWait) {
  Add({Slice("a", "s", {"p"})});
  EXPECT_LE(*pending_.Due(), now_);
  EXPECT_THAT(Take(), ElementsAre("s"));
  EXPECT_EQ(pending_.Due(), std::nullopt);
}

TEST_F(PendingChangesTest, ABatchIsNotTorn) {
  Add({Slice("a", "s"), Changed(Kind::kVirtualService, "a", "v")});
  EXPECT_THAT(Take(), IsEmpty());
  EXPECT_EQ(*pending_.Due(), now_ + kQuiet);
  EXPECT_THAT(TakeQuiet(), UnorderedElementsAre("s", "v"));
}

TEST_F(PendingChangesTest, PodsGoWithTheirEndpoints) {
  Add({Changed(Kind::kPod, "a", "p"), Gone(Kind::kPod, "b", "q")});
  EXPECT_THAT(Take(), IsEmpty());
  Add({Slice("a", "s", {"p"})});
  EXPECT_THAT(Take(), UnorderedElementsAre("p", "-q", "s"));
  Add({Slice("a", "s", {"p"}), Changed(Kind::kPod, "a", "p")});
  EXPECT_THAT(Take(), UnorderedElementsAre("p", "s"));
  Add({Slice("a", "s", {""})});
  Add({Gone(Kind::kPod, "a", "p")});
  EXPECT_THAT(Take(), UnorderedElementsAre("-p", "s"));
  EXPECT_EQ(pending_.Due(), std::nullopt);
}

TEST_F(PendingChangesTest, PodsAloneWaitAWhileAndMakeNothingWaitLonger) {
  Add({Changed(Kind::kPod, "a", "p")});
  EXPECT_EQ(*pending_.Due(), now_ + kQuiet);
  now_ += kQuiet / 2;
  Add({Changed(Kind::kPod, "a", "q")});
  EXPECT_EQ(*pending_.Due(), now_ + kQuiet / 2);
  now_ += kQuiet / 2;
  EXPECT_THAT(Take(), UnorderedElementsAre("p", "q"));
  Add({Changed(Kind::kVirtualService, "a", "v")});
  const auto due = pending_.Due();
  now_ += kQuiet / 2;
  Add({Changed(Kind::kPod, "a", "p")});
  EXPECT_EQ(pending_.Due(), due);
  now_ += kQuiet / 2;
  EXPECT_THAT(Take(), UnorderedElementsAre("v", "p"));
}

TEST_F(PendingChangesTest, APodWaitsForItsNodeAndForItsOwnEarlierVersion) {
  for (const Kind kind : {Kind::kNode, Kind::kNamespace}) {
    Add({Changed(kind, "", "of-all")});
    Add({Changed(Kind::kPod, "a", "p")});
    Add({Slice("a", "s", {"p"})});
    EXPECT_THAT(Take(), IsEmpty());
    EXPECT_THAT(TakeQuiet(), UnorderedElementsAre("of-all", "p", "s"));
  }
  Add({Changed(Kind::kPod, "a", "p"), Changed(Kind::kVirtualService, "a", "v")});
  Add({Gone(Kind::kPod, "a", "p")});
  EXPECT_THAT(TakeQuiet(), UnorderedElementsAre("v", "-p"));
}

TEST_F(PendingChangesTest, AStormOfEndpointsIsPublishedAtAPace) {
  PendingChanges pending({.quiet = kQuiet, .max = kMax}, false, {.at_once = 3, .per_second = 4});
  size_t published = 0, changes = 0;
  const Clock::time_point start = now_;
  for (int i = 0; now_ < start + 2s; ++i, now_ += 10ms) {
    pending.Add({Slice("a", StrCat("s", i)), Changed(Kind::kPod, "a", "p")}, now_);
    const auto taken = pending.Take(now_, false).changes;
    published += taken.empty() ? 0 : 1;
    changes += taken.empty() ? 0 : taken.size() - 1;
    if (taken.empty()) {
      EXPECT_LE(*pending.Due(), now_ + 250ms);
    }
  }
  EXPECT_EQ(published, 3u + 7u);
  EXPECT_GE(changes, 175u);
  now_ = *pending.Due();
  EXPECT_EQ(pending.Take(now_, false).changes.size(), 200u - changes + 1);
  now_ += 1s;
  for (int i = 0; i < 3; ++i) {
    pending.Add({Slice("a", "late")}, now_);
    EXPECT_EQ(pending.Take(now_, false).changes.size(), 1u) << "after a rest they need not wait";
  }
}

// While endpoints change without a pause, the pushes take two hundredths of a processor.
TEST_F(PendingChangesTest, AStormIsPublishedAsItsPushesCost) {
  Clock::duration spent{};
  PendingChanges pending({.quiet = kQuiet, .max = 10s}, false,
                         {.at_once = 3, .per_second = 4, .cost = [&] { return spent; }, .share = .02});
  const Clock::time_point start = now_;
  size_t published = 0;
  for (; now_ < start + 10s; now_ += kQuiet / 4) {
    pending.Add({Slice("a", "s")}, now_);
    if (pending.Take(now_, false).empty()) continue;
    ++published;
    spent += 40ms;
  }
  EXPECT_EQ(published, 5u) << "two seconds for 40 ms of pushes";
  spent += 1min;
  pending.Add({Slice("a", "s")}, now_);
  EXPECT_EQ(*pending.Due(), now_ + kQuiet) << "a pause ends the wait";
  for (; now_ < start + 60s; now_ += kQuiet / 4) {
    pending.Add({Slice("a", "s")}, now_);
    published += pending.Take(now_, false).empty() ? 0 : 1;
  }
  EXPECT_GE(published, 9u) << "never later than the longest wait";
}

TEST_F(PendingChangesTest, AfterAPauseEndpointsNeedNotWaitForTheCostBefore) {
  Clock::duration spent{};
  PendingChanges pending({.quiet = kQuiet, .max = 10s}, false, {.cost = [&] { return spent; }});
  pending.Add({Slice("a", "s")}, now_);
  EXPECT_FALSE(pending.Take(now_, false).empty());
  spent += 1s;
  pending.Add({Slice("a", "s")}, now_ + kQuiet / 2);
  EXPECT_EQ(*pending.Due(), now_ + kQuiet / 2 + kQuiet) << "a storm may come";
  EXPECT_FALSE(pending.Take(now_ += 2 * kQuiet, false).empty());
  spent += 1s;
  pending.Add({Slice("a", "s")}, now_);
  EXPECT_LE(*pending.Due(), now_);
}

TEST_F(PendingChangesTest, EndpointsAtAPaceGoWithWhatIsDue) {
  PendingChanges pending({.quiet = kQuiet, .max = kMax}, false, {.at_once = 1, .per_second = 1});
  pending.Add({Slice("a", "s")}, now_);
  EXPECT_EQ(pending.Take(now_, false).changes.size(), 1u);
  pending.Add({Slice("a", "t")}, now_);
  pending.Add({Changed(Kind::kVirtualService, "a", "v")}, now_);
  EXPECT_TRUE(pending.Take(now_, false).empty());
  EXPECT_EQ(*pending.Due(), now_ + kQuiet);
  EXPECT_EQ(pending.Take(now_ + kQuiet, false).changes.size(), 2u);
}

TEST_F(PendingChangesTest, EndpointsOvertakeWhatDoesNotConcernThem) {
  Add({Changed(Kind::kVirtualService, "a", "v"), Changed(Kind::kPod, "a", "other"),
       Changed(Kind::kService, "b", "service"), Slice("b", "b-1")});
  Add({Slice("a", "s", {"p"})});
  EXPECT_THAT(Take(), ElementsAre("s"));
  Add({Gone(Kind::kEndpointSlice, "a", "s")});
  EXPECT_THAT(Take(), ElementsAre("-s"));
  EXPECT_THAT(TakeQuiet(), UnorderedElementsAre("v", "other", "service", "b-1"));
}

TEST_F(PendingChangesTest, EndpointsOfServiceEntriesNeedNotWait) {
  const auto entry = [] { return Changed(Kind::kServiceEntry, "a", "e"); };
  pending_.Add({entry()}, now_, true);
  EXPECT_THAT(Take(), ElementsAre("e"));
  Add({entry()});
  EXPECT_THAT(Take(), IsEmpty()) << "something else of it changed";
  pending_.Add({entry()}, now_, true);
  EXPECT_THAT(Take(), IsEmpty()) << "what waits may concern it";
  EXPECT_THAT(TakeQuiet(), ElementsAre("e"));
  PendingChanges all_wait({.quiet = kQuiet, .max = kMax}, true);
  all_wait.Add({entry()}, now_, true);
  EXPECT_TRUE(all_wait.Take(now_, false).empty());
}

TEST_F(PendingChangesTest, EndpointsWaitForTheirPods) {
  const auto other = [] { return Changed(Kind::kVirtualService, "a", "v"); };
  Add({Changed(Kind::kPod, "a", "p"), other()});
  Add({Slice("a", "s", {"q", "p"})});
  EXPECT_THAT(Take(), IsEmpty());
  EXPECT_THAT(TakeQuiet(), UnorderedElementsAre("p", "s", "v"));
  Add({Gone(Kind::kPod, "a", "p"), other()});
  Add({Slice("a", "s", {""})});
  EXPECT_THAT(Take(), IsEmpty()) << "its address may be the pod's";
  EXPECT_THAT(TakeQuiet(), UnorderedElementsAre("-p", "s", "v"));
  Add({Gone(Kind::kPod, "a", "p"), other()});
  Add({Slice("b", "s", {""})});
  EXPECT_THAT(Take(), ElementsAre("s")) << "of another namespace";
}

TEST_F(PendingChangesTest, EndpointsWaitForTheirServiceAndItsOtherSlices) {
  Add({Changed(Kind::kService, "a", "service")});
  Add({Slice("a", "s")});
  EXPECT_THAT(Take(), IsEmpty());
  EXPECT_THAT(TakeQuiet(), UnorderedElementsAre("service", "s"));
  // The endpoints move to a slice that waits; without it there would be none.
  Add({Slice("a", "new"), Changed(Kind::kService, "b", "service")});
  Add({Gone(Kind::kEndpointSlice, "a", "s")});
  EXPECT_THAT(Take(), IsEmpty());
  EXPECT_THAT(TakeQuiet(), UnorderedElementsAre("service", "new", "-s"));
}

TEST_F(PendingChangesTest, EndpointsWaitForWhatConcernsAllOfThem) {
  for (const Kind kind : {Kind::kNode, Kind::kNamespace}) {
    Add({Changed(kind, "", "of-all")});
    Add({Slice("a", "s")});
    EXPECT_THAT(Take(), IsEmpty());
    EXPECT_THAT(TakeQuiet(), UnorderedElementsAre("of-all", "s"));
  }
  pending_.Add(model::Facts(std::make_shared<model::Settings>()), now_);
  Add({Slice("a", "s")});
  EXPECT_THAT(Take(), IsEmpty());
  EXPECT_THAT(TakeQuiet(), ElementsAre("s"));
}

TEST_F(PendingChangesTest, TheLaterVersionOfASliceCounts) {
  Add({Slice("a", "s")});
  Add({Gone(Kind::kEndpointSlice, "a", "s"), Changed(Kind::kService, "a", "p")});
  now_ += kQuiet;
  EXPECT_THAT(Take(), UnorderedElementsAre("-s", "p")) << "both were due";
  Add({Gone(Kind::kEndpointSlice, "a", "s"), Changed(Kind::kService, "a", "p")});
  Add({Slice("a", "s")});
  EXPECT_THAT(Take(), IsEmpty());
  EXPECT_THAT(TakeQuiet(), UnorderedElementsAre("s", "p"));
}

TEST_F(PendingChangesTest, EndpointsThatWaitMakeNothingWaitLonger) {
  Add({Changed(Kind::kService, "a", "p")});
  const auto due = pending_.Due();
  now_ += kQuiet / 2;
  Add({Slice("a", "s")});
  EXPECT_EQ(pending_.Due(), due);
}

TEST_F(PendingChangesTest, NothingWaitsLongerThanTheMaximum) {
  const Clock::time_point start = now_;
  for (; now_ < start + kMax; now_ += kQuiet / 2) {
    Add({Slice("a", "s"), Changed(Kind::kService, "a", "p")});
    EXPECT_THAT(Take(), IsEmpty());
  }
  EXPECT_THAT(Take(), UnorderedElementsAre("s", "p"));
}

TEST(DebouncedEndpoints, WaitAlone) {
  PendingChanges pending({.quiet = kQuiet, .max = kMax}, true);
  const Clock::time_point now = Clock::time_point() + 1h;
  pending.Add({Slice("a", "s")}, now);
  EXPECT_EQ(*pending.Due(), now + kQuiet);
  EXPECT_TRUE(pending.Take(now, false).empty());
  EXPECT_EQ(pending.Take(now + kQuiet, false).changes.size(), 1u);
}

}  // namespace
}  // namespace fairlead::push
