#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>
#include <malloc.h>

#include <nlohmann/json.hpp>
#include <thread>

#include "app/server_fixture.h"

// Pages and metrics that tell an operator what is wrong with a mesh.
namespace fairlead::app {
namespace {

using envoy::service::discovery::v3::DiscoveryRequest;
using envoy::service::discovery::v3::DiscoveryResponse;
using nlohmann::json;
using testing::Contains;
using testing::HasSubstr;

constexpr char kRouterNode[] = "router~10.1.0.8~edge.shop~shop.svc.cluster.local";

// A pod that two services select, of which one says that its port is HTTP and the other that it is TCP.
constexpr char kPod[] = R"(
apiVersion: v1
kind: Pod
metadata: {name: client, namespace: shop, labels: {app: client}}
spec: {containers: [{name: a, image: a}]}
status: {podIP: 10.1.0.9, phase: Running, conditions: [{type: Ready, status: "True"}]}
---
apiVersion: v1
kind: Service
metadata: {name: one, namespace: shop}
spec: {clusterIP: 10.0.0.21, selector: {app: client}, ports: [{name: http, port: 80, targetPort: 8080}]}
---
apiVersion: v1
kind: Service
metadata: {name: two, namespace: shop}
spec: {clusterIP: 10.0.0.22, selector: {app: client}, ports: [{name: tcp, port: 81, targetPort: 8080}]}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: one-1, namespace: shop, labels: {kubernetes.io/service-name: one}}
addressType: IPv4
ports: [{name: http, port: 8080}]
endpoints: [{addresses: [10.1.0.9], conditions: {ready: true}, targetRef: {kind: Pod, name: client, namespace: shop}}]
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: two-1, namespace: shop, labels: {kubernetes.io/service-name: two}}
addressType: IPv4
ports: [{name: tcp, port: 8080}]
endpoints: [{addresses: [10.1.0.9], conditions: {ready: true}, targetRef: {kind: Pod, name: client, namespace: shop}}]
)";

constexpr char kRules[] = R"(
apiVersion: networking.istio.io/v1
kind: DestinationRule
metadata: {name: reviews, namespace: shop}
spec: {host: reviews, subsets: [{name: v9, labels: {version: v9}}]}
---
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: {name: second, namespace: shop}
spec: {hosts: [reviews], http: [{route: [{destination: {host: reviews}}]}]}
---
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: {name: store-one, namespace: shop}
spec: {hosts: [one.example.com], ports: [{name: tcp, number: 5432, protocol: TCP}], resolution: DNS}
---
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: {name: store-two, namespace: shop}
spec: {hosts: [two.example.com], ports: [{name: tcp, number: 5432, protocol: TCP}], resolution: DNS}
---
apiVersion: networking.istio.io/v1
kind: Gateway
metadata: {name: edge, namespace: shop}
spec:
  selector: {app: edge}
  servers:
  - {hosts: [a.example.com], port: {number: 443, name: one, protocol: TLS}, tls: {mode: PASSTHROUGH}}
  - {hosts: [a.example.com], port: {number: 443, name: two, protocol: TLS}, tls: {mode: PASSTHROUGH}}
---
apiVersion: security.istio.io/v1
kind: AuthorizationPolicy
metadata: {name: nobody, namespace: shop}
spec: {}
---
apiVersion: telemetry.istio.io/v1
kind: Telemetry
metadata: {name: of-client, namespace: shop}
spec: {selector: {matchLabels: {app: client}}, accessLogging: [{disabled: true}]}
---
apiVersion: telemetry.istio.io/v1
kind: Telemetry
metadata: {name: of-others, namespace: shop}
spec: {selector: {matchLabels: {app: other}}, accessLogging: [{disabled: true}]}
)";

// A server, a sidecar and a router that have asked for their clusters.
class PagesTest : public ServerTest {
 protected:
  void Begin() {
    StartServer();
    stub_ = Stub();
    sidecar_ = stub_->StreamAggregatedResources(&sidecar_context_);
    router_ = stub_->StreamAggregatedResources(&router_context_);
    Ask(sidecar_.get(), kClientNode, {{"app", "client"}});
    Ask(router_.get(), kRouterNode, {{"app", "edge"}});
  }
  ~PagesTest() override {
    sidecar_context_.TryCancel();
    router_context_.TryCancel();
  }

  using Call = grpc::ClientReaderWriter<DiscoveryRequest, DiscoveryResponse>;
  static void Ask(Call* call, const char* node, const std::map<std::string, std::string>& labels) {
    DiscoveryRequest request;
    request.mutable_node()->set_id(node);
    auto& fields = *request.mutable_node()->mutable_metadata()->mutable_fields();
    for (const auto& [key, value] : labels)
      (*fields["LABELS"].mutable_struct_value()->mutable_fields())[key].set_string_value(value);
    request.set_type_url(Url(xds::TypeId::kCluster));
    ASSERT_TRUE(call->Write(request));
    DiscoveryResponse response;
    ASSERT_TRUE(call->Read(&response));
  }
  httplib::Result Get(const std::string& path) {
    httplib::Client http("127.0.0.1", server_->http_port());
    return http.Get("/debug/" + path);
  }
  json Page(const std::string& path) {
    const auto answer = Get(path);
    EXPECT_TRUE(answer);
    EXPECT_EQ(answer->status, 200) << path << ": " << answer->body;
    return json::parse(answer->body);
  }
  std::string Metrics() {
    httplib::Client http("127.0.0.1", server_->monitoring_port());
    return http.Get("/metrics")->body;
  }

  grpc::ClientContext sidecar_context_, router_context_;
  std::unique_ptr<envoy::service::discovery::v3::AggregatedDiscoveryService::Stub> stub_;
  std::unique_ptr<Call> sidecar_, router_;
};

TEST_F(PagesTest, WhatIsWrongHasFileAndLine) {
  Write("broken.yaml", "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: shop\n  lables: {}\n");
  WriteRoute("0.1ms");
  Begin();
  const json all = Page("diagnostics");
  ASSERT_EQ(all.size(), 2u) << all;
  EXPECT_EQ(all[0]["file"], folder_ + "/broken.yaml");
  EXPECT_EQ(all[0]["line"], 5);
  EXPECT_EQ(all[0]["severity"], "error");
  EXPECT_EQ(all[0]["path"], "metadata.lables");
  EXPECT_EQ(all[1]["kind"], "VirtualService");
  EXPECT_EQ(all[1]["name"], "reviews");
  EXPECT_EQ(Page("diagnostics?severity=warning").size(), 0u);
  EXPECT_EQ(Page("diagnostics?namespace=shop").size(), 1u);
  EXPECT_NE(Metrics().find("fairlead_diagnostics{severity=\"error\"} 2\n"), std::string::npos);
  std::filesystem::remove(folder_ + "/broken.yaml");
  WriteRoute("1s");
  while (!Page("diagnostics").empty()) std::this_thread::yield();
  EXPECT_NE(Metrics().find("fairlead_diagnostics{severity=\"error\"} 0\n"), std::string::npos);
  EXPECT_EQ(Page("configz")[0]["origin"], json({{"file", folder_ + "/route.yaml"}, {"line", 2}}));
}

TEST_F(PagesTest, AReferenceToNothingIsAWarningUntilItIsThere) {
  Write("lost.yaml", R"(
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: {name: lost, namespace: shop}
spec: {hosts: [lost.example.com], http: [{route: [{destination: {host: nowhere}}]}]}
)");
  WriteRoute("5s");
  Begin();
  while (Page("diagnostics").empty()) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  const json all = Page("diagnostics");
  ASSERT_EQ(all.size(), 1u) << all;
  EXPECT_EQ(all[0]["code"], "IST0101");
  EXPECT_EQ(all[0]["severity"], "warning");
  EXPECT_EQ(all[0]["name"], "lost");
  EXPECT_EQ(all[0]["line"], 2);
  Write("nowhere.yaml",
        "{apiVersion: v1, kind: Service, metadata: {name: nowhere, namespace: shop}, "
        "spec: {clusterIP: 10.0.0.77, ports: [{name: http, port: 80}]}}");
  while (!Page("diagnostics").empty()) std::this_thread::sleep_for(std::chrono::milliseconds(10));
}

TEST_F(PagesTest, WhatIsOddIsCountedAndNamed) {
  Write("pod.yaml", kPod);
  Write("rules.yaml", kRules);
  WriteRoute("5s");
  Begin();
  ASSERT_EQ(Page("diagnostics"), json::array());
  const json status = Page("push_status");
  EXPECT_TRUE(status["pilot_eds_no_instances"].contains("outbound|9080|v9|reviews.shop.svc.cluster.local"));
  EXPECT_THAT(
      status["pilot_vservice_dup_domain"]["reviews.shop.svc.cluster.local"]["message"].get<std::string>(),
      HasSubstr("has no effect on it beside"));
  EXPECT_THAT(status["pilot_conflict_inbound_listener"]["client.shop"]["message"].get<std::string>(),
              HasSubstr("port 8080 is HTTP of one.shop.svc.cluster.local, not TCP of two"));
  EXPECT_TRUE(status["pilot_conflict_outbound_listener_tcp_over_current_tcp"].contains("0.0.0.0:5432"));
  EXPECT_TRUE(status["pilot_total_rejected_configs"].contains("shop/edge spec.servers[1]"));
  const std::string metrics = Metrics();
  for (const char* line : {"\npilot_eds_no_instances 1\n", "\npilot_vservice_dup_domain 1\n",
                           "\npilot_conflict_inbound_listener 1\n", "\npilot_endpoint_not_ready 0\n",
                           "\npilot_total_rejected_configs{name=\"shop/edge\",type=\"gateway\"} 1\n"})
    EXPECT_NE(metrics.find(line), std::string::npos) << line;
  std::filesystem::remove(folder_ + "/rules.yaml");
  while (Page("push_status").contains("pilot_total_rejected_configs")) std::this_thread::yield();
  EXPECT_THAT(Metrics(),
              HasSubstr("\npilot_total_rejected_configs{name=\"shop/edge\",type=\"gateway\"} 0\n"));
  EXPECT_NE(Metrics().find("\npilot_eds_no_instances 0\n"), std::string::npos);
}

TEST_F(PagesTest, EndpointsThatAreNotReadyAreNamed) {
  Write("service.yaml", ReplaceAll(kService, "ready: true", "ready: false, terminating: false"));
  Begin();
  EXPECT_TRUE(Page("push_status")["pilot_endpoint_not_ready"].contains("10.1.0.1"));
  EXPECT_TRUE(Metrics().find("\npilot_endpoint_not_ready 1\n") != std::string::npos);
}

TEST_F(PagesTest, TheAddressAloneSaysWhichPagesThereAre) {
  Begin();
  EXPECT_THAT(httplib::Client("127.0.0.1", server_->http_port()).Get("/")->body, HasSubstr("/ready "));
  EXPECT_THAT(httplib::Client("127.0.0.1", server_->monitoring_port()).Get("/")->body,
              HasSubstr("/metrics "));
}

TEST_F(PagesTest, AProxysViewOfTheMesh) {
  Write("pod.yaml", kPod);
  Write("rules.yaml", kRules);
  WriteRoute("5s");
  Begin();
  const json scope = Page("sidecarz?proxyID=client.shop");
  EXPECT_EQ(scope["namespace"], "shop");
  EXPECT_EQ(scope["sidecar"], nullptr);
  EXPECT_EQ(scope["destinationRules"]["reviews.shop.svc.cluster.local"][0]["name"], "reviews");
  EXPECT_EQ(scope["egressListeners"][0]["virtualServices"].size(), 2u);
  const json origins = Page("originz?proxyID=client.shop");
  const json service = "Service/shop/reviews", rule = "DestinationRule/shop/reviews";
  EXPECT_EQ(origins["CDS"]["outbound|9080||reviews.shop.svc.cluster.local"], json::array({rule, service}));
  EXPECT_EQ(origins["CDS"]["PassthroughCluster"], json::array());
  EXPECT_EQ(Get("originz")->status, 400);
  EXPECT_EQ(Get("sidecarz")->status, 400);
  for (const char* page : {"originz", "sidecarz", "config_dump"}) {
    const auto without = Get(page);
    EXPECT_EQ(without->status, 400) << page;
    EXPECT_THAT(without->body, HasSubstr("Connected are\n  client.shop\n  edge.shop\n")) << page;
  }
  EXPECT_EQ(Get("sidecarz?proxyID=nobody")->status, 404);
  const json instances = Page("instancesz");
  EXPECT_EQ(instances["client.shop"].size(), 2u);
  EXPECT_EQ(instances["client.shop"][0]["Port"]["targetPort"], 8080);
  EXPECT_EQ(instances["edge.shop"], json::array());
  EXPECT_THAT(Page("cachez")[Url(xds::TypeId::kCluster)],
              Contains("outbound|9080||reviews.shop.svc.cluster.local"));
  EXPECT_TRUE(Page("cachez?sizes")["total"].is_string());
  EXPECT_EQ(Get("cachez?clear=true")->status, 400);
}

TEST_F(PagesTest, PoliciesNetworksAndTheCluster) {
  Write("rules.yaml", kRules);
  Begin();
  const json policies = Page("authorizationz")["authorization_policies"];
  EXPECT_EQ(policies["rootNamespace"], "istio-system");
  EXPECT_EQ(policies["namespaceToPolicies"]["shop"][0]["metadata"]["name"], "nobody");
  EXPECT_EQ(Page("telemetryz")["telemetries"]["namespaceToTelemetries"]["shop"].size(), 2u);
  const json held = Page("telemetryz?proxyID=client.shop")["telemetries"];
  ASSERT_EQ(held.size(), 1u);
  EXPECT_EQ(held[0]["metadata"]["name"], "of-client");
  const json context = Page("pushcontext");
  EXPECT_EQ(context["AuthorizationPolicies"], policies);
  EXPECT_EQ(context["NetworkGateways"], Page("networkz"));
  EXPECT_EQ(Page("clusterz")[0], json({{"id", "Kubernetes"}, {"secretName", ""}, {"syncStatus", "synced"}}));
}

TEST_F(PagesTest, ClusterSetsAreShownWithWhoMayHaveTheEndpoints) {
  options_.environment.features.mcs_discovery = options_.environment.features.mcs_hosts = true;
  Write("set.yaml", R"(
apiVersion: multicluster.x-k8s.io/v1alpha1
kind: ServiceExport
metadata: {name: reviews, namespace: shop}
---
apiVersion: multicluster.x-k8s.io/v1alpha1
kind: ServiceImport
metadata: {name: reviews, namespace: shop}
spec: {type: ClusterSetIP, ips: [10.200.0.1], ports: [{port: 9080}]}
---
apiVersion: multicluster.x-k8s.io/v1alpha1
kind: ServiceImport
metadata: {name: lonely, namespace: shop}
spec: {type: ClusterSetIP, ips: [10.200.0.2], ports: [{port: 80}]}
)");
  Begin();
  EXPECT_EQ(Page("diagnostics"), json::array()) << "the kinds have an effect";
  const json all = Page("mcsz");
  ASSERT_EQ(all.size(), 2u) << all;
  EXPECT_EQ(all[0]["Name"], "lonely");
  EXPECT_EQ(all[0]["ClusterSetVIP"], "") << "there is no such Service";
  EXPECT_EQ(all[1], json({{"Cluster", "Kubernetes"},
                          {"Name", "reviews"},
                          {"Namespace", "shop"},
                          {"Exported", true},
                          {"Imported", true},
                          {"ClusterSetVIP", "10.200.0.1"},
                          {"Discoverability",
                           {{"reviews.shop.svc.cluster.local", "AlwaysDiscoverable"},
                            {"reviews.shop.svc.clusterset.local", "AlwaysDiscoverable"}}}}));
}

TEST_F(PagesTest, WhatThisVersionHasNotSaysSo) {
  Begin();
  EXPECT_THAT(Get("inject")->body, HasSubstr("injects no sidecars"));
  EXPECT_EQ(Page("mcsz"), json::array()) << "ENABLE_MCS_SERVICE_DISCOVERY is off";
  for (const char* page : {"inject", "ambientz"}) EXPECT_EQ(Get(page)->status, 404) << page;
}

TEST_F(PagesTest, AnOperatorMayEndAStream) {
  Begin();
  httplib::Client http("127.0.0.1", server_->http_port());
  EXPECT_EQ(http.Post("/debug/force_disconnect")->status, 400);
  EXPECT_EQ(Get("force_disconnect?proxyID=client.shop")->status, 405) << "a link may have led there";
  EXPECT_EQ(Page("connections")["totalClients"], 2);
  EXPECT_EQ(http.Post("/debug/force_disconnect?proxyID=client.shop")->status, 200);
  DiscoveryResponse response;
  EXPECT_FALSE(sidecar_->Read(&response));
  EXPECT_EQ(sidecar_->Finish().error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(Page("connections")["totalClients"], 1);
}

TEST_F(PagesTest, TracksAndWhoFollowsThem) {
  Begin();
  const json tracks = Page("trackz");
  ASSERT_EQ(tracks.size(), 1u);
  EXPECT_EQ(tracks[0]["name"], "live");
  EXPECT_EQ(tracks[0]["proxies"], 2);
  EXPECT_GE(tracks[0]["publications"], 1);
  EXPECT_FALSE(Page("connections")["clients"][0].contains("track")) << "that is what is expected";
}

TEST_F(PagesTest, ConnectionsOfTheListeners) {
  Begin();
  const json connections = Page("transportz");
  ASSERT_FALSE(connections.empty());
  EXPECT_THAT(connections[0]["peer"], testing::StartsWith("ipv4:127.0.0.1:"));
  EXPECT_EQ(connections[0]["tls"], false);
  EXPECT_GT(connections[0]["streams"], 0);
  EXPECT_GT(connections[0]["receivedBytes"], 0);
}

TEST_F(PagesTest, TheProcessItself) {
  Begin();
  // A sanitizer's allocator says nothing of itself.
  EXPECT_EQ(Page("pprof/heap")["allocatedBytes"] > 0, mallinfo2().uordblks > 0);
  EXPECT_THAT(Get("pprof/heap?arenas")->body, HasSubstr("<malloc"));
  EXPECT_EQ(Get("pprof/profile?seconds=soon")->status, 400);
  EXPECT_THAT(Page("list"), testing::Not(Contains("pprof/profile"))) << "it is not served over xDS";
  EXPECT_THAT(Get("")->body, HasSubstr("/debug/pprof/profile"));
  const std::string metrics = Metrics();
  for (const char* name : {"\nfairlead_allocator_allocated_bytes ", "\nfairlead_threads "})
    EXPECT_NE(metrics.find(name), std::string::npos) << name;
}

}  // namespace
}  // namespace fairlead::app
