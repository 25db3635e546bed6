#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <httplib.h>

#include <nlohmann/json.hpp>

#include "app/server_fixture.h"
#include "debug/access.h"
#include "istio/mcp/v1alpha1/resource.pb.h"
#include "istio/mesh/v1alpha1/config.pb.h"
#include "istio/networking/v1alpha3/virtual_service.pb.h"

// The mesh's objects over xDS, as another control plane asks for them (GENERATOR "api"), by a gRPC client.
namespace fairlead::app {
namespace {

using envoy::service::discovery::v3::DeltaDiscoveryRequest;
using envoy::service::discovery::v3::DeltaDiscoveryResponse;
using envoy::service::discovery::v3::DiscoveryRequest;
using envoy::service::discovery::v3::DiscoveryResponse;
using istio::mcp::v1alpha1::Resource;
using testing::ElementsAre;
using testing::UnorderedElementsAre;

constexpr char kVirtualServices[] = "networking.istio.io/v1/VirtualService";
constexpr char kServiceEntries[] = "networking.istio.io/v1/ServiceEntry";

// One stream of a client that asks for objects.
template <typename Request, typename Response>
class Client {
 public:
  explicit Client(const std::shared_ptr<grpc::Channel>& channel, std::string generator = "api")
      : stub_(envoy::service::discovery::v3::AggregatedDiscoveryService::NewStub(channel)),
        generator_(std::move(generator)) {
    if constexpr (kDelta) {
      stream_ = stub_->DeltaAggregatedResources(&context_);
    } else {
      stream_ = stub_->StreamAggregatedResources(&context_);
    }
  }
  ~Client() { context_.TryCancel(); }
  static constexpr bool kDelta = std::is_same_v<Request, DeltaDiscoveryRequest>;

  Request Asking(const std::string& type) const {
    Request request;
    request.mutable_node()->set_id("sidecar~10.1.0.7~other-control-plane.istio-system~cluster.local");
    auto& metadata = *request.mutable_node()->mutable_metadata()->mutable_fields();
    if (!generator_.empty()) metadata["GENERATOR"].set_string_value(generator_);
    request.set_type_url(type);
    return request;
  }
  void Ask(const std::string& type) { Say(Asking(type)); }
  void Answer(const Response& response, const std::string& error = "") {
    Request request = Asking(response.type_url());
    request.set_response_nonce(response.nonce());
    if (!error.empty()) request.mutable_error_detail()->set_message(error);
    Say(request);
  }
  void Say(const Request& request) { ASSERT_TRUE(stream_->Write(request)); }
  Response Next() {
    Response response;
    EXPECT_TRUE(stream_->Read(&response));
    return response;
  }
  // The status with which the server ends the stream.
  grpc::Status End() {
    Response response;
    while (stream_->Read(&response)) {
    }
    return stream_->Finish();
  }

 private:
  grpc::ClientContext context_;
  std::unique_ptr<envoy::service::discovery::v3::AggregatedDiscoveryService::Stub> stub_;
  const std::string generator_;
  std::unique_ptr<grpc::ClientReaderWriter<Request, Response>> stream_;
};
using SotwClient = Client<DiscoveryRequest, DiscoveryResponse>;
using DeltaClient = Client<DeltaDiscoveryRequest, DeltaDiscoveryResponse>;

// "namespace/name" by body's type
std::vector<std::string> NamesIn(const DiscoveryResponse& response) {
  std::vector<std::string> names;
  for (const auto& any : response.resources()) {
    Resource resource;
    EXPECT_TRUE(any.UnpackTo(&resource)) << any.type_url();
    names.push_back(resource.metadata().name());
  }
  return names;
}
std::vector<std::string> NamesIn(const DeltaDiscoveryResponse& response) {
  std::vector<std::string> names;
  for (const auto& wrapped : response.resources()) {
    Resource resource;
    EXPECT_TRUE(wrapped.resource().UnpackTo(&resource)) << wrapped.resource().type_url();
    EXPECT_EQ(resource.metadata().name(), wrapped.name());
    names.push_back(wrapped.name());
  }
  return names;
}

int64_t TimeoutIn(const google::protobuf::Any& any) {
  Resource resource;
  istio::networking::v1alpha3::VirtualService spec;
  EXPECT_TRUE(any.UnpackTo(&resource));
  EXPECT_TRUE(resource.body().UnpackTo(&spec));
  return spec.http(0).timeout().seconds();
}

class ObjectsTest : public ServerTest {
 protected:
  ObjectsTest() { WriteRoute("5s"); }
  void WriteOther() {
    Write("other.yaml", ReplaceAll(ReplaceAll(kRoute, "name: reviews", "name: other"), "%s", "9s"));
  }
  void WriteEntry() {
    Write("entry.yaml", R"(
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: {name: ext, namespace: shop}
spec: {hosts: [ext.example.com], ports: [{number: 80, name: http, protocol: HTTP}], resolution: DNS}
)");
  }
  void Remove(const std::string& name) { std::filesystem::remove(folder_ + "/" + name); }
  double Counted(const std::string& line) {
    httplib::Client http("127.0.0.1", server_->monitoring_port());
    const std::string text = http.Get("/metrics")->body;
    const size_t at = text.find("\n" + line + " ");
    return at == std::string::npos ? 0 : std::stod(text.substr(at + line.size() + 2));
  }
};

TEST_F(ObjectsTest, StateOfTheWorldIsAllOfAKindAndAgainWhenOneChanges) {
  StartServer();
  SotwClient client(channel_);
  client.Ask(kVirtualServices);
  const DiscoveryResponse first = client.Next();
  EXPECT_EQ(first.type_url(), kVirtualServices);
  EXPECT_THAT(NamesIn(first), ElementsAre("shop/reviews"));
  EXPECT_EQ(TimeoutIn(first.resources(0)), 5);
  client.Answer(first);
  WriteOther();
  const DiscoveryResponse both = client.Next();
  EXPECT_THAT(NamesIn(both), UnorderedElementsAre("shop/other", "shop/reviews"));
  EXPECT_NE(both.version_info(), first.version_info());
  client.Answer(both);
  Remove("other.yaml");
  const DiscoveryResponse last = client.Next();
  EXPECT_THAT(NamesIn(last), ElementsAre("shop/reviews"));
  EXPECT_EQ(last.version_info(), first.version_info()) << "versions are of the content";
}

TEST_F(ObjectsTest, DeltaIsWhatDiffers) {
  StartServer();
  DeltaClient client(channel_);
  client.Ask(kVirtualServices);
  const DeltaDiscoveryResponse first = client.Next();
  EXPECT_THAT(NamesIn(first), ElementsAre("shop/reviews"));
  client.Answer(first);
  WriteOther();
  const DeltaDiscoveryResponse added = client.Next();
  EXPECT_THAT(NamesIn(added), ElementsAre("shop/other"));
  client.Answer(added);
  WriteRoute("6s");
  const DeltaDiscoveryResponse changed = client.Next();
  EXPECT_THAT(NamesIn(changed), ElementsAre("shop/reviews"));
  EXPECT_EQ(TimeoutIn(changed.resources(0).resource()), 6);
  client.Answer(changed);
  Remove("other.yaml");
  const DeltaDiscoveryResponse removed = client.Next();
  EXPECT_EQ(removed.resources_size(), 0);
  EXPECT_THAT(removed.removed_resources(), ElementsAre("shop/other"));

  DeltaClient again(channel_);  // knows it all from before
  DeltaDiscoveryRequest request = again.Asking(kVirtualServices);
  (*request.mutable_initial_resource_versions())["shop/reviews"] = changed.resources(0).version();
  (*request.mutable_initial_resource_versions())["shop/other"] = added.resources(0).version();
  again.Say(request);
  const DeltaDiscoveryResponse since = again.Next();
  EXPECT_EQ(since.resources_size(), 0);
  EXPECT_THAT(since.removed_resources(), ElementsAre("shop/other"));
}

TEST_F(ObjectsTest, AKindWithoutObjectsIsAnsweredToo) {
  StartServer();
  SotwClient client(channel_);
  for (const char* type : {"networking.istio.io/v1alpha3/EnvoyFilter", "example.com/v1/Unheard",
                           "core/v1/Secret", "type.googleapis.com/example.Unheard", "nothing"}) {
    client.Ask(type);
    const DiscoveryResponse response = client.Next();
    EXPECT_EQ(response.type_url(), type) << "clients wait until every type was answered";
    EXPECT_EQ(response.resources_size(), 0);
  }
  DeltaClient delta(channel_);
  delta.Ask("example.com/v1/Unheard");
  EXPECT_EQ(delta.Next().type_url(), "example.com/v1/Unheard");
  DeltaDiscoveryRequest named = delta.Asking(kVirtualServices);
  named.add_resource_names_subscribe("shop/reviews");
  named.add_resource_names_subscribe("shop/nobody");
  delta.Say(named);
  const DeltaDiscoveryResponse response = delta.Next();
  EXPECT_THAT(NamesIn(response), ElementsAre("shop/reviews"));
  EXPECT_THAT(response.removed_resources(), ElementsAre("shop/nobody"));
}

TEST_F(ObjectsTest, EveryVersionOfAKindIsServedAndClustersAsUsual) {
  StartServer();
  SotwClient client(channel_);
  for (const char* version : {"v1", "v1beta1", "v1alpha3"}) {
    client.Ask(StrCat("networking.istio.io/", version, "/VirtualService"));
    EXPECT_THAT(NamesIn(client.Next()), ElementsAre("shop/reviews"));
  }
  client.Ask("core/v1alpha1/MeshConfig");
  istio::mesh::v1alpha1::MeshConfig mesh;
  const DiscoveryResponse settings = client.Next();
  ASSERT_EQ(settings.resources_size(), 1);
  ASSERT_TRUE(settings.resources(0).UnpackTo(&mesh));
  EXPECT_EQ(mesh.root_namespace(), "istio-system");
  client.Ask(Url(xds::TypeId::kCluster));
  EXPECT_GT(client.Next().resources_size(), 0);
}

TEST_F(ObjectsTest, ServicesAreServiceEntries) {
  StartServer();
  DeltaClient client(channel_);
  client.Ask(kServiceEntries);
  const DeltaDiscoveryResponse first = client.Next();
  EXPECT_THAT(NamesIn(first), ElementsAre("shop/synthetic-reviews"));
  client.Answer(first);
  WriteEntry();
  EXPECT_THAT(NamesIn(client.Next()), ElementsAre("shop/ext"));
}

TEST_F(ObjectsTest, WhatWasRejectedWaitsUntilItDiffersAndIsReported) {
  StartServer();
  const std::string rejects = StrCat("pilot_total_xds_rejects{type=\"", kVirtualServices, "\"}");
  const double before = Counted(rejects);
  SotwClient client(channel_);
  client.Ask(kVirtualServices);
  client.Answer(client.Next(), "no such hosts");
  client.Ask(kServiceEntries);
  client.Next();  // requests are taken in order
  EXPECT_EQ(Counted(rejects), before + 1);
  httplib::Client http("127.0.0.1", server_->http_port());
  const auto sync = nlohmann::json::parse(http.Get("/debug/syncz")->body);
  EXPECT_EQ(sync[0]["resources"][kVirtualServices]["lastError"], "no such hosts");
  const auto ads = nlohmann::json::parse(http.Get("/debug/adsz")->body);
  EXPECT_TRUE(ads["clients"][0]["watches"].contains(kVirtualServices));
  WriteEntry();
  EXPECT_EQ(client.Next().type_url(), kServiceEntries) << "nothing of the virtual services has changed";
  WriteRoute("6s");
  EXPECT_EQ(client.Next().type_url(), kVirtualServices);
}

TEST_F(ObjectsTest, AClientNeedsNoGeneratorForThem) {
  StartServer();
  SotwClient client(channel_, "");
  client.Ask(kVirtualServices);
  EXPECT_THAT(NamesIn(client.Next()), ElementsAre("shop/reviews"));
  client.Ask("nothing");
  EXPECT_EQ(client.End().error_code(), grpc::StatusCode::INVALID_ARGUMENT);
}

TEST(MayReadObjects, OnThisMachineAndFromTheRootNamespace) {
  const auto who = [](const std::string& ns) { return std::optional(model::PeerIdentity{"td", ns, "sa"}); };
  using debug::MayReadObjects;
  EXPECT_TRUE(MayReadObjects("ipv4:127.0.0.1:1", std::nullopt, "istio-system").ok());
  EXPECT_TRUE(MayReadObjects("ipv4:10.0.0.1:1", who("istio-system"), "istio-system").ok());
  EXPECT_TRUE(absl::IsPermissionDenied(MayReadObjects("ipv4:10.0.0.1:1", who("shop"), "istio-system")));
  EXPECT_TRUE(absl::IsUnauthenticated(MayReadObjects("ipv4:10.0.0.1:1", std::nullopt, "istio-system")));
}

}  // namespace
}  // namespace fairlead::app
