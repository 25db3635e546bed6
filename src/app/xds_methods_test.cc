#include "serving/xds_methods.h"

#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/impl/codegen/client_unary_call.h>
#include <gtest/gtest.h>

#include "app/server_fixture.h"
#include "envoy/config/route/v3/route.pb.h"
#include "envoy/service/discovery/v3/discovery.pb.h"
#include "xds/services.h"

// The services of one type over real gRPC, by their paths: what a stub that was made of Envoy's API calls.
namespace fairlead::app {
namespace {

using envoy::service::discovery::v3::DeltaDiscoveryRequest;
using envoy::service::discovery::v3::DeltaDiscoveryResponse;
using envoy::service::discovery::v3::DiscoveryRequest;
using envoy::service::discovery::v3::DiscoveryResponse;
using testing::HasSubstr;
using xds::TypeId;

constexpr char kCluster[] = "outbound|9080||reviews.shop.svc.cluster.local";

template <typename Request, typename Response>
class Call {
 public:
  Call(grpc::Channel* channel, std::string path)
      : path_(std::move(path)),
        stream_(
            (context_.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(20)),
             grpc::internal::ClientReaderWriterFactory<Request, Response>::Create(
                 channel, grpc::internal::RpcMethod(path_.c_str(), grpc::internal::RpcMethod::BIDI_STREAMING),
                 &context_))) {}
  ~Call() { context_.TryCancel(); }
  void Say(Request request) {
    if (!std::exchange(said_who_, true)) request.mutable_node()->set_id(kClientNode);
    stream_->Write(request);
  }
  Response Next() {
    Response response;
    EXPECT_TRUE(stream_->Read(&response)) << path_;
    return response;
  }
  // How the server ended the call.
  grpc::Status Finish() { return stream_->Finish(); }

 private:
  const std::string path_;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReaderWriter<Request, Response>> stream_;
  bool said_who_ = false;
};
using SotwCall = Call<DiscoveryRequest, DiscoveryResponse>;
using DeltaCall = Call<DeltaDiscoveryRequest, DeltaDiscoveryResponse>;

// A name of the type that the fixture's mesh has; "" where the type is asked for as a whole.
std::string NameOf(TypeId type) {
  return type == TypeId::kEndpoint ? kCluster : type == TypeId::kRoute ? "9080" : "";
}

class XdsMethods : public ServerTest {
 protected:
  static std::string Path(const xds::ServiceInfo& service, std::string_view method) {
    return StrCat("/", service.service, "/", method);
  }
  static std::vector<xds::ServiceInfo> Served() {
    return {xds::kServices.begin(), xds::kServices.begin() + 4};
  }
  grpc::Status Fetch(const std::string& path, const DiscoveryRequest& request, DiscoveryResponse* response) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(20));
    context.set_compression_algorithm(compression_);
    const grpc::internal::RpcMethod method(path.c_str(), grpc::internal::RpcMethod::NORMAL_RPC);
    return grpc::internal::BlockingUnaryCall(channel_.get(), method, &context, request, response);
  }
  grpc_compression_algorithm compression_ = GRPC_COMPRESS_NONE;
};

TEST_F(XdsMethods, EachStateOfTheWorldServiceServesItsTypeUnnamed) {
  StartServer();
  for (const xds::ServiceInfo& service : Served()) {
    SotwCall call(channel_.get(), Path(service, service.stream));
    DiscoveryRequest request;
    if (!NameOf(service.type).empty()) request.add_resource_names(NameOf(service.type));
    call.Say(request);
    const DiscoveryResponse response = call.Next();
    EXPECT_EQ(response.type_url(), Url(service.type));
    ASSERT_GT(response.resources_size(), 0) << service.service;
    EXPECT_EQ(response.resources(0).type_url(), Url(service.type));
  }
}

TEST_F(XdsMethods, EachDeltaServiceServesItsTypeUnnamed) {
  StartServer();
  for (const xds::ServiceInfo& service : Served()) {
    DeltaCall call(channel_.get(), Path(service, service.delta));
    DeltaDiscoveryRequest request;
    if (!NameOf(service.type).empty()) request.add_resource_names_subscribe(NameOf(service.type));
    call.Say(request);
    const DeltaDiscoveryResponse response = call.Next();
    EXPECT_EQ(response.type_url(), Url(service.type));
    ASSERT_GT(response.resources_size(), 0) << service.service;
    EXPECT_FALSE(response.resources(0).version().empty());
  }
}

TEST_F(XdsMethods, ChangesArePushedOnStreamsOfOneType) {
  StartServer();
  SotwCall call(channel_.get(), Path(xds::kServices[3], "StreamRoutes"));
  DiscoveryRequest request;
  request.add_resource_names("9080");
  call.Say(request);
  const DiscoveryResponse before = call.Next();
  request.set_response_nonce(before.nonce());
  request.set_version_info(before.version_info());
  call.Say(request);
  WriteRoute("7s");
  const DiscoveryResponse after = call.Next();
  EXPECT_NE(after.version_info(), before.version_info());
  envoy::config::route::v3::RouteConfiguration routes;
  ASSERT_TRUE(after.resources(0).UnpackTo(&routes));
  EXPECT_THAT(routes.DebugString(), HasSubstr("seconds: 7"));
}

TEST_F(XdsMethods, FetchIsAnsweredAtOnce) {
  StartServer();
  for (const xds::ServiceInfo& service : Served()) {
    DiscoveryRequest request;
    request.mutable_node()->set_id(kClientNode);
    if (!NameOf(service.type).empty()) request.add_resource_names(NameOf(service.type));
    DiscoveryResponse response, again;
    const grpc::Status status = Fetch(Path(service, service.fetch), request, &response);
    ASSERT_TRUE(status.ok()) << service.service << ": " << status.error_message();
    EXPECT_EQ(response.type_url(), Url(service.type));
    EXPECT_GT(response.resources_size(), 0);
    request.set_version_info(response.version_info());
    ASSERT_TRUE(Fetch(Path(service, service.fetch), request, &again).ok()) << "the same version, too";
    EXPECT_EQ(again.version_info(), response.version_info());
  }
}

TEST_F(XdsMethods, FetchOfWhatDoesNotExistIsEmptyAndOfNothingAnError) {
  StartServer();
  const std::string path = Path(xds::kServices[1], "FetchEndpoints");
  DiscoveryRequest request;
  request.mutable_node()->set_id(kClientNode);
  DiscoveryResponse response;
  EXPECT_EQ(Fetch(path, request, &response).error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  request.add_resource_names("outbound|1||nowhere.example.com");
  ASSERT_TRUE(Fetch(path, request, &response).ok());
  EXPECT_FALSE(response.version_info().empty());
}

TEST_F(XdsMethods, CompressedRequestsAreTaken) {
  StartServer();
  compression_ = GRPC_COMPRESS_GZIP;
  DiscoveryRequest request;
  request.mutable_node()->set_id(kClientNode);
  auto& metadata = *request.mutable_node()->mutable_metadata()->mutable_fields();
  metadata["ANYTHING"].set_string_value(std::string(20000, 'c'));  // worth compressing
  DiscoveryResponse response;
  ASSERT_TRUE(Fetch(Path(xds::kServices[0], "FetchClusters"), request, &response).ok());
  EXPECT_GT(response.resources_size(), 0);
}

// ISTIO_GPRC_MAXRECVMSGSIZE
TEST_F(XdsMethods, RequestsBeyondTheLimitAreRefused) {
  options_.environment.max_receive_size = 10000;
  StartServer();
  DiscoveryRequest request;
  request.mutable_node()->set_id(kClientNode);
  DiscoveryResponse response;
  const std::string path = Path(xds::kServices[0], "FetchClusters");
  EXPECT_TRUE(Fetch(path, request, &response).ok());
  request.mutable_node()->set_cluster(std::string(20000, 'c'));
  EXPECT_EQ(Fetch(path, request, &response).error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
}

TEST_F(XdsMethods, VirtualHostsComeOnDemand) {
  StartServer();
  DeltaCall call(channel_.get(), Path(xds::kServices[4], "DeltaVirtualHosts"));
  DeltaDiscoveryRequest request;
  request.add_resource_names_subscribe("9080/reviews");
  call.Say(request);
  const DeltaDiscoveryResponse found = call.Next();
  ASSERT_EQ(found.resources_size(), 1);
  EXPECT_EQ(found.resources(0).name(), "9080/reviews");
  envoy::config::route::v3::VirtualHost host;
  ASSERT_TRUE(found.resources(0).resource().UnpackTo(&host));
  EXPECT_THAT(host.domains(), testing::Contains("reviews"));

  DeltaDiscoveryRequest more;
  more.set_response_nonce(found.nonce());
  more.add_resource_names_subscribe("nonsense/nowhere");
  call.Say(more);
  const DeltaDiscoveryResponse nothing = call.Next();
  ASSERT_EQ(nothing.resources_size(), 1);
  EXPECT_EQ(nothing.resources(0).name(), "nonsense/nowhere");
  EXPECT_FALSE(nothing.resources(0).has_resource()) << "says that there is none";

  WriteRoute("7s");
  const DeltaDiscoveryResponse changed = call.Next();
  ASSERT_EQ(changed.resources_size(), 1);
  EXPECT_EQ(changed.resources(0).name(), "9080/reviews");
}

TEST_F(XdsMethods, AForeignTypeEndsTheStream) {
  StartServer();
  SotwCall call(channel_.get(), Path(xds::kServices[0], "StreamClusters"));
  DiscoveryRequest request;
  request.set_type_url(Url(TypeId::kListener));
  call.Say(request);
  const grpc::Status status = call.Finish();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(status.error_message(), HasSubstr(Url(TypeId::kListener)));
}

// PILOT_MAX_REQUESTS_PER_SECOND counts streams, of all services.
TEST_F(XdsMethods, NewStreamsBeyondTheRateAreRefused) {
  options_.environment.max_requests_per_second = 0.01;
  StartServer();
  SotwCall first(channel_.get(), Path(xds::kServices[0], "StreamClusters"));
  first.Say({});
  EXPECT_GT(first.Next().resources_size(), 0);
  SotwCall second(channel_.get(), Path(xds::kServices[2], "StreamListeners"));
  second.Say({});
  EXPECT_EQ(second.Finish().error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
}

TEST_F(XdsMethods, AServiceWhoseTypeIsNotServedSaysSo) {
  StartServer();
  DeltaCall call(channel_.get(), "/envoy.service.route.v3.ScopedRoutesDiscoveryService/DeltaScopedRoutes");
  DeltaDiscoveryRequest request;
  request.add_resource_names_subscribe("default");
  call.Say(request);
  const grpc::Status status = call.Finish();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNIMPLEMENTED);
  EXPECT_THAT(status.error_message(), HasSubstr("ScopedRoutes"));
}

TEST_F(XdsMethods, Version2IsRefusedOnEveryTransport) {
  StartServer();
  SotwCall service(channel_.get(),
                   "/envoy.service.discovery.v2.AggregatedDiscoveryService/StreamAggregatedResources");
  service.Say({});
  grpc::Status status = service.Finish();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNIMPLEMENTED);
  EXPECT_THAT(status.error_message(), HasSubstr("xDS v2 is not served"));

  DiscoveryRequest request;
  request.set_type_url("type.googleapis.com/envoy.api.v2.Cluster");
  for (const char* path : {"/envoy.service.discovery.v3.AggregatedDiscoveryService/StreamAggregatedResources",
                           "/envoy.service.cluster.v3.ClusterDiscoveryService/StreamClusters"}) {
    SotwCall call(channel_.get(), path);
    call.Say(request);
    status = call.Finish();
    EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT) << path;
    EXPECT_THAT(status.error_message(), HasSubstr("xDS v2 is not served")) << path;
  }
  DeltaDiscoveryRequest delta;
  delta.set_type_url("type.googleapis.com/envoy.api.v2.Cluster");
  DeltaCall call(channel_.get(),
                 "/envoy.service.discovery.v3.AggregatedDiscoveryService/DeltaAggregatedResources");
  call.Say(delta);
  EXPECT_EQ(call.Finish().error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  request.mutable_node()->set_id(kClientNode);
  DiscoveryResponse response;
  status = Fetch("/envoy.service.cluster.v3.ClusterDiscoveryService/FetchClusters", request, &response);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(status.error_message(), HasSubstr("xDS v2 is not served"));
}

}  // namespace
}  // namespace fairlead::app
