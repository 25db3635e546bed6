#include "gen/patch/merge.h"

#include <google/protobuf/any.pb.h>

#include "envoy/config/cluster/v3/cluster.pb.h"
#include "gen/patch/patch_fixture.h"

namespace fairlead::gen::patch {
namespace {

using envoy::config::cluster::v3::Cluster;
using google::protobuf::Any;

Cluster Merged(const std::string& into, const std::string& patch, Lists lists = Lists::kAppend) {
  Cluster cluster = FromJson<Cluster>(into);
  Merge(FromJson<Cluster>(patch), lists, &cluster);
  return cluster;
}

TEST(MergeTest, DurationsReplace) {
  const Cluster cluster = Merged(R"({"name": "a", "connectTimeout": "1.5s"})", R"({"connectTimeout": "3s"})");
  EXPECT_EQ(cluster.name(), "a");
  EXPECT_EQ(cluster.connect_timeout().seconds(), 3);
  EXPECT_EQ(cluster.connect_timeout().nanos(), 0);
}

TEST(MergeTest, ListsAreAppendedOrReplaced) {
  const std::string into = R"({"circuitBreakers": {"thresholds": [{"maxRetries": 1}]}})";
  const std::string patch = R"({"circuitBreakers": {"thresholds": [{"maxRetries": 2}]}})";
  EXPECT_EQ(Merged(into, patch).circuit_breakers().thresholds_size(), 2);
  const Cluster replaced = Merged(into, patch, Lists::kReplace);
  ASSERT_EQ(replaced.circuit_breakers().thresholds_size(), 1);
  EXPECT_EQ(replaced.circuit_breakers().thresholds(0).max_retries().value(), 2u);
}

TEST(MergeTest, MapEntriesReplace) {
  const Cluster cluster = Merged(R"({"metadata": {"filterMetadata": {"x": {"a": 1}, "y": {"b": 1}}}})",
                                 R"({"metadata": {"filterMetadata": {"x": {"c": 2}}}})");
  EXPECT_EQ(cluster.metadata().filter_metadata().at("x").fields().count("a"), 0u);
  EXPECT_EQ(cluster.metadata().filter_metadata().count("y"), 1u);
}

TEST(MergeTest, WrapperOfZeroChangesNoValue) {
  const Cluster cluster =
      Merged(R"({"perConnectionBufferLimitBytes": 5})", R"({"perConnectionBufferLimitBytes": 0})");
  EXPECT_EQ(cluster.per_connection_buffer_limit_bytes().value(), 5u);
}

// No code is generated for this type.
constexpr char kTap[] = "type.googleapis.com/envoy.extensions.filters.http.tap.v3.Tap";

TEST(MergeTest, PackedMessagesOfAnyTypeOfTheApi) {
  Any any = FromJson<Any>(
      StrCat(R"({"@type": ")", kTap, R"(", "commonConfig": {"adminConfig": {"configId": "one"}}})"));
  const Any patch = FromJson<Any>(StrCat(R"({"@type": ")", kTap, R"(", "recordHeadersReceivedTime": true})"));
  EXPECT_EQ(MergeAny(patch, &any), AnyMerge::kMerged);
  const std::string json = ToJson(any);
  EXPECT_NE(json.find("one"), std::string::npos) << json;
  EXPECT_NE(json.find("\"recordHeadersReceivedTime\":true"), std::string::npos) << json;
}

TEST(MergeTest, PackedMessagesThatDoNotFit) {
  Any any = FromJson<Any>(StrCat(R"({"@type": ")", kTap, R"(", "recordHeadersReceivedTime": true})"));
  const Any before = any;
  const Any other = FromJson<Any>(
      R"({"@type": "type.googleapis.com/envoy.extensions.filters.http.lua.v3.Lua", "inlineCode": "x"})");
  EXPECT_EQ(MergeAny(other, &any), AnyMerge::kTypesMismatch);
  Any unknown;
  unknown.set_type_url("type.googleapis.com/no.such.Type");
  EXPECT_EQ(MergeAny(unknown, &any), AnyMerge::kUnreadable);
  EXPECT_EQ(any.SerializeAsString(), before.SerializeAsString());
}

}  // namespace
}  // namespace fairlead::gen::patch
