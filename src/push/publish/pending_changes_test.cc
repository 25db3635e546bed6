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
  Add({Slice("a", "s", {"p"}), Changed(Kind::kPod, "a", "p")});
  EXPECT_THAT(Take(), IsEmpty());
  EXPECT_EQ(*pending_.Due(), now_ + kQuiet);
  EXPECT_THAT(TakeQuiet(), UnorderedElementsAre("s", "p"));
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

TEST_F(PendingChangesTest, EndpointsWaitForTheirPods) {
  Add({Changed(Kind::kPod, "a", "p")});
  Add({Slice("a", "s", {"q", "p"})});
  EXPECT_THAT(Take(), IsEmpty());
  EXPECT_THAT(TakeQuiet(), UnorderedElementsAre("p", "s"));
  Add({Gone(Kind::kPod, "a", "p")});
  Add({Slice("a", "s", {""})});
  EXPECT_THAT(Take(), IsEmpty()) << "its address may be the pod's";
  EXPECT_THAT(TakeQuiet(), UnorderedElementsAre("-p", "s"));
  Add({Gone(Kind::kPod, "a", "p")});
  Add({Slice("b", "s", {""})});
  EXPECT_THAT(Take(), ElementsAre("s")) << "of another namespace";
}

TEST_F(PendingChangesTest, EndpointsWaitForTheirServiceAndItsOtherSlices) {
  Add({Changed(Kind::kService, "a", "service")});
  Add({Slice("a", "s")});
  EXPECT_THAT(Take(), IsEmpty());
  EXPECT_THAT(TakeQuiet(), UnorderedElementsAre("service", "s"));
  // The endpoints move to a slice that waits for its pod; without it there would be none.
  Add({Slice("a", "new", {"p"}), Changed(Kind::kPod, "a", "p")});
  Add({Gone(Kind::kEndpointSlice, "a", "s")});
  EXPECT_THAT(Take(), IsEmpty());
  EXPECT_THAT(TakeQuiet(), UnorderedElementsAre("p", "new", "-s"));
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
  Add({Gone(Kind::kEndpointSlice, "a", "s"), Changed(Kind::kPod, "a", "p")});
  now_ += kQuiet;
  EXPECT_THAT(Take(), UnorderedElementsAre("-s", "p")) << "both were due";
  Add({Gone(Kind::kEndpointSlice, "a", "s"), Changed(Kind::kPod, "a", "p")});
  Add({Slice("a", "s")});
  EXPECT_THAT(Take(), IsEmpty());
  EXPECT_THAT(TakeQuiet(), UnorderedElementsAre("s", "p"));
}

TEST_F(PendingChangesTest, EndpointsThatWaitMakeNothingWaitLonger) {
  Add({Changed(Kind::kPod, "a", "p")});
  const auto due = pending_.Due();
  now_ += kQuiet / 2;
  Add({Slice("a", "s", {"p"})});
  EXPECT_EQ(pending_.Due(), due);
}

TEST_F(PendingChangesTest, NothingWaitsLongerThanTheMaximum) {
  const Clock::time_point start = now_;
  for (; now_ < start + kMax; now_ += kQuiet / 2) {
    Add({Slice("a", "s", {"p"}), Changed(Kind::kPod, "a", "p")});
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
