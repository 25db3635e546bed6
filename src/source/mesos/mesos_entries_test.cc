#include "source/mesos/mesos_entries.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/strings.h"
#include "istio/networking/v1alpha3/service_entry.pb.h"
#include "source/mesos/mesos_state.h"

namespace fairlead::source {
namespace {

using istio::networking::v1alpha3::ServiceEntry;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kAgents[] =
    R"([{"agent_info":{"id":{"value":"A"},"hostname":"agent-a","domain":{"fault_domain":{"region":{"name":"eu"},)"
    R"("zone":{"name":"eu-1"}}}},"pid":"slave(1)@10.9.9.9:5051"}])";

// A task of framework "Aurora X" on agent A: fields of its DiscoveryInfo, of its last status, and more.
std::string Task(const std::string& id, const std::string& discovery, const std::string& status,
                 const std::string& more = "") {
  return StrCat(
      R"({"name":"task","task_id":{"value":")", id,
      R"("},"framework_id":{"value":"F"},"agent_id":{"value":"A"},"state":"TASK_RUNNING","discovery":{)",
      discovery, R"(},"statuses":[{"state":"TASK_RUNNING",)", status, "}]", more.empty() ? "" : ",", more,
      "}");
}
std::string At(const std::string& address) {
  return StrCat(R"("container_status":{"network_infos":[{"ip_addresses":[{"ip_address":")", address,
                R"("}]}]})");
}
// Fields of a DiscoveryInfo of CLUSTER visibility.
std::string Web(const std::string& ports, const std::string& more = "") {
  return StrCat(R"("visibility":"CLUSTER","name":"web","ports":{"ports":[)", ports, "]}",
                more.empty() ? "" : ",", more);
}

class MesosEntriesTest : public ::testing::Test {
 protected:
  void Show(const std::vector<std::string>& tasks, const std::string& options = "") {
    options_ = *ParseMesosOptions(StrCat("mesos://h?", options));
    state_ = std::make_unique<MesosState>(options_);
    config::JsonReader reader;
    auto event = ReadMesosEvent(
        reader,
        StrCat(R"({"type":"SUBSCRIBED","subscribed":{"get_state":{"get_tasks":{"tasks":[)", Join(tasks, ","),
               R"(]},"get_frameworks":{"frameworks":[{"framework_info":{"id":{"value":"F"},"name":)",
               R"("Aurora X"}}]},"get_agents":{"agents":)", kAgents, "}}}}"));
    ASSERT_TRUE(event.ok()) << event.status();
    ASSERT_TRUE(state_->Apply(*std::move(event)).ok());
    for (const MesosPlace& place : state_->TakeChanged()) parts_.push_back(state_->Make(place));
  }
  // "NAMESPACE/HOST 80/http/HTTP: 10.0.0.1:31000 10.0.0.2:31000", of each object.
  std::string Text() const {
    std::string text;
    for (const PlatformPart& part : parts_) {
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
    }
    return text;
  }
  std::string Endpoints() const {
    const std::string text = Text();
    const size_t at = text.find(": ");
    return at == std::string::npos ? "" : text.substr(at + 2);
  }
  std::vector<std::string> Warnings() const {
    std::vector<std::string> all;
    for (const PlatformPart& part : parts_) {
      for (const config::Diagnostic& one : part.diagnostics)
        all.push_back(StrCat(one.code, ": ", one.message));
    }
    return all;
  }
  const ServiceEntry& Only() const { return parts_.at(0).objects.at(0)->Spec<ServiceEntry>(); }

  MesosOptions options_;
  std::unique_ptr<MesosState> state_;
  std::vector<PlatformPart> parts_;
};

TEST_F(MesosEntriesTest, TasksOfOneNameAreOneService) {
  const std::string ports =
      R"({"number":8080,"name":"http","protocol":"tcp"},{"number":9000,"name":"rpc","protocol":"grpc"})";
  Show({Task("b", Web(ports), At("10.0.0.2")), Task("a", Web(ports), At("10.0.0.1"))});
  EXPECT_EQ(
      Text(),
      "aurora-x/web.aurora-x.mesos 8080/http/HTTP 9000/rpc/GRPC: 10.0.0.1:8080:9000 10.0.0.2:8080:9000");
  EXPECT_THAT(Warnings(), IsEmpty());
  EXPECT_EQ(parts_[0].objects[0]->origin().file.str(), "mesos://h:5050/web.aurora-x.mesos");
  EXPECT_EQ(Only().endpoints(0).locality(), "eu/eu-1");
}

TEST_F(MesosEntriesTest, WithoutDiscoveryInfoATaskIsNoService) {
  Show(
      {R"({"name":"t","task_id":{"value":"a"},"framework_id":{"value":"F"},"agent_id":{"value":"A"},"state":"TASK_RUNNING"})"});
  EXPECT_EQ(Text(), "");
  EXPECT_THAT(Warnings(), IsEmpty());
}

TEST_F(MesosEntriesTest, WithoutANameTheTaskHasOne) {
  Show({Task("a", R"("visibility":"CLUSTER","ports":{"ports":[{"number":80}]})", At("10.0.0.1"))});
  EXPECT_EQ(Text(), "aurora-x/task.aurora-x.mesos 80/tcp/TCP: 10.0.0.1:80");
}

TEST_F(MesosEntriesTest, TemplatesHaveWhatDiscoveryInfoSays) {
  Show({Task("a", Web(R"({"number":80})", R"("environment":"PROD","location":"EAST_US","version":"v2.0")"),
             At("10.0.0.1"))},
       "names={name}.{environment}.{location}.mesh,{name}-{version}.mesh&namespace={environment}");
  EXPECT_EQ(Text(),
            "prod/web-v2.0.mesh 80/tcp/TCP: 10.0.0.1:80; prod/web.prod.east-us.mesh 80/tcp/TCP: 10.0.0.1:80");
}

TEST_F(MesosEntriesTest, LabelsAreOfTaskAndDiscoveryInfoWithVersionAndEnvironment) {
  Show({Task(
      "a",
      Web(R"({"number":80})",
          R"("version":"v2","environment":"prod","labels":{"labels":[{"key":"tier","value":"2"}]})"),
      At("10.0.0.1"),
      R"("labels":{"labels":[{"key":"tier","value":"1"},{"key":"team","value":"x"},{"key":"in valid","value":"x"}]})")});
  std::string text;
  const std::map<std::string, std::string> labels(Only().endpoints(0).labels().begin(),
                                                  Only().endpoints(0).labels().end());
  for (const auto& [key, value] : labels) StrAppend(&text, key, "=", value, " ");
  EXPECT_EQ(text, "environment=prod team=x tier=2 version=v2 ");
}

TEST_F(MesosEntriesTest, MappedPortsAreReachedAtTheAgent) {
  const std::string status =
      R"("container_status":{"network_infos":[{"ip_addresses":[{"ip_address":"9.0.0.1"}],"port_mappings":)"
      R"([{"host_port":31000,"container_port":8080}]}]})";
  const std::string task = Task("a", Web(R"({"number":8080})"), status);
  Show({task});
  EXPECT_EQ(Endpoints(), "10.9.9.9:31000");
  parts_.clear();
  Show({task}, "address=container");
  EXPECT_EQ(Endpoints(), "9.0.0.1:8080");
}

TEST_F(MesosEntriesTest, DockersBridgeIsReachedAtTheAgent) {
  Show({Task("a", Web(R"({"number":31005})"), At("172.17.0.2"),
             R"("container":{"type":"DOCKER","docker":{"network":"BRIDGE","port_mappings":)"
             R"([{"host_port":31005,"container_port":80}]}})")});
  EXPECT_EQ(Endpoints(), "10.9.9.9:31005");
}

TEST_F(MesosEntriesTest, WithoutAnAddressTheAgentHasOne) {
  Show({Task("a", Web(R"({"number":31005})"), R"("healthy":true)")});
  EXPECT_EQ(Endpoints(), "10.9.9.9:31005");
}

TEST_F(MesosEntriesTest, OfSeveralAddressesTheWantedOneCounts) {
  const std::string task = Task(
      "a", Web(R"({"number":80})"),
      R"("container_status":{"network_infos":[{"name":"blue","ip_addresses":[{"ip_address":"fd00::1"},)"
      R"({"ip_address":"10.1.0.1"},{"ip_address":"nonsense"}]},{"name":"green","ip_addresses":[{"ip_address":"10.2.0.1"}]}]})");
  const std::pair<const char*, const char*> cases[] = {
      {"", "10.1.0.1:80"},
      {"addressFamily=ipv6", "fd00::1:80"},
      {"networkName=green", "10.2.0.1:80"},
      {"networkName=green&addressFamily=ipv6", "10.2.0.1:80"},
      {"networkName=red", "10.9.9.9:80"},
      {"address=host", "10.9.9.9:80"}};
  for (const auto& [options, expected] : cases) {
    parts_.clear();
    Show({task}, options);
    EXPECT_EQ(Endpoints(), expected) << options;
  }
}

TEST_F(MesosEntriesTest, AnEarlierStatusSaysWhatTheLastDoesNot) {
  const std::string base =
      R"({"name":"t","task_id":{"value":"a"},"framework_id":{"value":"F"},"agent_id":{"value":"A"},)"
      R"("state":"TASK_RUNNING","discovery":{)" +
      Web(R"({"number":80})") + R"(},"health_check":{"type":"TCP"},"statuses":[{"state":"TASK_STARTING",)";
  Show({base + At("10.0.0.7") + R"(},{"state":"TASK_RUNNING","healthy":true}]})"});
  EXPECT_EQ(Endpoints(), "10.0.0.7:80");
}

TEST_F(MesosEntriesTest, VisibilityIsTheNamespaces) {
  const auto discovery = [](const char* general, const char* of_port) {
    return StrCat(R"("name":"web","visibility":")", general,
                  R"(","ports":{"ports":[{"number":80,"name":"http")", of_port,
                  R"(},{"number":81,"name":"tcp-x"}]})");
  };
  Show({Task("a", discovery("FRAMEWORK", ""), At("10.0.0.1"))});
  EXPECT_THAT(Only().export_to(), ElementsAre("."));
  EXPECT_EQ(Only().ports_size(), 2);
  parts_.clear();
  Show({Task("a", discovery("FRAMEWORK", ""), At("10.0.0.1"))}, "visibility=ignore");
  EXPECT_THAT(Only().export_to(), IsEmpty());
  parts_.clear();
  Show({Task("a", discovery("FRAMEWORK", R"(,"visibility":"EXTERNAL")"), At("10.0.0.1"))});
  EXPECT_THAT(Only().export_to(), IsEmpty());
  EXPECT_EQ(Endpoints(), "10.0.0.1:80");
  EXPECT_THAT(Warnings(),
              ElementsAre(HasSubstr("narrow-port: service web.aurora-x.mesos of Mesos: port tcp-x")));
}

TEST_F(MesosEntriesTest, NumbersOfPorts) {
  const auto port = [](int number, const char* more) {
    return StrCat(R"({"name":"http","number":)", number, more, "}");
  };
  const std::vector<std::string> tasks = {Task("a", Web(port(31007, "")), At("10.0.0.1")),
                                          Task("b", Web(port(31002, "")), At("10.0.0.2"))};
  Show(tasks);
  EXPECT_EQ(Text(), "aurora-x/web.aurora-x.mesos 31002/http/HTTP: 10.0.0.1:31007 10.0.0.2:31002");
  EXPECT_THAT(Warnings(), ElementsAre(HasSubstr("at 31002 and 31007: the lowest counts")));
  for (const char* options : {"ports=80", "ports=HTTP:80,9"}) {
    parts_.clear();
    Show(tasks, options);
    EXPECT_EQ(Text(), "aurora-x/web.aurora-x.mesos 80/http/HTTP: 10.0.0.1:31007 10.0.0.2:31002");
    EXPECT_THAT(Warnings(), IsEmpty());
  }
  parts_.clear();
  Show({Task("a", Web(port(31007, R"(,"labels":{"labels":[{"key":"service-port","value":"81"}]})")),
             At("10.0.0.1"))},
       "ports=80");
  EXPECT_EQ(Text(), "aurora-x/web.aurora-x.mesos 81/http/HTTP: 10.0.0.1:31007");
}

TEST_F(MesosEntriesTest, ProtocolsOfPorts) {
  Show({Task(
      "a",
      Web(R"({"number":1,"name":"a","protocol":"HTTP2"},{"number":2,"name":"b","protocol":"tcp","labels":)"
          R"({"labels":[{"key":"protocol","value":"mongo"}]}},{"number":3,"name":"c","protocol":"mqtt"},)"
          R"({"number":4,"name":"d","protocol":"udp"},{"number":5,"name":"https-e","protocol":"udp,tcp"})"),
      At("10.0.0.1"))});
  EXPECT_EQ(Text(),
            "aurora-x/web.aurora-x.mesos 1/a/HTTP2 2/b/MONGO 3/c/TCP 5/https-e/HTTPS: 10.0.0.1:1:2:3:5");
  EXPECT_THAT(Warnings(),
              ElementsAre(HasSubstr("port d is UDP"), HasSubstr("protocol \"mqtt\" is not known")));
}

TEST_F(MesosEntriesTest, WhatTasksDoNotShareIsLeftOut) {
  Show({Task("a", Web(R"({"number":80,"name":"http"})"), At("10.0.0.1")),
        Task("b", Web(R"({"number":80,"name":"http"},{"number":81,"name":"tcp-new"})"), At("10.0.0.2")),
        Task("c", R"("visibility":"CLUSTER","name":"web")", At("10.0.0.3"))});
  EXPECT_EQ(Endpoints(), "10.0.0.1:80 10.0.0.2:80");
  EXPECT_THAT(Warnings(),
              ElementsAre(HasSubstr("task c has no port"), HasSubstr("port tcp-new is not in each")));
}

TEST_F(MesosEntriesTest, FrameworksAndLabelsAreSelected) {
  const std::string task = Task("a", Web(R"({"number":80})", R"("environment":"prod")"), At("10.0.0.1"));
  const std::pair<const char*, bool> cases[] = {
      {"frameworks=Aurora X", true},       {"frameworks=chronos", false},
      {"frameworks=!marathon", true},      {"frameworks=!Aurora X", false},
      {"selector=environment=prod", true}, {"selector=environment!=prod", false}};
  for (const auto& [options, expected] : cases) {
    parts_.clear();
    Show({task}, options);
    EXPECT_EQ(!Text().empty(), expected) << options;
  }
}

TEST_F(MesosEntriesTest, ATaskWithTooManyPortsIsLeftOutAlone) {
  std::vector<std::string> ports;
  for (size_t i = 0; i <= kMostMesosPorts; ++i) ports.push_back(StrCat(R"({"number":)", i + 1, "}"));
  Show(
      {Task("a", Web(Join(ports, ",")), At("10.0.0.1")), Task("b", Web(R"({"number":80})"), At("10.0.0.2"))});
  EXPECT_EQ(Endpoints(), "10.0.0.2:80");
  EXPECT_THAT(Warnings(), ElementsAre(HasSubstr("task a has more than 64 ports and is left out")));
}

}  // namespace
}  // namespace fairlead::source
