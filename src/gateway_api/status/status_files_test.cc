#include "gateway_api/status/status_files.h"

#include <gmock/gmock.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/files.h"
#include "base/json.h"
#include "gateway_api/status/status_times.h"
#include "gateway_api/status/test_board.h"

namespace fairlead::gateway_api {
namespace {

using nlohmann::ordered_json;
using testing::ElementsAre;
using testing::HasSubstr;

ordered_json Json(std::string_view text) { return *ParseOrderedJson(text); }

TEST(SetTransitionTimesTest, AStatusThatStaysKeepsItsTime) {
  const ordered_json before = Json(R"({"status":{"conditions":[
    {"type":"Accepted","status":"True","reason":"a","lastTransitionTime":"then"},
    {"type":"Programmed","status":"True","reason":"a","lastTransitionTime":"then"}]}})");
  ordered_json now = Json(R"({"status":{"conditions":[
    {"type":"Programmed","status":"False","reason":"b"},{"type":"Accepted","status":"True","reason":"b"}]}})");
  SetTransitionTimes(before, "now", &now);
  EXPECT_EQ(now["status"]["conditions"][0]["lastTransitionTime"], "now");
  EXPECT_EQ(now["status"]["conditions"][1]["lastTransitionTime"], "then");
}

TEST(SetTransitionTimesTest, EntriesAreKnownByWhatTheyAreAbout) {
  const ordered_json before = Json(R"({"listeners":[{"name":"b","conditions":[
    {"type":"Accepted","status":"True","reason":"a","lastTransitionTime":"then"}]}]})");
  ordered_json now = Json(R"({"listeners":[{"name":"a","conditions":[{"type":"Accepted","status":"True",
    "reason":"a"}]},{"name":"b","conditions":[{"type":"Accepted","status":"True","reason":"a"}]}]})");
  SetTransitionTimes(before, "now", &now);
  EXPECT_EQ(now["listeners"][0]["conditions"][0]["lastTransitionTime"], "now");
  EXPECT_EQ(now["listeners"][1]["conditions"][0]["lastTransitionTime"], "then");
}

class StatusFilesTest : public testing::Test {
 protected:
  StatusFilesTest() : folder_(StrCat(testing::TempDir(), "status-files-", getpid())) {}
  ~StatusFilesTest() override { std::filesystem::remove_all(folder_); }

  // Starts, writes once and stops.
  void Write() {
    StatusFiles files(folder_, [this] {
      auto statuses = mesh_.board().Current();
      asked_.store(true);
      return statuses;
    });
    asked_ = false;
    ASSERT_TRUE(files.Start().ok());
    files.OnPublished();
    while (!asked_) std::this_thread::yield();
    files.Stop();
  }
  std::string Read(const std::string& name) {
    std::ifstream file(folder_ + "/" + name);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  const std::string folder_;
  TestBoard mesh_;
  std::atomic<bool> asked_ = false;
};

TEST_F(StatusFilesTest, EachObjectHasAFileAsLongAsThereIsAStatus) {
  mesh_.Apply(
      "apiVersion: gateway.networking.k8s.io/v1\nkind: GatewayClass\nmetadata: {name: c}\n"
      "spec: {controllerName: istio.io/gateway-controller}\n---\n"
      "apiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {name: g, namespace: shop}\n"
      "spec: {gatewayClassName: c, listeners: [{name: http, port: 80, protocol: HTTP}]}\n");
  Write();
  std::ofstream(folder_ + "/notes.json") << "{}";
  EXPECT_THAT(*ListFolder(folder_), ElementsAre("Gateway.shop.g.json", "GatewayClass.c.json", "notes.json"));
  const std::string first = Read("GatewayClass.c.json");
  EXPECT_THAT(first, HasSubstr("\"lastTransitionTime\": \"20"));
  mesh_.Apply(
      "apiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {name: g, namespace: shop}\n"
      "spec: {gatewayClassName: c, listeners: [{name: http, port: 80, protocol: HTTP}]}\n",
      /*gone=*/true);
  Write();
  EXPECT_THAT(*ListFolder(folder_), ElementsAre("GatewayClass.c.json", "notes.json"));
  EXPECT_EQ(Read("GatewayClass.c.json"), first);
}

TEST_F(StatusFilesTest, WhatChangesIsWrittenWhileItRuns) {
  const auto gateway = [](std::string_view name) {
    return StrCat("apiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {name: ", name,
                  ", namespace: shop}\n",
                  "spec: {gatewayClassName: istio, listeners: [{name: http, port: 80, protocol: HTTP}]}\n");
  };
  mesh_.Apply(gateway("a"));
  StatusFiles files(folder_, [this] { return mesh_.board().Current(); });
  ASSERT_TRUE(files.Start().ok());
  const auto await = [&](std::vector<std::string> names) {
    files.OnPublished();
    for (int i = 0; i < 1000 && *ListFolder(folder_) != names; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    EXPECT_EQ(*ListFolder(folder_), names);
  };
  await({"Gateway.shop.a.json"});
  std::filesystem::remove(folder_ + "/Gateway.shop.a.json");
  mesh_.Apply(gateway("b"));
  await({"Gateway.shop.b.json"});  // the other one did not change
  mesh_.Apply(gateway("b"), /*gone=*/true);
  await({});
  files.Stop();
}

}  // namespace
}  // namespace fairlead::gateway_api
