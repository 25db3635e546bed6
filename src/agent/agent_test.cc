#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>

#include <thread>

#include "agent/bootstrap/bootstrap.h"
#include "agent/bootstrap/envoy_program.h"
#include "agent/bootstrap/grpc_bootstrap.h"
#include "agent/bootstrap/node.h"
#include "agent/bootstrap/proxy_config.h"
#include "agent/envoy_process.h"
#include "agent/options.h"
#include "base/json.h"

namespace fairlead::agent {
namespace {

using nlohmann::json;

Environment PodEnvironment() {
  return {{"POD_NAME", "reviews-v1"},
          {"POD_NAMESPACE", "bookshop"},
          {"INSTANCE_IP", "10.77.1.13,fd00::13"},
          {"SERVICE_ACCOUNT", "reviews"},
          {"ISTIO_META_CLUSTER_ID", "east"},
          {"ISTIO_METAJSON_LABELS", R"({"app":"reviews","istio-locality":"r1.z1"})"}};
}

json NodeOf(const Options& options) { return BuildBootstrap(options)["node"]; }

TEST(ReadOptions, NodeIdAndMetadataComeFromThePod) {
  const auto options = ReadOptions({"sidecar"}, PodEnvironment());
  ASSERT_TRUE(options.ok()) << options.status();
  EXPECT_EQ(NodeId(*options), "sidecar~10.77.1.13~reviews-v1.bookshop~bookshop.svc.cluster.local");
  EXPECT_EQ(ServiceCluster(*options), "reviews.bookshop");
  const json node = NodeOf(*options);
  EXPECT_EQ(node["metadata"]["INSTANCE_IPS"], "10.77.1.13,fd00::13");
  EXPECT_EQ(node["metadata"]["NAMESPACE"], "bookshop");
  EXPECT_EQ(node["metadata"]["CLUSTER_ID"], "east");
  EXPECT_EQ(node["metadata"]["SERVICE_ACCOUNT"], "reviews");
  EXPECT_EQ(node["metadata"]["LABELS"]["app"], "reviews");
  EXPECT_EQ(node["locality"], (json{{"region", "r1"}, {"zone", "z1"}}));
}

TEST(ReadOptions, CommandLineBeatsProxyConfig) {
  Environment environment = PodEnvironment();
  environment["PROXY_CONFIG"] =
      "discoveryAddress: control:15010\nconcurrency: 3\nterminationDrainDuration: 1m30s\nproxyMetadata: "
      "{ISTIO_META_NETWORK: n1, "
      "OTHER: x}\ncontrolPlaneAuthPolicy: NONE\n";
  const auto options = ReadOptions({"router", "--concurrency=5", "--proxyAdminPort", "15100"}, environment);
  ASSERT_TRUE(options.ok()) << options.status();
  EXPECT_EQ(options->type, "router");
  EXPECT_EQ(options->concurrency, 5);
  EXPECT_EQ(options->admin_port, 15100);
  EXPECT_EQ(options->discovery_address, "control:15010");
  EXPECT_EQ(options->termination_drain_duration, std::chrono::seconds(90));
  EXPECT_EQ(options->metadata["NETWORK"], "n1");
  EXPECT_FALSE(options->metadata.contains("OTHER"));
  const json told = options->metadata["PROXY_CONFIG"];
  EXPECT_EQ(told["concurrency"], 5) << "as it is in the end";
  EXPECT_EQ(told["terminationDrainDuration"], "90s");
  EXPECT_EQ(told["statNameLength"], 189) << "defaults are told";
  EXPECT_TRUE(options->plaintext_discovery);
  EXPECT_FALSE(options->metadata.contains("PILOT_SAN"));
}

TEST(ReadOptions, MistakesNameTheirPlace) {
  const auto message = [](const std::vector<std::string>& arguments, const Environment& environment) {
    return std::string(ReadOptions(arguments, environment).status().message());
  };
  EXPECT_TRUE(message({"--concurrency=many"}, {}).starts_with("--concurrency: 'many'"));
  EXPECT_TRUE(message({"--concurrency"}, {}).starts_with("--concurrency: a value must follow"));
  EXPECT_EQ(message({"gateway"}, {}), "gateway: no role; roles are sidecar and router");
  EXPECT_EQ(message({}, {{"ISTIO_META_DNS_CAPTURE", "maybe"}}),
            "ISTIO_META_DNS_CAPTURE: 'maybe' is neither true nor false");
  EXPECT_EQ(message({}, {{"WORKLOAD_IDENTITY_SOCKET_FILE", "../socket"}}),
            "WORKLOAD_IDENTITY_SOCKET_FILE: '../socket' is a path, not a file's name");
  EXPECT_TRUE(message({}, {{"PROXY_CONFIG", "discoveryAddress: nowhere"}})
                  .starts_with("ProxyConfig: discoveryAddress: "));
  EXPECT_TRUE(message({}, {{"PROXY_CONFIG", "a: 1\nb: [\n"}}).starts_with("PROXY_CONFIG line "));
  EXPECT_TRUE(message({}, {{"PROXY_CONFIG", "a: 1\ndrainDuration: soon"}})
                  .starts_with("PROXY_CONFIG line 2: drainDuration"));
}

// An image made for another version of Istio starts this agent, too.
TEST(ReadOptions, WhatIsOfNoUseIsRemarkedOn) {
  const auto remarks = [](const std::vector<std::string>& arguments, const Environment& environment) {
    return ReadOptions(arguments, environment)->remarks;
  };
  EXPECT_THAT(remarks({"--no-such-flag", "value", "sidecar"}, {}),
              testing::ElementsAre("--no-such-flag: unknown, passed over"));
  EXPECT_THAT(remarks({"--proxyAdmnPort=1"}, {}),
              testing::ElementsAre("--proxyAdmnPort: unknown, passed over; did you mean --proxyAdminPort?"));
  EXPECT_THAT(remarks({}, {{"ISTIO_METAJSON_LABELS", "[1"}}),
              testing::ElementsAre("ISTIO_METAJSON_LABELS: not a JSON object, passed over"));
  EXPECT_THAT(remarks({}, {{"ISTIO_CPU_LIMIT", "1500m"}}),
              testing::ElementsAre("ISTIO_CPU_LIMIT: '1500m' is not a number; the default counts"));
  EXPECT_THAT(remarks({"--tokenManagerPlugin", "GoogleTokenExchange"}, {}), testing::IsEmpty());
}

TEST(ReadOptions, WhatAProxyConfigHasTooMuchIsRemarkedOnAndNotTold) {
  const auto options = ReadOptions({}, {{"PROXY_CONFIG", "concurrency: 2\ndiscoveryAdress: x\n"}});
  ASSERT_TRUE(options.ok()) << options.status();
  EXPECT_THAT(options->remarks,
              testing::ElementsAre("PROXY_CONFIG line 2: discoveryAdress: unknown field, passed over; did "
                                   "you mean \"discoveryAddress\"?"));
  EXPECT_EQ(options->metadata["PROXY_CONFIG"]["concurrency"], 2);
  EXPECT_FALSE(options->metadata["PROXY_CONFIG"].contains("discoveryAdress"));
}

TEST(ReadOptions, AProxyThatSaysNothingIsOfTheDefaultClusterAndOfThisIstio) {
  const auto options = ReadOptions({}, {});
  ASSERT_TRUE(options.ok()) << options.status();
  EXPECT_EQ(options->metadata["CLUSTER_ID"], "Kubernetes");
  EXPECT_EQ(options->metadata["ISTIO_VERSION"], "1.32.0");
  EXPECT_EQ(ReadOptions({}, {{"ISTIO_META_ISTIO_VERSION", "1.30.1"}})->metadata["ISTIO_VERSION"], "1.30.1");
  EXPECT_TRUE(options->fetch_modules) << "modules are fetched, as Istio's agent does";
  EXPECT_FALSE(ReadOptions({}, {{"ISTIO_AGENT_ENABLE_WASM_REMOTE_LOAD_CONVERSION", "false"}})->fetch_modules);
}

TEST(ReadOptions, PortsOfProbes) {
  EXPECT_EQ(ReadOptions({}, {})->status_port, 15020);
  const auto options =
      ReadOptions({}, {{"PROXY_CONFIG", "statusPort: 16020"}, {"ENVOY_STATUS_PORT", "16021"}});
  ASSERT_TRUE(options.ok()) << options.status();
  EXPECT_EQ(options->status_port, 16020);
  EXPECT_EQ(options->envoy_status_port, 16021);
  EXPECT_EQ(options->metadata["ENVOY_STATUS_PORT"], 16021);
  EXPECT_FALSE(ReadOptions({"--envoyStatusPort=0"}, {})->metadata.contains("ENVOY_STATUS_PORT"));
}

TEST(ReadOptions, OlderVersionsVariableOfDrainingCountsWhereTheProxyConfigIsSilent) {
  const Environment seconds = {{"TERMINATION_DRAIN_DURATION_SECONDS", "7"}};
  EXPECT_EQ(ReadOptions({}, seconds)->termination_drain_duration, std::chrono::seconds(7));
  Environment both = seconds;
  both["PROXY_CONFIG"] = "terminationDrainDuration: 9s";
  EXPECT_EQ(ReadOptions({}, both)->termination_drain_duration, std::chrono::seconds(9));
  EXPECT_EQ(ReadOptions({}, {{"TERMINATION_DRAIN_DURATION_SECONDS", "soon"}})->remarks.size(), 1u);
}

TEST(ReadOptions, HelpSaysMeaningsAndDefaults) {
  const std::string help(ReadOptions({"--help"}, {}).status().message());
  for (const char* text : {"--proxyAdminPort", "Envoy's administration interface, on loopback [15000]",
                           "from SIGTERM to Envoy's end [5s]", "ISTIO_META_*"})
    EXPECT_NE(help.find(text), std::string::npos) << text << "\n" << help;
}

TEST(BuildBootstrap, DiscoveryAddressDecidesHowItIsResolved) {
  Options options;
  const auto cluster = [&options] {
    const json bootstrap = BuildBootstrap(options);
    for (const json& one : bootstrap["static_resources"]["clusters"]) {
      if (one["name"] == "xds-grpc") return one;
    }
    return json();
  };
  const auto address = [](const json& one) {
    return one["load_assignment"]["endpoints"][0]["lb_endpoints"][0]["endpoint"]["address"]["socket_address"];
  };
  options.discovery_address = "10.0.0.1:15010";
  EXPECT_EQ(cluster()["type"], "STATIC");
  options.discovery_address = "fairlead.mesh.svc:16010";
  EXPECT_EQ(cluster()["type"], "STRICT_DNS");
  EXPECT_EQ(address(cluster()),
            (json{{"protocol", "TCP"}, {"address", "fairlead.mesh.svc"}, {"port_value", 16010}}));
  options.discovery_address = "[fd00::1]:15010";
  EXPECT_EQ(cluster()["type"], "STATIC");
  EXPECT_EQ(address(cluster()), (json{{"protocol", "TCP"}, {"address", "fd00::1"}, {"port_value", 15010}}));
}

TEST(BuildBootstrap, VariantOfTheProtocolIsChosen) {
  Options options;
  options.delta = false;
  EXPECT_EQ(BuildBootstrap(options)["dynamic_resources"]["ads_config"]["api_type"], "GRPC");
  options.delta = true;
  EXPECT_EQ(BuildBootstrap(options)["dynamic_resources"]["ads_config"]["api_type"], "DELTA_GRPC");
}

TEST(BuildBootstrap, MetadataNeedNotBeUtf8) {
  Environment environment = PodEnvironment();
  environment["ISTIO_META_OWNER"] = "caf\xe9";
  environment["ISTIO_METAJSON_OTHER"] = R"({"OF_MY_OWN": 5})";
  const auto options = ReadOptions({"sidecar"}, environment);
  ASSERT_TRUE(options.ok()) << options.status();
  EXPECT_NE(JsonText(BuildBootstrap(*options)).find("\"OWNER\":\"caf\xEF\xBF\xBD\""), std::string::npos);
}

// As pilot-agent does it: the error names the variable.
TEST(BuildBootstrap, MetadataOfIstiosMustHaveItsType) {
  Environment environment = PodEnvironment();
  environment["ISTIO_METAJSON_OTHER"] = R"({"WORKLOAD_NAME": 5})";
  const auto options = ReadOptions({"sidecar"}, environment);
  EXPECT_THAT(options.status().ToString(), testing::HasSubstr("WORKLOAD_NAME: not a text"));
}

TEST(BuildGrpcBootstrap, SaysWhoTheWorkloadIsAndWhereTheControlPlane) {
  Environment environment = PodEnvironment();
  const auto build = [&environment] {
    return BuildGrpcBootstrap(*ReadOptions({"--discoveryAddress=control:15010"}, environment));
  };
  const json bootstrap = build();
  EXPECT_EQ(bootstrap["xds_servers"][0]["server_uri"], "control:15010");
  EXPECT_EQ(bootstrap["node"]["id"], "sidecar~10.77.1.13~reviews-v1.bookshop~bookshop.svc.cluster.local");
  EXPECT_EQ(bootstrap["node"]["metadata"]["GENERATOR"], "grpc");
  EXPECT_EQ(bootstrap["node"]["metadata"]["LABELS"]["app"], "reviews");
  EXPECT_EQ(bootstrap["server_listener_resource_name_template"], "xds.istio.io/grpc/lds/inbound/%s");
  EXPECT_FALSE(bootstrap.contains("certificate_providers"));
  environment["OUTPUT_CERTS"] = "/certs";
  EXPECT_EQ(build()["certificate_providers"]["default"]["config"]["private_key_file"], "/certs/key.pem");
  environment["ISTIO_METAJSON_LABELS"] = "{}";
  EXPECT_EQ(build()["node"]["locality"], json::object());
}

TEST(EnvoyCommand, FollowsTheOptions) {
  Options options;
  options.binary = "/bin/envoy";
  options.concurrency = 2;
  options.addresses = {"fd00::1"};
  const auto command = EnvoyCommand(options, "/tmp/bootstrap.json");
  const auto after = [&command](const std::string& flag) {
    for (size_t i = 0; i + 1 < command.size(); ++i) {
      if (command[i] == flag) return command[i + 1];
    }
    return std::string("absent");
  };
  EXPECT_EQ(command.front(), "/bin/envoy");
  EXPECT_EQ(after("-c"), "/tmp/bootstrap.json");
  EXPECT_EQ(after("--concurrency"), "2");
  EXPECT_EQ(after("--local-address-ip-version"), "v6");
  EXPECT_EQ(after("--drain-time-s"), "45");
}

TEST(Backoff, DoublesUpToTenSecondsAndStartsOverAfterALongRun) {
  using std::chrono::milliseconds;
  Backoff backoff;
  EXPECT_EQ(backoff.Next(milliseconds(5)), milliseconds(50));
  EXPECT_EQ(backoff.Next(milliseconds(5)), milliseconds(100));
  for (int i = 0; i < 10; ++i) backoff.Next(milliseconds(5));
  EXPECT_EQ(backoff.Next(milliseconds(5)), milliseconds(10'000));
  EXPECT_EQ(backoff.Next(milliseconds(61'000)), milliseconds(50));
}

TEST(ParseDuration, ReadsGoDurations) {
  using std::chrono::milliseconds;
  EXPECT_EQ(ParseDuration("1h2m3.5s"), milliseconds(3'723'500));
  EXPECT_EQ(ParseDuration("250ms"), milliseconds(250));
  EXPECT_FALSE(ParseDuration("45"));
  EXPECT_FALSE(ParseDuration("s"));
  EXPECT_FALSE(ParseDuration(""));
}

TEST(StartProcess, SaysWhyACommandCannotRun) {
  const auto started = StartProcess({{"/no/such/envoy"}, {}});
  ASSERT_FALSE(started.ok());
  EXPECT_EQ(std::string(started.status().message()), "/no/such/envoy: No such file or directory");
}

// Envoy's administration port: no HTTP/1.0, and answers of unknown length in chunks.
TEST(ReadOptions, ItsOwnLogIsAsForDiscovery) {
  const auto options = ReadOptions({"sidecar", "--log_output_level=sds:debug", "--log_as_json",
                                    "--log_target", "/a", "--log_target=stderr", "--proxyLogLevel=info"},
                                   {});
  ASSERT_TRUE(options.ok()) << options.status();
  EXPECT_EQ(options->own_log_level, "sds:debug");
  EXPECT_TRUE(options->own_log.as_json);
  EXPECT_EQ(options->own_log.targets, (std::vector<std::string>{"/a", "stderr"}));
  EXPECT_EQ(options->log_level, "info") << "Envoy's";
  EXPECT_EQ(ReadOptions({"sidecar"}, {})->own_log.targets, std::vector<std::string>{"stdout"});
  EXPECT_FALSE(ReadOptions({"--log_as_json=perhaps"}, {}).ok());
}

class AdminTest : public testing::Test {
 protected:
  AdminTest() {
    server_.set_pre_routing_handler([](const httplib::Request& request, httplib::Response& response) {
      if (request.version == "HTTP/1.1") return httplib::Server::HandlerResponse::Unhandled;
      response.status = 426;
      return httplib::Server::HandlerResponse::Handled;
    });
    server_.Post("/drain_listeners", [](const httplib::Request& request, httplib::Response& response) {
      response.set_content(request.has_param("inboundonly") ? "OK\n" : "all\n", "text/plain");
    });
    server_.Get("/stats", [](const httplib::Request&, httplib::Response& response) {
      response.set_chunked_content_provider("text/plain", [](size_t, httplib::DataSink& sink) {
        for (const std::string line :
             {"listener.0.0.0.0_15006.downstream_cx_active: 12\n",
              "listener.0.0.0.0_15090.downstream_cx_active: 7\n", "listener.admin.downstream_cx_active: 1\n",
              "listener.0.0.0.0_80.downstream_cx_active: 3\n"}) {
          sink.write(line.data(), line.size());
        }
        sink.done();
        return true;
      });
    });
    port_ = server_.bind_to_any_port("127.0.0.1");
    thread_ = std::thread([this] { server_.listen_after_bind(); });
    while (!server_.is_running()) std::this_thread::yield();
  }
  ~AdminTest() override {
    server_.stop();
    thread_.join();
  }

  httplib::Server server_;
  int port_ = 0;
  std::thread thread_;
};

TEST_F(AdminTest, ListenersAreDrained) {
  const auto answer = Admin(port_).Post("/drain_listeners?inboundonly&graceful&skip_exit");
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(*answer, "OK\n");
}

TEST_F(AdminTest, ConnectionsAreCounted) {
  const auto active = Admin(port_).ActiveConnections({15090});
  ASSERT_TRUE(active.ok()) << active.status();
  EXPECT_EQ(*active, 15);
}

TEST_F(AdminTest, WhatIsNoSuccessIsAnError) { EXPECT_FALSE(Admin(port_).Post("/no_such_page").ok()); }

TEST(DrainProgress, AQuestionThatFailsIsNotNoConnections) {
  DrainProgress progress;
  const absl::StatusOr<int> failed = absl::UnavailableError("426");
  EXPECT_FALSE(progress.Done(3));
  for (int i = 0; i < 4; ++i) EXPECT_FALSE(progress.Done(failed)) << i;
  EXPECT_FALSE(progress.Done(3)) << "and begins anew";
  for (int i = 0; i < 4; ++i) EXPECT_FALSE(progress.Done(failed)) << i;
  EXPECT_TRUE(progress.Done(failed));
  EXPECT_TRUE(DrainProgress().Done(0));
}

}  // namespace
}  // namespace fairlead::agent
