#include "source/marathon/marathon_entries.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "base/strings.h"
#include "istio/networking/v1alpha3/service_entry.pb.h"
#include "source/marathon/marathon_answers.h"
#include "source/marathon/marathon_events.h"
#include "source/platform/made_entries.h"
#include "source/platform/sse_reader.h"

namespace fairlead::source {
namespace {

using istio::networking::v1alpha3::ServiceEntry;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

MarathonService ReadOne(const std::string& app) {
  config::JsonReader reader;
  auto service = ReadMarathonApp(reader, StrCat(R"({"app":)", app, "}"));
  EXPECT_TRUE(service.ok()) << service.status();
  return *service;
}
MarathonService ReadOnePod(const std::string& pod) {
  config::JsonReader reader;
  auto service = ReadMarathonPod(reader, pod);
  EXPECT_TRUE(service.ok()) << service.status();
  return *service;
}

PlatformPart Make(const MarathonService& service, const std::string& options = "") {
  const MarathonOptions parsed = *ParseMarathonOptions(StrCat("marathon://h?", options));
  return MakeMarathonEntries(parsed, service, WellMarathonInstances(parsed, service, {}));
}

// "NAMESPACE/HOST 80/http/HTTP: 10.0.0.1:31000 10.0.0.2:31000", of each object.
std::string Text(const PlatformPart& part) {
  std::string text;
  for (const config::ConfigPtr& object : part.objects) {
    const auto& entry = object->Spec<ServiceEntry>();
    StrAppend(&text, text.empty() ? "" : "; ", object->ns().str(), "/", entry.hosts(0));
    for (const auto& port : entry.ports())
      StrAppend(&text, " ", port.number(), "/", port.name(), "/", port.protocol());
    StrAppend(&text, ":");
    for (const auto& endpoint : entry.endpoints()) {
      StrAppend(&text, " ", endpoint.address());
      for (const auto& port : entry.ports()) StrAppend(&text, ":", endpoint.ports().at(port.name()));
    }
  }
  return text;
}

TEST(MarathonEntriesTest, HostNetworkingHasPortsByTheirPlace) {
  EXPECT_EQ(
      Text(Make(ReadOne(
          R"({"id":"/shop/team/web","networks":[{"mode":"host"}],"portDefinitions":)"
          R"([{"port":10001,"name":"http"},{"port":10002,"name":"admin","labels":{"protocol":"grpc"}}],)"
          R"("tasks":[{"id":"b","host":"10.0.0.2","ports":[31002,31003],"state":"TASK_RUNNING"},)"
          R"({"id":"a","host":"10.0.0.1","ports":[31000,31001],"state":"TASK_RUNNING"},)"
          R"({"id":"c","host":"10.0.0.3","ports":[1,2],"state":"TASK_KILLING"}]})"))),
      "shop-team/web.team.shop.marathon.mesh 10001/http/HTTP 10002/admin/GRPC: 10.0.0.1:31000:31001 "
      "10.0.0.2:31002:31003");
}

TEST(MarathonEntriesTest, BridgeNetworkingIsReachedAtTheHost) {
  const MarathonService app = ReadOne(
      R"({"id":"/web","networks":[{"mode":"container/bridge"}],"container":{"portMappings":)"
      R"([{"containerPort":8080,"hostPort":0,"servicePort":10019,"name":"http"}]},"tasks":[{"id":"a",)"
      R"("host":"10.0.0.1","ports":[31000],"ipAddresses":[{"ipAddress":"172.17.0.2"}],"state":"TASK_RUNNING"}]})");
  EXPECT_EQ(Text(Make(app)), "default/web.marathon.mesh 10019/http/HTTP: 10.0.0.1:31000");
  EXPECT_EQ(Text(Make(app, "port=container")), "default/web.marathon.mesh 8080/http/HTTP: 10.0.0.1:31000");
}

TEST(MarathonEntriesTest, ContainerNetworkingIsReachedAtTheTasksAddress) {
  const MarathonService app = ReadOne(
      R"({"id":"/web","networks":[{"mode":"container","name":"blue"},{"mode":"container","name":"red"}],)"
      R"("container":{"portMappings":[{"containerPort":8080,"name":"http","networkNames":["red"]}]},)"
      R"("tasks":[{"id":"a","host":"h1.example.com","ports":[],"ipAddresses":[{"ipAddress":"9.0.1.2"},)"
      R"({"ipAddress":"9.0.2.2"}],"state":"TASK_RUNNING","region":"r","zone":"z"}]})");
  EXPECT_EQ(Text(Make(app)), "default/web.marathon.mesh 8080/http/HTTP: 9.0.2.2:8080");
  EXPECT_EQ(Make(app).objects[0]->Spec<ServiceEntry>().endpoints(0).locality(), "r/z");
}

TEST(MarathonEntriesTest, OfContainersWithMappedPortsTheAddressIsAChoice) {
  const MarathonService app = ReadOne(
      R"({"id":"/web","networks":[{"mode":"container","name":"blue"}],"container":{"portMappings":)"
      R"([{"containerPort":8080,"hostPort":0,"name":"http"},{"containerPort":9090,"name":"admin"}]},)"
      R"("tasks":[{"id":"a","host":"h1.example.com","ports":[31000],"ipAddresses":[{"ipAddress":"9.0.1.2"}],)"
      R"("state":"TASK_RUNNING"}]})");
  EXPECT_EQ(Text(Make(app)), "");
  EXPECT_THAT(Make(app).diagnostics[0].message, HasSubstr("has its ports at h1.example.com and 9.0.1.2"));
  EXPECT_EQ(Text(Make(app, "address=container")),
            "default/web.marathon.mesh 8080/http/HTTP 9090/admin/TCP: 9.0.1.2:8080:9090");
}

TEST(MarathonEntriesTest, VersionsBefore15SayTheirNetworksInTheContainer) {
  EXPECT_EQ(
      Text(Make(ReadOne(
          R"({"id":"/web","container":{"docker":{"network":"BRIDGE","portMappings":)"
          R"([{"containerPort":80,"hostPort":0,"servicePort":10001}]}},"tasks":[{"id":"a","host":"10.0.0.1",)"
          R"("ports":[31000]}]})"))),
      "default/web.marathon.mesh 10001/tcp/TCP: 10.0.0.1:31000");
  EXPECT_EQ(
      Text(Make(ReadOne(
          R"({"id":"/web","ipAddress":{"discovery":{"ports":[{"number":80,"name":"http","protocol":"tcp"}]}},)"
          R"("tasks":[{"id":"a","host":"10.0.0.1","ipAddresses":[{"ipAddress":"9.0.0.1"}]}]})"))),
      "default/web.marathon.mesh 80/http/HTTP: 9.0.0.1:80");
}

TEST(MarathonEntriesTest, UdpAndPortsWithoutNumbersAreSaid) {
  const PlatformPart part = Make(ReadOne(
      R"({"id":"/web","networks":[{"mode":"host"}],"portDefinitions":[{"port":53,"protocol":"udp","name":"dns"},)"
      R"({"port":80,"protocol":"udp,tcp"},{"port":80}],"tasks":[{"id":"a","host":"10.0.0.1",)"
      R"("ports":[1,2,3],"state":"TASK_RUNNING"}]})"));
  EXPECT_EQ(Text(part), "default/web.marathon.mesh 80/tcp/TCP: 10.0.0.1:2");
  ASSERT_EQ(part.diagnostics.size(), 2u);
  EXPECT_THAT(part.diagnostics[0].message, HasSubstr("port dns is UDP"));
  EXPECT_THAT(part.diagnostics[1].message, HasSubstr("two of its ports have the number 80"));
}

TEST(MarathonEntriesTest, HealthDecidesAndOutlivesALeader) {
  const auto app = [](const std::string& first, const std::string& second) {
    return ReadOne(StrCat(
        R"({"id":"/web","healthChecks":[{}],"networks":[{"mode":"host"}],"portDefinitions":[{"port":80}],"tasks":)",
        R"([{"id":"a","host":"10.0.0.1","ports":[1],"state":"TASK_RUNNING","healthCheckResults":)", first,
        R"(},{"id":"b","host":"10.0.0.2","ports":[1],"state":"TASK_RUNNING","healthCheckResults":)", second,
        "}]}"));
  };
  const std::string good = R"([{"alive":true}])", bad = R"([{"alive":true},{"alive":false}])";
  const MarathonOptions options = *ParseMarathonOptions("marathon://h");
  const MarathonWell well = WellMarathonInstances(options, app(good, "[null]"), {});
  EXPECT_THAT(well, ElementsAre("a"));
  // A new leader has no results yet.
  EXPECT_THAT(WellMarathonInstances(options, app("[]", "[]"), well), ElementsAre("a"));
  EXPECT_THAT(WellMarathonInstances(options, app(bad, good), well), ElementsAre("b"));
  EXPECT_THAT(WellMarathonInstances(*ParseMarathonOptions("marathon://h?ready=any"), app(bad, bad), {}),
              ElementsAre("a", "b"));
}

TEST(MarathonEntriesTest, ANewTaskWaitsForItsReadinessWhileOthersServe) {
  const auto app = [](const std::string& versions, const std::string& results) {
    return ReadOne(StrCat(
        R"({"id":"/web","version":"2","readinessChecks":[{}],"deployments":[{"id":"d"}],"readinessCheckResults":)",
        results, R"(,"portDefinitions":[{"port":80}],"tasks":[)", versions, "]}"));
  };
  const std::string old = R"({"id":"a","version":"1"})", fresh = R"({"id":"b","version":"2"})";
  const MarathonOptions options = *ParseMarathonOptions("marathon://h");
  EXPECT_THAT(WellMarathonInstances(options, app(old + "," + fresh, "[]"), {}), ElementsAre("a"));
  EXPECT_THAT(WellMarathonInstances(options, app(fresh, "[]"), {}), ElementsAre("b"));
  EXPECT_THAT(WellMarathonInstances(options, app(old + "," + fresh, R"([{"taskId":"b","ready":true}])"), {}),
              ElementsAre("a", "b"));
  EXPECT_THAT(WellMarathonInstances(options, app(fresh, R"([{"taskId":"b","ready":false}])"), {}), IsEmpty());
}

TEST(MarathonEntriesTest, PodsHaveEndpointsOfTheirContainers) {
  const auto pod = [](const std::string& status, const std::string& healthy) {
    return ReadOnePod(StrCat(
        R"({"id":"/p","spec":{"labels":{"app":"p"},"containers":[{"name":"c","healthCheck":{},"endpoints":)",
        R"([{"name":"http","containerPort":80,"protocol":["tcp"]}]},{"name":"side"}],"networks":[{"mode":)",
        R"("container","name":"n"}]},"instances":[{"id":"i","status":")", status,
        R"(","agentHostname":"h","networks":[{"name":"n","addresses":["fd00::1","9.0.0.7"]}],"containers":)",
        R"([{"name":"c","status":"TASK_RUNNING","endpoints":[{"name":"http","healthy":)", healthy,
        R"(}]},{"name":"side","status":"TASK_FAILED"}]}]})"));
  };
  EXPECT_EQ(Text(Make(pod("STABLE", "true"))), "default/p.marathon.mesh 80/http/HTTP: 9.0.0.7:80");
  EXPECT_EQ(Text(Make(pod("DEGRADED", "true"))), "default/p.marathon.mesh 80/http/HTTP: 9.0.0.7:80");
  EXPECT_EQ(Text(Make(pod("DEGRADED", "false"))), "");
  EXPECT_EQ(Text(Make(pod("TERMINAL", "true"))), "");
}

TEST(MarathonEntriesTest, NamesAreTemplates) {
  const std::string app =
      R"("portDefinitions":[{"port":80}],"tasks":[{"id":"a","host":"10.0.0.1","ports":[1]}]})";
  EXPECT_EQ(Text(Make(ReadOne(StrCat(R"({"id":"/shop/team/web",)", app)),
                      "names={name}{groups}.marathon.mesos,{name}.{group}&namespace=m-{group}")),
            "m-shop-team/web-team-shop.marathon.mesos 80/tcp/TCP: 10.0.0.1:1; m-shop-team/web.team.shop "
            "80/tcp/TCP: 10.0.0.1:1");
  EXPECT_EQ(Text(Make(ReadOne(StrCat(R"({"id":"/web",)", app)),
                      "names={name}{groups}.marathon.mesos,{name}.{group}&namespace=m-{group}")),
            "m/web.marathon.mesos 80/tcp/TCP: 10.0.0.1:1; m/web 80/tcp/TCP: 10.0.0.1:1");
  EXPECT_THAT(Make(ReadOne(StrCat(R"({"id":"/we_b",)", app))).diagnostics[0].message,
              HasSubstr("is no host name"));
}

TEST(MarathonEntriesTest, ASelectorIsAboutLabels) {
  const MarathonService app = ReadOne(
      R"({"id":"/web","labels":{"env":"prod"},"portDefinitions":[{"port":80}],"tasks":[{"id":"a","host":"10.0.0.1","ports":[1]}]})");
  EXPECT_EQ(Make(app, "selector=env=prod").objects.size(), 1u);
  EXPECT_EQ(Make(app, "selector=env!=prod").objects.size(), 0u);
}

TEST(MarathonEventsTest, EventsSayWhatToAskFor) {
  config::JsonReader reader;
  const auto ids = [&](std::string_view type, std::string_view data) {
    return ReadMarathonEvent(reader, type, data).ids;
  };
  EXPECT_THAT(ids("status_update_event", R"({"appId":"/a"})"), ElementsAre("/a"));
  EXPECT_THAT(ids("instance_changed_event", R"({"runSpecId":"/b"})"), ElementsAre("/b"));
  EXPECT_THAT(ids("pod_created_event", R"({"uri":"/v2/pods/c/d"})"), ElementsAre("/c/d"));
  EXPECT_THAT(
      ids("deployment_success",
          R"({"plan":{"steps":[{"actions":[{"app":"/a"},{"pod":"/p"}]}]},"currentStep":{"actions":[{"app":"/x"}]}})"),
      UnorderedElementsAre("/a", "/p", "/x"));
  EXPECT_TRUE(ReadMarathonEvent(reader, "deployment_success", "{}").all);
  EXPECT_TRUE(ReadMarathonEvent(reader, "deployment_success", "no JSON").all);
  EXPECT_FALSE(ReadMarathonEvent(reader, "framework_message_event", "no JSON").all);
  EXPECT_EQ(ReadMarathonEvent(reader, "status_update_event",
                              R"({"appId":"/a","timestamp":"1970-01-01T00:00:01.5Z"})")
                .time,
            1500);
}

TEST(SseReaderTest, LinesEndInEachWayAndPiecesAnywhere) {
  const std::string text =
      "\xef\xbb\xbf: comment\r\nevent: a\r\ndata: 1\r\ndata:2\r\n\r\nid: 7\rdata\r\rdata: "
      "x\nevent:b\n\ndata: half";
  std::vector<std::string> whole;
  SseReader reader(1'000, [&](std::string_view event, std::string_view data, bool) {
    whole.push_back(StrCat(event, "=", data));
  });
  reader.Read(text);
  EXPECT_THAT(whole, ElementsAre("a=1\n2", "b=x"));
  std::vector<std::string> pieces;
  SseReader slow(1'000, [&](std::string_view event, std::string_view data, bool) {
    pieces.push_back(StrCat(event, "=", data));
  });
  for (const char c : text) slow.Read(std::string_view(&c, 1));
  EXPECT_EQ(pieces, whole);
}

TEST(SseReaderTest, WhatIsTooLongIsSaid) {
  std::vector<std::string> seen;
  SseReader reader(20, [&](std::string_view event, std::string_view data, bool whole) {
    seen.push_back(StrCat(event, "=", data, whole ? "" : "!"));
  });
  reader.Read("event: a\ndata: 0123456789012345678901234567890\n\nevent: b\ndata: 1\n\n");
  EXPECT_THAT(seen, ElementsAre("a=!", "b=1"));
}

TEST(ExpandNameTest, EmptyPlacesLeaveNoSeparators) {
  const auto expand = [](std::string_view text) { return ExpandName(text, {{"a", "x"}, {"b", ""}}); };
  EXPECT_EQ(expand("{a}.{b}.m"), "x.m");
  EXPECT_EQ(expand("{b}.{a}-{b}"), "x");
  EXPECT_EQ(expand("{a}-{b}.m"), "x.m");
  EXPECT_EQ(expand("{a}--y"), "x--y");
}

// Whoever is told takes while more is read: what comes then is told of, too.
TEST(MarathonEventsTest, NothingIsLeftThatNobodyWasToldOf) {
  MarathonEvents events;
  std::atomic<int> told = 0;
  std::atomic<bool> ended = false;
  std::thread taker([&] {
    for (int seen = 0; !ended || seen < told;) {
      if (seen == told) continue;
      ++seen;
      events.Take();
    }
  });
  for (int i = 0; i < 20'000; ++i)
    told += events.Read("event: status_update_event\ndata: {\"appId\":\"/a\"}\n\n") ? 1 : 0;
  ended = true;
  taker.join();
  EXPECT_TRUE(events.Take().ids.empty());
}

}  // namespace
}  // namespace fairlead::source
