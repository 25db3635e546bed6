#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "app/server_fixture.h"
#include "envoy/config/route/v3/route.pb.h"

// A gRPC client without a proxy, at the whole server: it names what it wants, in both variants of the
// protocol.
namespace fairlead::app {
namespace {

using envoy::config::route::v3::RouteConfiguration;
using envoy::service::discovery::v3::AggregatedDiscoveryService;
using envoy::service::discovery::v3::DeltaDiscoveryRequest;
using envoy::service::discovery::v3::DeltaDiscoveryResponse;
using envoy::service::discovery::v3::DiscoveryRequest;
using envoy::service::discovery::v3::DiscoveryResponse;
using testing::ElementsAre;
using xds::TypeId;

constexpr char kCluster[] = "outbound|9080||reviews.shop.svc.cluster.local";

void SetNode(envoy::config::core::v3::Node* node) {
  node->set_id(kClientNode);
  (*node->mutable_metadata()->mutable_fields())["GENERATOR"].set_string_value("grpc");
}

class DeltaClient {
 public:
  explicit DeltaClient(AggregatedDiscoveryService::Stub* stub)
      : stream_((context_.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(20)),
                 stub->DeltaAggregatedResources(&context_))) {}
  ~DeltaClient() { context_.TryCancel(); }

  DeltaDiscoveryResponse Subscribe(TypeId type, const std::vector<std::string>& names) {
    DeltaDiscoveryRequest request;
    if (!std::exchange(said_who_, true)) SetNode(request.mutable_node());
    request.set_type_url(Url(type));
    for (const std::string& name : names) request.add_resource_names_subscribe(name);
    stream_->Write(request);
    return Next();
  }
  // The next response, which is ACKed.
  DeltaDiscoveryResponse Next() {
    DeltaDiscoveryResponse response;
    EXPECT_TRUE(stream_->Read(&response));
    DeltaDiscoveryRequest ack;
    ack.set_type_url(response.type_url());
    ack.set_response_nonce(response.nonce());
    stream_->Write(ack);
    return response;
  }

 private:
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReaderWriter<DeltaDiscoveryRequest, DeltaDiscoveryResponse>> stream_;
  bool said_who_ = false;
};

std::vector<std::string> NamesOf(const DeltaDiscoveryResponse& response) {
  std::vector<std::string> names;
  for (const auto& resource : response.resources()) names.push_back(resource.name());
  return names;
}

RouteConfiguration RoutesIn(const DeltaDiscoveryResponse& response) {
  RouteConfiguration routes;
  EXPECT_TRUE(response.resources_size() == 1 && response.resources(0).resource().UnpackTo(&routes));
  return routes;
}

TEST_F(ServerTest, AGrpcClientIsSentWhatItNamesAndWhatChangesOfIt) {
  WriteRoute("5s");
  StartServer();
  auto stub = Stub();
  DeltaClient client(stub.get());
  const auto listeners = client.Subscribe(TypeId::kListener, {"reviews:9080", "nobody:9080"});
  EXPECT_THAT(NamesOf(listeners), ElementsAre("reviews:9080"));
  EXPECT_THAT(listeners.removed_resources(), ElementsAre("nobody:9080"));
  const RouteConfiguration routes = RoutesIn(client.Subscribe(TypeId::kRoute, {kCluster}));
  ASSERT_EQ(routes.virtual_hosts_size(), 1);
  EXPECT_EQ(routes.virtual_hosts(0).routes(0).route().max_stream_duration().max_stream_duration().seconds(),
            5);
  EXPECT_THAT(NamesOf(client.Subscribe(TypeId::kCluster, {kCluster})), ElementsAre(kCluster));
  EXPECT_THAT(NamesOf(client.Subscribe(TypeId::kEndpoint, {kCluster})), ElementsAre(kCluster));

  WriteRoute("7s");
  const DeltaDiscoveryResponse changed = client.Next();
  EXPECT_EQ(changed.type_url(), Url(TypeId::kRoute)) << "nothing else depends on routes";
  const RouteConfiguration now = RoutesIn(changed);
  ASSERT_EQ(now.virtual_hosts_size(), 1);
  EXPECT_EQ(now.virtual_hosts(0).routes(0).route().max_stream_duration().max_stream_duration().seconds(), 7);

  Write("service.yaml", ReplaceAll(kService, "port: 9080", "port: 9081"));
  for (DeltaDiscoveryResponse next = client.Next();; next = client.Next()) {
    if (next.type_url() != Url(TypeId::kListener)) continue;
    EXPECT_THAT(next.removed_resources(), ElementsAre("reviews:9080"));
    break;
  }
}

TEST_F(ServerTest, BothVariantsGiveAGrpcClientTheSame) {
  StartServer();
  auto stub = Stub();
  DeltaClient delta(stub.get());
  const auto by_delta = delta.Subscribe(TypeId::kListener, {"reviews.shop.svc.cluster.local:9080"});
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(20));
  auto stream = stub->StreamAggregatedResources(&context);
  DiscoveryRequest request;
  SetNode(request.mutable_node());
  request.set_type_url(Url(TypeId::kListener));
  request.add_resource_names("reviews.shop.svc.cluster.local:9080");
  stream->Write(request);
  DiscoveryResponse whole;
  ASSERT_TRUE(stream->Read(&whole));
  context.TryCancel();
  ASSERT_EQ(whole.resources_size(), 1);
  ASSERT_EQ(by_delta.resources_size(), 1);
  EXPECT_EQ(whole.resources(0).value(), by_delta.resources(0).resource().value());
}

}  // namespace
}  // namespace fairlead::app
