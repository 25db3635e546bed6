#include "serving/inspection.h"

#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <httplib.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "app/server_fixture.h"
#include "envoy/admin/v3/config_dump.pb.h"
#include "envoy/service/status/v3/csds.grpc.pb.h"

// What operators see of a running server: over HTTP, xDS and client status discovery.
namespace fairlead::app {
namespace {

using envoy::service::discovery::v3::DiscoveryRequest;
using envoy::service::discovery::v3::DiscoveryResponse;
using envoy::service::status::v3::ClientStatusDiscoveryService;
using envoy::service::status::v3::ClientStatusRequest;
using envoy::service::status::v3::ClientStatusResponse;
using nlohmann::json;
using testing::Contains;
using testing::HasSubstr;
using xds::TypeId;

constexpr char kReviews[] = "outbound|9080||reviews.shop.svc.cluster.local";

// A server, and a proxy that has taken its clusters and rejected its routes.
class InspectionTest : public ServerTest {
 protected:
  InspectionTest() {
    Write("route.yaml", ReplaceAll(kRoute, "%s", "5s"));
    options_.environment.pod_name = "istiod-1";
    StartServer();
    stub_ = Stub();
    stream_ = stub_->StreamAggregatedResources(&context_);
    Ask(TypeId::kCluster, {});
    clusters_ = Next();
    Ask(TypeId::kCluster, {}, clusters_.nonce());
    Ask(TypeId::kRoute, {"9080"});
    routes_ = Next();
    Ask(TypeId::kRoute, {"9080"}, routes_.nonce(), "no such route");
    Ask(TypeId::kEndpoint, {kReviews});
    Next();  // requests are taken in order: the answers before have arrived
  }
  ~InspectionTest() override { context_.TryCancel(); }

  void Ask(TypeId type, const std::vector<std::string>& names, const std::string& nonce = "",
           const std::string& error = "") {
    DiscoveryRequest request;
    request.mutable_node()->set_id(kClientNode);
    auto& metadata = *request.mutable_node()->mutable_metadata()->mutable_fields();
    metadata["ISTIO_VERSION"].set_string_value("1.27.0");
    metadata["CLUSTER_ID"].set_string_value("Kubernetes");
    request.set_type_url(Url(type));
    request.set_response_nonce(nonce);
    if (!error.empty()) request.mutable_error_detail()->set_message(error);
    for (auto& name : names) request.add_resource_names(name);
    ASSERT_TRUE(stream_->Write(request));
  }
  DiscoveryResponse Next() {
    DiscoveryResponse response;
    EXPECT_TRUE(stream_->Read(&response));
    return response;
  }
  json Page(const std::string& path) {
    httplib::Client http("127.0.0.1", server_->http_port());
    const auto answer = http.Get("/debug/" + path);
    EXPECT_TRUE(answer);
    EXPECT_EQ(answer->status, 200) << path << ": " << answer->body;
    return json::parse(answer->body);
  }

  grpc::ClientContext context_;
  std::unique_ptr<envoy::service::discovery::v3::AggregatedDiscoveryService::Stub> stub_;
  std::unique_ptr<grpc::ClientReaderWriter<DiscoveryRequest, DiscoveryResponse>> stream_;
  DiscoveryResponse clusters_, routes_;
};

TEST_F(InspectionTest, SyncTellsWhatWasSentAndWhatWasTaken) {
  const json sync = Page("syncz");
  ASSERT_EQ(sync.size(), 1u);
  EXPECT_EQ(sync[0]["proxy"], "client.shop");
  EXPECT_EQ(sync[0]["proxy_type"], "sidecar");
  EXPECT_EQ(sync[0]["istio_version"], "1.27.0");
  EXPECT_EQ(sync[0]["cluster_sent"], clusters_.nonce());
  EXPECT_EQ(sync[0]["cluster_acked"], clusters_.nonce());
  EXPECT_EQ(sync[0]["route_sent"], routes_.nonce());
  EXPECT_FALSE(sync[0].contains("route_acked"));
  const json& routes = sync[0]["resources"][Url(TypeId::kRoute)];
  EXPECT_EQ(routes["lastError"], "no such route");
  EXPECT_EQ(routes["nackedVersion"], routes_.version_info());
  EXPECT_NE(routes["nackedTime"], "0001-01-01T00:00:00Z");
  EXPECT_EQ(Page("syncz?namespace=other").size(), 0u);
}

TEST_F(InspectionTest, ConnectionsAndTheirWatches) {
  const json ads = Page("adsz");
  EXPECT_EQ(ads["totalClients"], 1);
  const json& client = ads["clients"][0];
  EXPECT_EQ(client["connectionId"], "client.shop-1");
  EXPECT_EQ(client["metadata"]["CLUSTER_ID"], "Kubernetes");
  EXPECT_EQ(client["watches"][Url(TypeId::kRoute)], json({"9080"}));
  EXPECT_EQ(Page("connections")["clients"][0]["connectionId"], "client.shop-1");
  httplib::Client http("127.0.0.1", server_->http_port());
  EXPECT_EQ(http.Get("/debug/adsz?proxyID=nobody")->status, 404);
}

TEST_F(InspectionTest, ConfigDumpIsEnvoysAndHoldsWhatWasSent) {
  const json dump = Page("config_dump?proxyID=client.shop&include_eds");
  std::map<std::string, json> sections;
  for (const json& section : dump["configs"]) sections[section["@type"]] = section;
  const std::string admin = "type.googleapis.com/envoy.admin.v3.";
  EXPECT_THAT(sections[admin + "ClustersConfigDump"].dump(), HasSubstr(kReviews));
  EXPECT_EQ(sections[admin + "ClustersConfigDump"]["versionInfo"], clusters_.version_info());
  EXPECT_EQ(sections[admin + "RoutesConfigDump"]["dynamicRouteConfigs"][0]["routeConfig"]["name"], "9080");
  EXPECT_EQ(sections[admin + "EndpointsConfigDump"]["dynamicEndpointConfigs"].size(), 1u);
  EXPECT_TRUE(sections.contains(admin + "ListenersConfigDump"));
  EXPECT_EQ(Page("edsz?proxyID=client")["configs"][0]["clusterName"], kReviews);
  httplib::Client http("127.0.0.1", server_->http_port());
  EXPECT_EQ(http.Get("/debug/config_dump")->status, 400);
  EXPECT_EQ(http.Get("/debug/config_dump?proxyID=nobody")->status, 404);
}

TEST_F(InspectionTest, TheMeshAsItIsServed) {
  const json registry = Page("registryz");
  ASSERT_EQ(registry.size(), 1u);
  EXPECT_EQ(registry[0]["hostname"], "reviews.shop.svc.cluster.local");
  EXPECT_EQ(registry[0]["ports"][0]["protocol"], "HTTP");
  EXPECT_EQ(registry[0]["clusterVIPs"]["Addresses"]["Kubernetes"], json({"10.0.0.10"}));
  const json endpoints = Page("endpointz");
  const json& shard = endpoints["reviews.shop.svc.cluster.local"]["shop"]["Shards"]["Kubernetes/Kubernetes"];
  EXPECT_EQ(shard[0]["Addresses"], json({"10.1.0.1"}));
  EXPECT_EQ(shard[0]["EndpointPort"], 9080);
  const json configs = Page("configz");
  ASSERT_EQ(configs.size(), 1u) << "Kubernetes' own objects are no configuration";
  EXPECT_EQ(configs[0]["kind"], "VirtualService");
  EXPECT_EQ(configs[0]["spec"]["http"][0]["timeout"], "5s");
  EXPECT_EQ(Page("mesh")["rootNamespace"], "istio-system");
  EXPECT_EQ(Page("push_status"), json::object());
  EXPECT_THAT(Page("list"), Contains("syncz"));
}

TEST_F(InspectionTest, StatusesAreThoseOfTheMeshAsItIs) {
  EXPECT_EQ(Page("gatewayapi"), json::array());
  Write("class.yaml",
        "apiVersion: gateway.networking.k8s.io/v1\nkind: GatewayClass\nmetadata: {name: edge}\n"
        "spec: {controllerName: istio.io/gateway-controller}\n");
  json statuses = Page("gatewayapi");
  for (; statuses.empty(); statuses = Page("gatewayapi"))
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_EQ(statuses[0]["status"]["conditions"][0]["message"], "Handled by Istio controller");
}

TEST_F(InspectionTest, ServicesWithoutEndpointsAreInThePushStatus) {
  Write("lonely.yaml",
        "apiVersion: v1\nkind: Service\nmetadata: {name: lonely, namespace: shop}\n"
        "spec: {clusterIP: 10.0.0.11, ports: [{name: http, port: 80}]}\n");
  while (!Page("push_status").contains("pilot_eds_no_instances")) std::this_thread::yield();
  EXPECT_TRUE(
      Page("push_status")["pilot_eds_no_instances"].contains("outbound|80||lonely.shop.svc.cluster.local"));
}

// Asks for a type of introspection on a stream of its own; nothing where the server ends it.
std::optional<DiscoveryResponse> Inspect(
    envoy::service::discovery::v3::AggregatedDiscoveryService::Stub* stub, const std::string& type,
    const std::vector<std::string>& names, grpc::Status* status = nullptr) {
  grpc::ClientContext context;
  auto stream = stub->StreamAggregatedResources(&context);
  DiscoveryRequest request;
  request.mutable_node()->set_id("sidecar~127.0.0.1~operator.istio-system~cluster.local");
  request.set_type_url(type);
  for (auto& name : names) request.add_resource_names(name);
  stream->Write(request);
  DiscoveryResponse response;
  const bool any = stream->Read(&response);
  if (any) context.TryCancel();
  const grpc::Status end = stream->Finish();
  if (status != nullptr) *status = end;
  return any ? std::optional(response) : std::nullopt;
}

TEST_F(InspectionTest, PagesAreResourcesToo) {
  const auto page = Inspect(stub_.get(), "istio.io/debug", {"config_dump?proxyID=client.shop"});
  ASSERT_TRUE(page);
  EXPECT_EQ(page->resources(0).type_url(), "istio.io/debug");
  EXPECT_THAT(page->resources(0).value(), HasSubstr(kReviews));
  const auto connections = Inspect(stub_.get(), "istio.io/connections", {});
  ASSERT_TRUE(connections);
  EXPECT_GE(json::parse(connections->resources(0).value())["totalClients"], 2) << "the asking one is one";
  grpc::Status status;
  EXPECT_FALSE(Inspect(stub_.get(), "istio.io/debug", {}, &status));
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_FALSE(Inspect(stub_.get(), "istio.io/nothing", {}, &status));
  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNIMPLEMENTED);
}

TEST_F(InspectionTest, BothVariantsOfTheProtocolInspect) {
  grpc::ClientContext context;
  auto stream = stub_->DeltaAggregatedResources(&context);
  envoy::service::discovery::v3::DeltaDiscoveryRequest request;
  request.mutable_node()->set_id("sidecar~127.0.0.1~operator.istio-system~cluster.local");
  (*request.mutable_node()->mutable_metadata()->mutable_fields())["GENERATOR"].set_string_value("event");
  request.set_type_url("istio.io/debug/syncz");
  stream->Write(request);
  envoy::service::discovery::v3::DeltaDiscoveryResponse response;
  ASSERT_TRUE(stream->Read(&response));
  ASSERT_EQ(response.resources_size(), 1);
  EXPECT_EQ(response.resources(0).name(), "client.shop");
  envoy::service::status::v3::ClientConfig config;
  EXPECT_TRUE(response.resources(0).resource().UnpackTo(&config));
  request.set_type_url("istio.io/debug");
  request.add_resource_names_subscribe("syncz");
  stream->Write(request);
  ASSERT_TRUE(stream->Read(&response));
  EXPECT_EQ(response.resources(0).name(), "syncz");
  EXPECT_EQ(json::parse(response.resources(0).resource().value())[0]["proxy"], "client.shop");
  context.TryCancel();
}

TEST_F(InspectionTest, SyncAndDumpAreMessages) {
  const auto sync = Inspect(stub_.get(), "istio.io/debug/syncz", {});
  ASSERT_TRUE(sync);
  ASSERT_EQ(sync->resources_size(), 1) << "the asking client watches nothing";
  envoy::service::status::v3::ClientConfig config;
  ASSERT_TRUE(sync->resources(0).UnpackTo(&config));
  EXPECT_EQ(config.node().id(), "client.shop");
  std::map<std::string, int> states;
  for (const auto& type : config.generic_xds_configs()) states[type.type_url()] = type.config_status();
  EXPECT_EQ(states[Url(TypeId::kCluster)], envoy::service::status::v3::SYNCED);
  EXPECT_EQ(states[Url(TypeId::kRoute)], envoy::service::status::v3::ERROR);
  EXPECT_EQ(states[Url(TypeId::kEndpoint)], envoy::service::status::v3::STALE);
  // istioctl tells the instances of a control plane apart by this.
  const json identifier = json::parse(sync->control_plane().identifier());
  EXPECT_EQ(identifier["ID"], "istiod-1");
  EXPECT_FALSE(identifier["Component"].get<std::string>().empty());
  EXPECT_FALSE(identifier["Info"]["version"].get<std::string>().empty());

  const auto dump = Inspect(stub_.get(), "istio.io/debug/config_dump", {"client.shop"});
  ASSERT_TRUE(dump);
  envoy::admin::v3::ClustersConfigDump clusters;
  for (const auto& section : dump->resources()) section.UnpackTo(&clusters);
  EXPECT_GT(clusters.dynamic_active_clusters_size(), 0);
}

TEST_F(InspectionTest, AnOperatorMayPushEverythingAgain) {
  const auto counted = [this] {
    httplib::Client http("127.0.0.1", server_->monitoring_port());
    const std::string text = http.Get("/metrics")->body, line = "\npilot_push_triggers{type=\"debug\"} ";
    const size_t at = text.find(line);
    return at == std::string::npos ? 0 : std::stod(text.substr(at + line.size()));
  };
  const double before = counted();
  httplib::Client http("127.0.0.1", server_->http_port());
  const auto shown = http.Get("/debug/adsz?push=true");
  ASSERT_EQ(shown->status, 405);
  EXPECT_THAT(shown->body, HasSubstr("by POST"));
  EXPECT_EQ(counted(), before);
  const auto answer = http.Post("/debug/adsz?push=true");
  ASSERT_EQ(answer->status, 200);
  EXPECT_EQ(answer->body, "Pushed to 1 servers\n");
  const DiscoveryResponse clusters = Next();
  EXPECT_EQ(clusters.type_url(), clusters_.type_url());
  EXPECT_EQ(clusters.version_info(), clusters_.version_info());
  EXPECT_NE(clusters.nonce(), clusters_.nonce());
  EXPECT_EQ(Next().type_url(), Url(TypeId::kEndpoint));
  EXPECT_EQ(Next().version_info(), routes_.version_info()) << "although the client had rejected it";
  EXPECT_EQ(counted(), before + 1);
}

TEST_F(InspectionTest, ClientStatusListsEveryResource) {
  auto stub = ClientStatusDiscoveryService::NewStub(channel_);
  grpc::ClientContext context;
  ClientStatusRequest request;
  ClientStatusResponse response;
  ASSERT_TRUE(stub->FetchClientStatus(&context, request, &response).ok());
  ASSERT_EQ(response.config_size(), 1);
  EXPECT_EQ(response.config(0).node().id(), kClientNode);
  size_t rejected = 0;
  bool found = false;
  for (const auto& resource : response.config(0).generic_xds_configs()) {
    if (resource.client_status() == envoy::admin::v3::ClientResourceStatus::NACKED) {
      ++rejected;
      EXPECT_EQ(resource.name(), "9080");
      EXPECT_EQ(resource.error_state().details(), "no such route");
    }
    if (resource.name() != kReviews || resource.type_url() != Url(TypeId::kCluster)) continue;
    found = true;
    EXPECT_EQ(resource.client_status(), envoy::admin::v3::ClientResourceStatus::ACKED);
    EXPECT_EQ(resource.xds_config().type_url(), Url(TypeId::kCluster));
    EXPECT_FALSE(resource.version_info().empty());
  }
  EXPECT_EQ(rejected, 1u);
  EXPECT_TRUE(found);
}

TEST_F(InspectionTest, ClientStatusIsServedByRestToo) {
  httplib::Client http("127.0.0.1", server_->http_port());
  const auto answer =
      http.Post("/v3/discovery:client_status", R"({"excludeResourceContents": true})", "application/json");
  ASSERT_TRUE(answer);
  ASSERT_EQ(answer->status, 200) << answer->body;
  const json status = json::parse(answer->body);
  EXPECT_EQ(status["config"][0]["node"]["id"], kClientNode);
  EXPECT_GT(status["config"][0]["genericXdsConfigs"].size(), 2u);
  EXPECT_EQ(http.Post("/v3/discovery:client_status", "{", "application/json")->status, 400);
}

TEST_F(InspectionTest, ClientStatusTakesMatchersOnAStream) {
  auto stub = ClientStatusDiscoveryService::NewStub(channel_);
  grpc::ClientContext context;
  auto stream = stub->StreamClientStatus(&context);
  const auto matching = [&](const ClientStatusRequest& request) {
    stream->Write(request);
    ClientStatusResponse response;
    EXPECT_TRUE(stream->Read(&response));
    return response.config_size();
  };
  ClientStatusRequest by_id;
  by_id.set_exclude_resource_contents(true);
  by_id.add_node_matchers()->mutable_node_id()->set_prefix("sidecar~10.1.0.9~");
  EXPECT_EQ(matching(by_id), 1);
  by_id.mutable_node_matchers(0)->mutable_node_id()->set_exact("somebody");
  EXPECT_EQ(matching(by_id), 0);
  ClientStatusRequest by_metadata;
  auto* metadata = by_metadata.add_node_matchers()->add_node_metadatas();
  metadata->add_path()->set_key("ISTIO_VERSION");
  metadata->mutable_value()->mutable_string_match()->set_prefix("1.27");
  EXPECT_EQ(matching(by_metadata), 1);
  metadata->mutable_value()->mutable_string_match()->set_prefix("1.28");
  EXPECT_EQ(matching(by_metadata), 0);
  stream->WritesDone();
  EXPECT_TRUE(stream->Finish().ok());
}

}  // namespace
}  // namespace fairlead::app
