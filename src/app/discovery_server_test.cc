#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <httplib.h>

#include <map>
#include <set>
#include <thread>

#include "app/server_fixture.h"
#include "base/strings.h"
#include "envoy/config/cluster/v3/cluster.pb.h"
#include "envoy/config/route/v3/route.pb.h"
#include "istio/networking/nds/v1/nds.pb.h"
#include "push/stream/push_metrics.h"

// The whole server in this process: a folder of manifests in, gRPC over loopback out.
namespace fairlead::app {
namespace {

using envoy::service::discovery::v3::AggregatedDiscoveryService;
using envoy::service::discovery::v3::DeltaDiscoveryRequest;
using envoy::service::discovery::v3::DeltaDiscoveryResponse;
using envoy::service::discovery::v3::DiscoveryRequest;
using envoy::service::discovery::v3::DiscoveryResponse;
using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using xds::TypeId;

constexpr char kReviewsCluster[] = "outbound|9080||reviews.shop.svc.cluster.local";

// A proxy that speaks state of the world.
class SotwClient {
 public:
  explicit SotwClient(AggregatedDiscoveryService::Stub* stub)
      : stream_((context_.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(20)),
                 stub->StreamAggregatedResources(&context_))) {}
  ~SotwClient() { context_.TryCancel(); }
  void Ask(TypeId type, const std::vector<std::string>& names = {},
           const DiscoveryResponse* answered = nullptr, const std::string& error = "") {
    DiscoveryRequest request;
    if (!std::exchange(said_who_, true))
      request.mutable_node()->set_id("sidecar~10.1.0.9~client.shop~shop.svc.cluster.local");
    request.set_type_url(Url(type));
    for (const auto& name : names) request.add_resource_names(name);
    if (answered != nullptr) {
      request.set_response_nonce(answered->nonce());
      request.set_version_info(answered->version_info());
    }
    if (!error.empty()) request.mutable_error_detail()->set_message(error);
    stream_->Write(request);
  }
  DiscoveryResponse Next() {
    DiscoveryResponse response;
    EXPECT_TRUE(stream_->Read(&response));
    return response;
  }
  grpc::Status Finish() { return stream_->Finish(); }

 private:
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReaderWriter<DiscoveryRequest, DiscoveryResponse>> stream_;
  bool said_who_ = false;
};

std::set<std::string> ClusterNames(const DiscoveryResponse& response) {
  std::set<std::string> names;
  for (const auto& any : response.resources()) {
    envoy::config::cluster::v3::Cluster cluster;
    EXPECT_TRUE(any.UnpackTo(&cluster));
    names.insert(cluster.name());
  }
  return names;
}

TEST_F(ServerTest, ServesAFolderAndPushesItsChanges) {
  StartServer();
  auto stub = Stub();
  SotwClient client(stub.get());
  client.Ask(TypeId::kCluster);
  const DiscoveryResponse clusters = client.Next();
  EXPECT_EQ(clusters.type_url(), Url(TypeId::kCluster));
  EXPECT_THAT(ClusterNames(clusters), Contains("outbound|9080||reviews.shop.svc.cluster.local"));
  client.Ask(TypeId::kCluster, {}, &clusters);
  client.Ask(TypeId::kRoute, {"9080"});
  const DiscoveryResponse routes = client.Next();
  ASSERT_EQ(routes.resources_size(), 1);
  client.Ask(TypeId::kRoute, {"9080"}, &routes);

  WriteRoute("7s");
  const DiscoveryResponse changed = client.Next();
  EXPECT_EQ(changed.type_url(), Url(TypeId::kRoute)) << "clusters do not depend on routes";
  EXPECT_NE(changed.version_info(), routes.version_info());
  client.Ask(TypeId::kRoute, {"9080"}, &changed, "I do not like it");
  WriteRoute("8s");
  const DiscoveryResponse again = client.Next();
  EXPECT_NE(again.version_info(), changed.version_info());
  httplib::Client http("127.0.0.1", server_->monitoring_port());
  const auto metrics = http.Get("/metrics");
  ASSERT_TRUE(metrics);
  EXPECT_THAT(metrics->body, testing::HasSubstr("pilot_total_xds_rejects{type=\"rds\"} 1"));
  EXPECT_THAT(metrics->body, testing::HasSubstr("pilot_services 1"));
}

// The timeouts of the routes in a response, by virtual host.
std::map<std::string, std::string> Timeouts(const DiscoveryResponse& response) {
  std::map<std::string, std::string> timeouts;
  for (const auto& any : response.resources()) {
    envoy::config::route::v3::RouteConfiguration routes;
    EXPECT_TRUE(any.UnpackTo(&routes));
    for (const auto& host : routes.virtual_hosts()) {
      if (host.routes(0).name() == "timed")
        timeouts[host.name()] = StrCat(host.routes(0).route().timeout().seconds(), "s");
    }
  }
  return timeouts;
}

TEST_F(ServerTest, ARefusedEditKeepsTheLastGoodRouteAndItsRepairCounts) {
  const std::string reviews = "reviews.shop.svc.cluster.local:9080",
                    ratings = "ratings.shop.svc.cluster.local:9080";
  Write("ratings.yaml", ReplaceAll(kService, "reviews", "ratings"));
  const auto write = [&](const std::string& reviews_timeout, const std::string& ratings_timeout) {
    const std::string route = ReplaceAll(kRoute, "http: [{", "http: [{name: timed, ");
    Write("route.yaml", ReplaceAll(route, "%s", reviews_timeout) + "---" +
                            ReplaceAll(ReplaceAll(route, "reviews", "ratings"), "%s", ratings_timeout));
  };
  write("1s", "1s");
  StartServer();
  auto stub = Stub();
  SotwClient client(stub.get());
  client.Ask(TypeId::kRoute, {"9080"});
  const DiscoveryResponse good = client.Next();
  EXPECT_EQ(Timeouts(good), (std::map<std::string, std::string>{{reviews, "1s"}, {ratings, "1s"}}));
  client.Ask(TypeId::kRoute, {"9080"}, &good);
  write("0.1ms", "2s");  // Istio wants a millisecond at least
  const DiscoveryResponse broken = client.Next();
  EXPECT_EQ(Timeouts(broken), (std::map<std::string, std::string>{{reviews, "1s"}, {ratings, "2s"}}));
  client.Ask(TypeId::kRoute, {"9080"}, &broken);
  write("3s", "2s");
  const DiscoveryResponse repaired = client.Next();
  EXPECT_EQ(Timeouts(repaired), (std::map<std::string, std::string>{{reviews, "3s"}, {ratings, "2s"}}));
}

TEST_F(ServerTest, VersionsSurviveARestart) {
  StartServer();
  auto stub = Stub();
  std::string before, after;
  {
    SotwClient client(stub.get());
    client.Ask(TypeId::kCluster);
    before = client.Next().version_info();
  }
  StartServer();
  stub = Stub();
  SotwClient client(stub.get());
  client.Ask(TypeId::kCluster);
  EXPECT_EQ(client.Next().version_info(), before);
}

TEST_F(ServerTest, NamesOfHeadlessServicesLeadToTheirPods) {
  const auto pod = [](std::string_view name, std::string_view ip) {
    return StrCat("apiVersion: v1\nkind: Pod\nmetadata: {name: ", name,
                  ", namespace: shop, labels: {app: db}}\n", "spec: {hostname: ", name, ", subdomain: db}\n",
                  "status: {phase: Running, podIP: ", ip,
                  ", conditions: [{type: Ready, status: 'True'}]}\n---\n");
  };
  Write("db.yaml", StrCat(pod("db-0", "10.1.0.5"), pod("db-1", "10.1.0.6"), R"(
apiVersion: v1
kind: Service
metadata: {name: db, namespace: shop}
spec: {clusterIP: None, selector: {app: db}, ports: [{name: tcp, port: 3306}]}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: db-1, namespace: shop, labels: {kubernetes.io/service-name: db}}
addressType: IPv4
ports: [{name: tcp, port: 3306}]
endpoints:
- {addresses: [10.1.0.5], targetRef: {kind: Pod, namespace: shop, name: db-0}}
- {addresses: [10.1.0.6], targetRef: {kind: Pod, namespace: shop, name: db-1}}
)"));
  StartServer();
  auto stub = Stub();
  SotwClient client(stub.get());
  client.Ask(TypeId::kNameTable);
  const DiscoveryResponse response = client.Next();
  istio::networking::nds::v1::NameTable names;
  ASSERT_TRUE(response.resources_size() == 1 && response.resources(0).UnpackTo(&names));
  const auto addresses = [&names](const std::string& name) {
    const auto found = names.table().find(name);
    return found == names.table().end()
               ? std::vector<std::string>()
               : std::vector<std::string>(found->second.ips().begin(), found->second.ips().end());
  };
  EXPECT_THAT(addresses("reviews.shop.svc.cluster.local"), ElementsAre("10.0.0.10"));
  EXPECT_THAT(addresses("db.shop.svc.cluster.local"), ElementsAre("10.1.0.5", "10.1.0.6"));
  EXPECT_THAT(addresses("db-1.db.shop.svc.cluster.local"), ElementsAre("10.1.0.6"));
}

// What a delta client has of each type, by name: versions.
using Held = std::map<TypeId, std::map<std::string, std::string>>;

// A sidecar connects and says what it has; all that it is then told until `last` was answered.
Held Reconnect(AggregatedDiscoveryService::Stub* stub, const std::string& node,
               const std::vector<std::pair<TypeId, std::string>>& asks, const Held& before) {
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::minutes(1));
  auto stream = stub->DeltaAggregatedResources(&context);
  for (const auto& [type, name] : asks) {
    DeltaDiscoveryRequest request;
    request.mutable_node()->set_id(node);
    request.set_type_url(Url(type));
    if (!name.empty()) request.add_resource_names_subscribe(name);
    const auto had = before.find(type);
    if (had != before.end()) {
      for (const auto& [resource, version] : had->second)
        (*request.mutable_initial_resource_versions())[resource] = version;
    }
    EXPECT_TRUE(stream->Write(request));
  }
  Held told;
  DeltaDiscoveryResponse response;
  do {
    if (!stream->Read(&response)) {
      ADD_FAILURE() << stream->Finish().error_message();
      return told;
    }
    EXPECT_THAT(response.removed_resources(), IsEmpty());
    for (const auto& resource : response.resources())
      told[xds::FindType(response.type_url())->id][resource.name()] = resource.version();
  } while (response.type_url() != Url(asks.back().first));
  context.TryCancel();
  return told;
}

TEST_F(ServerTest, AReconnectWithVersionsMovesNoResources) {
  constexpr int kProxies = 20;
  WriteRoute("5s");
  StartServer();
  auto stub = Stub();
  // The last one is a type with which everything is always answered; its place in the order is the last, too.
  const std::vector<std::pair<TypeId, std::string>> asks = {{TypeId::kRoute, "9080"},
                                                            {TypeId::kEndpoint, kReviewsCluster},
                                                            {TypeId::kCluster, ""},
                                                            {TypeId::kListener, ""},
                                                            {TypeId::kNameTable, ""}};
  std::vector<Held> held(kProxies);
  for (int round = 0; round < 2; ++round) {
    std::vector<std::thread> proxies;
    proxies.reserve(kProxies);
    for (int i = 0; i < kProxies; ++i) {
      proxies.emplace_back([&, i] {
        const std::string node = StrCat("sidecar~10.1.1.", i, "~p", i, ".shop~shop.svc.cluster.local");
        const Held told = Reconnect(stub.get(), node, asks, held[i]);
        if (round == 0) {
          EXPECT_EQ(told.size(), asks.size()) << "something of each type";
          held[i] = told;
        } else {
          EXPECT_THAT(told, IsEmpty()) << "not one resource";
        }
      });
    }
    for (auto& proxy : proxies) proxy.join();
  }
}

TEST_F(ServerTest, SaysWhetherItIsReadyAndStopsInTime) {
  options_.shutdown_duration = "60s";
  StartServer();
  httplib::Client http("127.0.0.1", server_->http_port());
  const auto ready = http.Get("/ready");
  ASSERT_TRUE(ready);
  EXPECT_EQ(ready->status, 200);
  auto stub = Stub();
  SotwClient client(stub.get());
  client.Ask(TypeId::kCluster);
  client.Next();
  const auto start = std::chrono::steady_clock::now();
  server_->Stop();
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30)) << "it waits for no stream";
  EXPECT_EQ(client.Finish().error_code(), grpc::StatusCode::UNAVAILABLE);
}

// The first snapshot, which opens the listener, is made while the server is stopped.
TEST_F(ServerTest, WhatIsStoppedWhileItOpensIsNotReady) {
  for (int i = 0; i < 20; ++i) {
    DiscoveryServer server(options_);
    ASSERT_TRUE(server.Start().ok());
    std::this_thread::sleep_for(std::chrono::milliseconds(i));
    server.Stop();
    EXPECT_FALSE(server.Ready());
  }
}

TEST_F(ServerTest, AProxyThatHasLeftIsForgotten) {
  StartServer();
  metrics::Gauge& connected = push::ConnectedProxies("unknown");
  const double before = connected.Value();
  auto stub = Stub();
  {
    SotwClient client(stub.get());
    client.Ask(TypeId::kCluster);
    client.Next();
    EXPECT_EQ(connected.Value(), before + 1);
  }
  for (int i = 0; i < 2000 && connected.Value() != before; ++i) usleep(10000);
  EXPECT_EQ(connected.Value(), before);
}

// PILOT_XDS_SEND_TIMEOUT, over a real connection whose windows are full.
TEST_F(ServerTest, AProxyThatDoesNotReadIsCut) {
  std::string services;
  for (int i = 0; i < 300; ++i)
    services += StrCat("---", ReplaceAll(kService, "reviews", StrCat("service-", i)));
  Write("service.yaml", services);
  options_.environment.send_timeout = std::chrono::milliseconds(100);
  StartServer();
  grpc::ChannelArguments small;
  small.SetInt(GRPC_ARG_HTTP2_BDP_PROBE, 0);
  small.SetInt(GRPC_ARG_HTTP2_STREAM_LOOKAHEAD_BYTES, 1024);
  auto stub = AggregatedDiscoveryService::NewStub(grpc::CreateCustomChannel(
      StrCat("127.0.0.1:", server_->grpc_port()), grpc::InsecureChannelCredentials(), small));
  const double cut_before = push::Metrics().write_timeouts.Value();
  SotwClient deaf(stub.get());
  deaf.Ask(TypeId::kListener);
  deaf.Ask(TypeId::kCluster);
  httplib::Client http("127.0.0.1", server_->http_port());
  const auto connected = [&] {
    return http.Get("/debug/connections")->body.find("client.shop") != std::string::npos;
  };
  while (!connected()) std::this_thread::yield();
  while (connected()) std::this_thread::yield();
  const double cut = push::Metrics().write_timeouts.Value() - cut_before;
  EXPECT_EQ(cut, 1);
}

TEST_F(ServerTest, AnAddressInUseIsAnError) {
  StartServer();
  DiscoveryOptions second = options_;
  second.http_addr = second.monitoring_addr = "";
  second.grpc_addr = StrCat("127.0.0.1:", server_->grpc_port());
  DiscoveryServer other(second);
  ASSERT_TRUE(other.Start().ok());
  EXPECT_TRUE(absl::IsUnavailable(other.WaitUntilServing()));
}

TEST_F(ServerTest, AStockEnvoysNodeIsTaken) {
  StartServer();
  auto stub = Stub();
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(20));
  auto stream = stub->StreamAggregatedResources(&context);
  DiscoveryRequest request;
  request.mutable_node()->set_id("sidecar~10.1.0.9~client.shop~shop.svc.cluster.local");
  for (int i = 0; i < 516; ++i) {
    auto* extension = request.mutable_node()->add_extensions();
    extension->set_name(StrCat("envoy.filters.http.some_filter_with_a_long_name_", i));
    extension->set_category("envoy.filters.http");
    extension->add_type_urls(
        StrCat("type.googleapis.com/envoy.extensions.filters.http.some_filter.v3.Filter", i));
  }
  request.set_type_url(Url(TypeId::kListener));
  stream->Write(request);
  DiscoveryResponse response;
  ASSERT_TRUE(stream->Read(&response));
  EXPECT_GT(response.resources_size(), 0);
  context.TryCancel();
}

}  // namespace
}  // namespace fairlead::app
