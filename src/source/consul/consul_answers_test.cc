#include "source/consul/consul_answers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/strings.h"

namespace fairlead::source {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

// As the documentation of /v1/health/service shows it, with what else an agent says.
constexpr char kAnswer[] = R"([
  {
    "Node": {"ID": "40e4a748", "Node": "foobar", "Address": "10.1.10.12", "Datacenter": "dc1",
             "TaggedAddresses": {"lan": "10.1.10.12", "wan": "203.0.113.12", "lan_ipv6": "2001:db8::12"},
             "Meta": {"instance_type": "t2.medium"}, "Locality": {"Region": "us-west", "Zone": "a"}},
    "Service": {"ID": "redis", "Service": "redis", "Tags": ["primary", "v=2"], "Address": "10.1.10.13",
                "TaggedAddresses": {"wan": {"Address": "203.0.113.13", "Port": 80}},
                "Meta": {"redis_version": "4.0"}, "Port": 8000, "Weights": {"Passing": 10, "Warning": 1},
                "Namespace": "default"},
    "Checks": [
      {"Node": "foobar", "CheckID": "service:redis", "Status": "passing", "Output": "long", "ServiceID": "redis"},
      {"Node": "foobar", "CheckID": "serfHealth", "Status": "warning"}
    ]
  },
  {
    "Node": {"Node": "bar", "Address": "10.1.10.14", "Datacenter": "dc1"},
    "Service": {"ID": "redis-2", "Service": "redis", "Tags": null, "Address": "", "Meta": null, "Port": 0, "Kind": "connect-proxy"},
    "Checks": [{"CheckID": "_service_maintenance:redis-2", "Status": "critical"}]
  }])";

class ConsulAnswersTest : public ::testing::Test {
 protected:
  absl::StatusOr<std::vector<ConsulInstance>> Instances(std::string_view text) {
    return ReadConsulInstances(reader_, text);
  }
  std::string Why(std::string_view text) { return std::string(Instances(text).status().message()); }
  config::JsonReader reader_;
};

TEST_F(ConsulAnswersTest, InstancesAreReadInOneOrder) {
  const auto instances = Instances(kAnswer);
  ASSERT_TRUE(instances.ok()) << instances.status();
  ASSERT_EQ(instances->size(), 2u);
  const ConsulInstance& bar = instances->at(0);
  EXPECT_EQ(bar.node, "bar");
  EXPECT_EQ(bar.kind, "connect-proxy");
  EXPECT_EQ(bar.address, "10.1.10.14");  // the node's
  EXPECT_EQ(bar.port, 0);
  EXPECT_EQ(bar.passing_weight, 1u);
  EXPECT_EQ(bar.health, ConsulHealth::kMaintenance);
  const ConsulInstance& foobar = instances->at(1);
  EXPECT_EQ(foobar.id, "redis");
  EXPECT_EQ(foobar.address, "10.1.10.13");
  EXPECT_EQ(foobar.port, 8000);
  EXPECT_THAT(foobar.tags, ElementsAre("primary", "v=2"));
  EXPECT_THAT(foobar.meta, ElementsAre(Pair("redis_version", "4.0")));
  EXPECT_EQ(foobar.region, "us-west");
  EXPECT_EQ(foobar.zone, "a");
  EXPECT_EQ(foobar.passing_weight, 10u);
  EXPECT_EQ(foobar.health, ConsulHealth::kWarning);
  EXPECT_THAT(foobar.tagged,
              ElementsAre(Pair("lan", Pair("10.1.10.12", 8000)), Pair("lan_ipv6", Pair("2001:db8::12", 8000)),
                          Pair("wan", Pair("203.0.113.13", 80))));
}

TEST_F(ConsulAnswersTest, DatacentersHaveOneCase) {
  const auto instances = Instances(
      R"([{"Node":{"Node":"a","Address":"10.0.0.1","Datacenter":"DC1"},"Service":{"ID":"x","Port":1}}])");
  ASSERT_TRUE(instances.ok()) << instances.status();
  EXPECT_EQ(instances->at(0).datacenter, "dc1");
}

TEST_F(ConsulAnswersTest, TheLeaderIsAnAddress) {
  EXPECT_TRUE(CheckConsulLeader("\"127.0.0.1:8300\"\n").ok());
  EXPECT_EQ(CheckConsulLeader("\"\"").message(), "the server knows no leader");
  for (const char* text : {"", "\"", "null", "<html>"})
    EXPECT_EQ(CheckConsulLeader(text).message(), "the leader is no text") << text;
}

TEST_F(ConsulAnswersTest, AMistakeNamesItsInstance) {
  EXPECT_THAT(Why("{}"), HasSubstr("no list"));
  EXPECT_THAT(Why("[{]"), HasSubstr(""));
  EXPECT_FALSE(Instances("[{]").ok());
  EXPECT_THAT(Why(R"([{"Node":{"Node":"n"},"Service":{"ID":"i","Port":1}}])"),
              HasSubstr("instance i of node n has no address"));
  EXPECT_THAT(Why(R"([{"Node":{"Node":"n","Address":"a"},"Service":{"ID":"i","Port":70000}}])"),
              HasSubstr("has the port 70000"));
  EXPECT_THAT(Why(R"([{"Node":{},"Service":{}}])"), HasSubstr("no ID"));
}

TEST_F(ConsulAnswersTest, TagsAreBounded) {
  std::string tags;
  for (int i = 0; i < 1000; ++i) StrAppend(&tags, i == 0 ? "" : ",", "\"t", i, "\"");
  const auto instances = Instances(
      StrCat(R"([{"Node":{"Node":"n","Address":"a"},"Service":{"ID":"i","Port":1,"Tags":[)", tags, "]}}]"));
  ASSERT_TRUE(instances.ok());
  EXPECT_EQ(instances->front().tags.size(), kMostConsulTags);
}

TEST_F(ConsulAnswersTest, ServicesAreTheirNames) {
  EXPECT_THAT(*ReadConsulServices(reader_, R"({"web":["v1"],"consul":[],"api":[]})"),
              ElementsAre("api", "consul", "web"));
  EXPECT_FALSE(ReadConsulServices(reader_, "[]").ok());
}

TEST_F(ConsulAnswersTest, ProtocolsAreThoseOfEntries) {
  EXPECT_THAT(*ReadServiceProtocols(reader_, R"([{"Kind":"service-defaults","Name":"web","Protocol":"http"},
                                                 {"Kind":"service-defaults","Name":"db"}])"),
              ElementsAre(Pair("web", "http")));
  EXPECT_EQ(*ReadDefaultProtocol(
                reader_, R"([{"Kind":"proxy-defaults","Name":"global","Config":{"protocol":"grpc"}}])"),
            "grpc");
  EXPECT_EQ(*ReadDefaultProtocol(reader_, "[]"), "");
}

}  // namespace
}  // namespace fairlead::source
