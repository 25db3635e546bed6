#include "cni/repair.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/strings.h"
#include "config/read/json_reader.h"

namespace fairlead::cni {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

PodFacts Broken() {
  PodFacts pod;
  pod.name = "web-0";
  pod.uid = "u1";
  pod.annotations = {{"sidecar.istio.io/status", "{}"}};
  pod.init_containers = {
      {"istio-validation", std::nullopt, PodFacts::InitContainer::End{126, "Error", "words"}}};
  return pod;
}

std::string Json(const std::string& uid, int exit_code) {
  return StrCat(
      R"({"metadata": {"name": "web-0", "namespace": "shop", "uid": ")", uid,
      R"(", "annotations": {"sidecar.istio.io/status": "{}"}}, "status": {"initContainerStatuses": [{"name": "istio-validation",)"
      R"( "lastState": {"terminated": {"exitCode": )",
      exit_code, "}}}]}}");
}

TEST(IsBrokenTest, AFailedValidationThatHasNotSucceededSince) {
  NodeOptions options;
  EXPECT_TRUE(IsBroken(Broken(), options));
  PodFacts pod = Broken();
  pod.init_containers[0].end = PodFacts::InitContainer::End{0, "Completed", ""};
  EXPECT_FALSE(IsBroken(pod, options));
  pod = Broken();
  std::swap(pod.init_containers[0].end, pod.init_containers[0].last_end);
  EXPECT_TRUE(IsBroken(pod, options));
  pod = Broken();
  pod.init_containers[0].last_end->exit_code = 1;
  EXPECT_FALSE(IsBroken(pod, options));
  options.exit_code = "0";
  EXPECT_TRUE(IsBroken(pod, options));
  options.message = "other words";
  EXPECT_FALSE(IsBroken(pod, options));
}

TEST(IsBrokenTest, OtherPodsAndContainersAreNot) {
  NodeOptions options;
  PodFacts pod = Broken();
  pod.annotations.clear();
  EXPECT_FALSE(IsBroken(pod, options));
  options.annotation.clear();
  EXPECT_TRUE(IsBroken(pod, options));
  pod.init_containers[0].name = "init";
  EXPECT_FALSE(IsBroken(pod, options));
}

TEST(SelectorOfTest, OfANodeAndWhatElseIsAsked) {
  NodeOptions options;
  options.node = "n1";
  EXPECT_EQ(SelectorOf(options), "fieldSelector=spec.nodeName%3Dn1");
  options.field_selector = "status.phase=Pending";
  options.label_selector = "a in (b)";
  EXPECT_EQ(SelectorOf(options),
            "fieldSelector=status.phase%3DPending%2Cspec.nodeName%3Dn1&labelSelector=a%20in%20%28b%29");
}

class RepairTest : public testing::Test {
 protected:
  RepairTest()
      : repair_(options_, {.redirect = [this](const PodFacts& pod) { return Note("redirect", pod); },
                           .erase = [this](const PodFacts& pod) { return Note("delete", pod); },
                           .label = [this](const PodFacts& pod) { return Note("label", pod); }}) {}

  absl::Status Note(const char* act, const PodFacts& pod) {
    done_.push_back(StrCat(act, " ", pod.uid));
    return result_;
  }
  void See(const std::string& json) { repair_.OnObject(config::JsonReader().Read(json)->root()); }

  NodeOptions options_;
  absl::Status result_;
  std::vector<std::string> done_;
  Repair repair_;
  Repair::Time now_{};
};

TEST_F(RepairTest, ABrokenPodIsDealtWithOnce) {
  options_.delete_pods = options_.label_pods = "true";
  See(Json("u1", 126));
  See(Json("u2", 1));
  repair_.Work(now_);
  See(Json("u1", 126));
  repair_.Work(now_ + std::chrono::hours(1));
  EXPECT_THAT(done_, ElementsAre("delete u1"));
}

TEST_F(RepairTest, RulesComeBeforeDeletionAndALabelIsTheLast) {
  options_.repair_pods = options_.delete_pods = options_.label_pods = "true";
  See(Json("u1", 126));
  repair_.Work(now_);
  options_.repair_pods = options_.delete_pods = "false";
  See(Json("u2", 126));
  repair_.Work(now_);
  EXPECT_THAT(done_, ElementsAre("redirect u1", "label u2"));
}

TEST_F(RepairTest, AFailureIsRepeatedFiveTimesAtMost) {
  options_.delete_pods = "true";
  result_ = absl::UnavailableError("down");
  See(Json("u1", 126));
  repair_.Work(now_);
  repair_.Work(now_ + std::chrono::seconds(1));
  EXPECT_EQ(done_.size(), 1U);
  for (int i = 1; i < 20; ++i) repair_.Work(now_ + std::chrono::minutes(i));
  EXPECT_EQ(done_.size(), 5U);
  EXPECT_EQ(repair_.waiting(), 0U);
}

TEST_F(RepairTest, PodsThatGoAreForgotten) {
  options_.delete_pods = "true";
  See(Json("u1", 126));
  See(Json("u2", 126));
  repair_.OnListBegin();
  See(Json("u2", 126));
  repair_.OnListEnd();
  repair_.OnGone(config::JsonReader().Read(Json("u2", 126))->root());
  repair_.Work(now_);
  EXPECT_THAT(done_, IsEmpty());
}

}  // namespace
}  // namespace fairlead::cni
