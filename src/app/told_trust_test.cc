#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/server_fixture.h"
#include "ca/certificate.h"
#include "ca/issue.h"
#include "ca/secret_file.h"
#include "istio/mesh/v1alpha1/proxy.pb.h"

// What agents are told to trust (PCDS), from the authority and the MeshConfig to a stream.
namespace fairlead::app {
namespace {

using envoy::service::discovery::v3::DeltaDiscoveryRequest;
using envoy::service::discovery::v3::DeltaDiscoveryResponse;
using envoy::service::discovery::v3::DiscoveryRequest;
using envoy::service::discovery::v3::DiscoveryResponse;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

class ToldTrust : public ServerTest {
 protected:
  ToldTrust() {
    state_ = folder_ + "-state";
    EXPECT_TRUE(ca::MakePrivateFolder(state_).ok());
    options_.secure_grpc_addr = "127.0.0.1:0";
    options_.environment.ca_dir = state_ + "/ca";
    options_.environment.root_ca_dir = state_ + "/none";
    options_.environment.multi_root = true;
    options_.mesh_config = state_ + "/mesh";
    context_.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(30));
  }
  ~ToldTrust() override {
    server_.reset();
    std::filesystem::remove_all(state_);
  }
  void Trust(const std::vector<std::string>& pems) {
    nlohmann::json config = {{"trustDomain", "cluster.local"}};
    for (const std::string& pem : pems) config["caCertificates"].push_back({{"pem", pem}});
    std::ofstream(options_.mesh_config + ".new") << config.dump();
    std::filesystem::rename(options_.mesh_config + ".new", options_.mesh_config);
  }
  static std::string NewRoot() {
    const auto root =
        ca::MakeRoot(*ca::MakeKey(ca::KeyType::kEcdsaP256), "elsewhere", 1'700'000'000, 4'000'000'000);
    return ca::CertificatePem(*root);
  }
  std::string OwnRoot() const { return *ca::ReadSecretFile(state_ + "/ca/root-cert.pem"); }
  static std::vector<std::string> Trusted(const google::protobuf::Any& any) {
    istio::mesh::v1alpha1::ProxyConfig config;
    EXPECT_TRUE(any.UnpackTo(&config));
    return {config.ca_certificates_pem().begin(), config.ca_certificates_pem().end()};
  }
  static std::vector<std::string> Trusted(const envoy::service::discovery::v3::Resource& resource) {
    return Trusted(resource.resource());
  }
  static void Accept(const DiscoveryResponse& response, DiscoveryRequest* request) {
    request->set_response_nonce(response.nonce());
    request->set_version_info(response.version_info());
  }
  static void Accept(const DeltaDiscoveryResponse& response, DeltaDiscoveryRequest* request) {
    EXPECT_THAT(response.removed_resources(), IsEmpty());
    request->set_response_nonce(response.nonce());
  }
  // Asks what to trust; gives what the next response says that has something.
  template <typename Request, typename Response>
  static auto Asking(grpc::ClientReaderWriter<Request, Response>* stream) {
    Request request;
    request.mutable_node()->set_id(kClientNode);
    request.set_type_url(Url(xds::TypeId::kProxyConfig));
    stream->Write(request);
    return [stream, request]() mutable {
      for (Response response; stream->Read(&response);) {
        Accept(response, &request);
        stream->Write(request);
        if (response.resources_size() == 1) return Trusted(response.resources(0));
      }
      return std::vector<std::string>{"the stream ended"};
    };
  }

  std::string state_;
  grpc::ClientContext context_;
  const std::string a_ = NewRoot(), b_ = NewRoot();
};

TEST_F(ToldTrust, AgentsAreToldWhatToTrustAndWhenThatChanges) {
  Trust({a_});
  StartServer();
  auto stub = Stub();
  auto stream = stub->StreamAggregatedResources(&context_);
  auto next = Asking(stream.get());
  EXPECT_THAT(next(), UnorderedElementsAre(OwnRoot(), a_));
  Trust({a_, b_});
  EXPECT_THAT(next(), UnorderedElementsAre(OwnRoot(), a_, b_));
  Trust({});
  EXPECT_THAT(next(), UnorderedElementsAre(OwnRoot()));
}

TEST_F(ToldTrust, TheSameByDifferences) {
  Trust({a_});
  StartServer();
  auto stub = Stub();
  auto stream = stub->DeltaAggregatedResources(&context_);
  auto next = Asking(stream.get());
  EXPECT_THAT(next(), UnorderedElementsAre(OwnRoot(), a_));
  Trust({b_});
  EXPECT_THAT(next(), UnorderedElementsAre(OwnRoot(), b_));
}

TEST_F(ToldTrust, UnlessTheMeshHasSeveralRootsNothingIsTold) {
  options_.environment.multi_root = false;
  Trust({a_});
  StartServer();
  auto stub = Stub();
  auto stream = stub->StreamAggregatedResources(&context_);
  DiscoveryRequest request;
  request.mutable_node()->set_id(kClientNode);
  for (const xds::TypeId type : {xds::TypeId::kProxyConfig, xds::TypeId::kCluster}) {
    request.set_type_url(Url(type));
    stream->Write(request);
  }
  for (DiscoveryResponse response; stream->Read(&response) && response.type_url() != request.type_url();)
    EXPECT_THAT(response.resources(), IsEmpty());
}

}  // namespace
}  // namespace fairlead::app
