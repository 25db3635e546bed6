#include "injection/strategic_merge.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "base/json.h"
#include "injection/typed_json.h"

namespace fairlead::injection {
namespace {

Json Of(std::string_view yaml) {
  auto json = ReadYaml(yaml);
  EXPECT_TRUE(json.ok()) << yaml;
  return json.ok() ? *json : Json();
}

std::string Merge(std::string_view original, std::string_view patch) {
  const auto merged = StrategicMerge(Of(original), Of(patch), *FindGoStruct("core.PodSpec"));
  return merged.ok() ? JsonText(*merged) : std::string(merged.status().message());
}

TEST(StrategicMergeTest, MergesListsByTheirKeys) {
  EXPECT_EQ(Merge("{containers: [{name: a, image: x}, {name: b}]}",
                  "{containers: [{name: b, image: z}, {name: c}]}"),
            R"({"containers":[{"image":"x","name":"a"},{"image":"z","name":"b"},{"name":"c"}]})");
}

TEST(StrategicMergeTest, ThePatchesOrderGoesBeforeTheOriginals) {
  // b of the patch is behind a of the original; d is not in it at all.
  EXPECT_EQ(Merge("{volumes: [{name: a}, {name: b}, {name: c}]}", "{volumes: [{name: b}, {name: d}]}"),
            R"({"volumes":[{"name":"a"},{"name":"b"},{"name":"d"},{"name":"c"}]})");
  EXPECT_EQ(Merge("{volumes: [{name: a}]}", "{volumes: [{name: d}]}"),
            R"({"volumes":[{"name":"d"},{"name":"a"}]})");
}

TEST(StrategicMergeTest, ReplacesOtherLists) {
  EXPECT_EQ(Merge("{tolerations: [{key: a}]}", "{tolerations: [{key: b}]}"),
            R"({"tolerations":[{"key":"b"}]})");
}

TEST(StrategicMergeTest, NullDeletes) {
  EXPECT_EQ(Merge("{nodeName: a, hostIPC: true}", "{nodeName: null, schedulerName: null}"),
            R"({"hostIPC":true})");
}

TEST(StrategicMergeTest, FollowsDirectives) {
  EXPECT_EQ(Merge("{containers: [{name: a}, {name: b}]}", "{containers: [{name: a, $patch: delete}]}"),
            R"({"containers":[{"name":"b"}]})");
  EXPECT_EQ(Merge("{containers: [{name: a}]}", "{containers: [{$patch: replace}, {name: z}]}"),
            R"({"containers":[{"name":"z"}]})");
  EXPECT_EQ(Merge("{nodeSelector: {a: '1'}}", "{nodeSelector: {$patch: replace, b: '2'}}"),
            R"({"nodeSelector":{"b":"2"}})");
  EXPECT_EQ(Merge("{volumes: [{name: a, secret: {secretName: s}}]}",
                  "{volumes: [{name: a, $retainKeys: [name, configMap], configMap: {name: c}}]}"),
            R"({"volumes":[{"configMap":{"name":"c"},"name":"a"}]})");
  EXPECT_EQ(Merge("{containers: [{name: a}, {name: b}, {name: c}]}",
                  "{$setElementOrder/containers: [{name: c}, {name: a}], containers: [{name: a, image: x}]}"),
            R"({"containers":[{"name":"b"},{"name":"c"},{"image":"x","name":"a"}]})");
}

TEST(StrategicMergeTest, RefusesInKubernetesWords) {
  EXPECT_EQ(Merge("{containers: [{name: a}]}", "{containers: [{image: b}]}"),
            "map: map[image:b] does not contain declared merge key: name");
  EXPECT_EQ(Merge("{nodeSelector: {a: '1'}}", "{nodeSelector: {$patch: perhaps}}"),
            "unknown patch type: perhaps in map: map[$patch:perhaps]");
  EXPECT_EQ(Merge("{containers: [{name: a}]}", "{containers: [text]}"),
            "list element types are not identical: [[map[name:a]] [text]]");
}

// Merge keys are found by hash: the time of long lists grows with their length, not with its square.
TEST(StrategicMergeTest, LongListsAreMergedInTime) {
  Json original, patch;
  constexpr int kMany = 20'000;
  for (int i = 0; i < kMany; ++i) {
    original["volumes"].push_back({{"name", "v" + std::to_string(i)}});
    patch["volumes"].push_back({{"name", "v" + std::to_string(kMany - i)}});
  }
  const auto merged = StrategicMerge(original, patch, *FindGoStruct("core.PodSpec"));
  ASSERT_TRUE(merged.ok());
  EXPECT_EQ((*merged)["volumes"].size(), size_t{kMany + 1});
}

TEST(OverlayTest, SaysWhichFieldHasTheWrongType) {
  const auto overlay = [](std::string_view patch) {
    return std::string(
        Overlay(Of("{spec: {containers: [{name: a}]}}"), Of(patch), PodType()).status().message());
  };
  EXPECT_EQ(overlay("{spec: {containers: [{name: a, image: true}]}}"),
            "unmarshal patched pod: json: cannot unmarshal bool into Go struct field "
            "Container.spec.containers.image of "
            "type string");
  EXPECT_EQ(overlay("{spec: {terminationGracePeriodSeconds: soon}}"),
            "unmarshal patched pod: json: cannot unmarshal string into Go struct field "
            "PodSpec.spec.terminationGracePeriodSeconds of type int64");
  EXPECT_EQ(overlay("{spec: {volumes: {}}}"),
            "unmarshal patched pod: json: cannot unmarshal object into Go struct field PodSpec.spec.volumes "
            "of type "
            "[]v1.Volume");
}

}  // namespace
}  // namespace fairlead::injection
