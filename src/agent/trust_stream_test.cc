#include "agent/trust_stream.h"

#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/strings.h"
#include "ca/authority.h"
#include "ca/certificate.h"
#include "ca/issue.h"
#include "envoy/extensions/transport_sockets/tls/v3/secret.pb.h"
#include "envoy/service/discovery/v3/ads.grpc.pb.h"
#include "istio/mesh/v1alpha1/proxy.pb.h"

namespace fairlead::agent {
namespace {

namespace tls = envoy::extensions::transport_sockets::tls::v3;
using envoy::service::discovery::v3::AggregatedDiscoveryService;
using envoy::service::discovery::v3::DiscoveryRequest;
using envoy::service::discovery::v3::DiscoveryResponse;
using std::chrono::milliseconds;
using testing::UnorderedElementsAre;

ca::BundlePtr NewBundle(const std::string& organization) {
  auto bundle = std::make_shared<ca::Bundle>();
  bundle->key = *ca::MakeKey(ca::KeyType::kEcdsaP256);
  bundle->certificate = *ca::MakeRoot(bundle->key, organization, ca::UnixNow() - 60, ca::UnixNow() + 3600);
  bundle->roots = {bundle->certificate};
  return bundle;
}
std::string NewRoot() { return ca::CertificatePem(NewBundle("elsewhere")->certificate); }

// A control plane that says on each stream what it is told to, and keeps what it hears.
class FakeDiscovery : public AggregatedDiscoveryService::Service {
 public:
  grpc::Status StreamAggregatedResources(
      grpc::ServerContext* context,
      grpc::ServerReaderWriter<DiscoveryResponse, DiscoveryRequest>* stream) override {
    for (DiscoveryRequest request; stream->Read(&request);) {
      std::unique_lock lock(mutex_);
      for (const auto& [key, value] : context->client_metadata()) {
        if (key == "authorization") authorization = std::string(value.data(), value.size());
      }
      heard_.push_back(request);
      changed_.notify_all();
      if (heard_.size() % 2 == 1 && !Wait(lock, [this] { return !said_.empty(); })) break;
      if (said_.empty()) continue;
      const auto response = std::move(said_.front());
      said_.pop_front();
      lock.unlock();
      if (!response) return {grpc::StatusCode::UNAVAILABLE, "ends"};
      stream->Write(*response);
    }
    return grpc::Status::OK;
  }
  // The next of what it says, in answer to what it hears; null: the stream ends.
  void Say(std::unique_ptr<DiscoveryResponse> response) {
    std::lock_guard lock(mutex_);
    said_.push_back(std::move(response));
    changed_.notify_all();
  }
  // The request of that number, from 0.
  DiscoveryRequest Heard(size_t number) {
    std::unique_lock lock(mutex_);
    if (!Wait(lock, [&] { return heard_.size() > number; })) return {};
    return heard_[number];
  }
  std::string authorization;  // of the last stream

 private:
  bool Wait(std::unique_lock<std::mutex>& lock, const std::function<bool()>& good) {
    return changed_.wait_for(lock, std::chrono::seconds(30), good);
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<DiscoveryRequest> heard_;
  std::deque<std::unique_ptr<DiscoveryResponse>> said_;
};

std::unique_ptr<DiscoveryResponse> Trust(const std::string& nonce, const std::vector<std::string>& pems) {
  istio::mesh::v1alpha1::ProxyConfig config;
  for (const std::string& pem : pems) config.add_ca_certificates_pem(pem);
  auto response = std::make_unique<DiscoveryResponse>();
  response->set_nonce(nonce);
  response->set_version_info("v" + nonce);
  response->set_type_url("type.googleapis.com/istio.mesh.v1alpha1.ProxyConfig");
  response->add_resources()->PackFrom(config);
  return response;
}

std::vector<std::string> RootsOf(const SecretStore& store) {
  const cache::ResourcePtr resource = store.Find("ROOTCA");
  if (resource == nullptr) return {};
  google::protobuf::Any any;
  tls::Secret secret;
  EXPECT_TRUE(any.ParseFromString(resource->any.Unpacked()) && any.UnpackTo(&secret));
  std::vector<std::string> pems;
  const auto all = ca::ReadCertificates(secret.validation_context().trusted_ca().inline_bytes());
  for (const auto& one : *all) pems.push_back(ca::CertificatePem(one));
  return pems;
}

class TrustStreamTest : public testing::Test {
 protected:
  TrustStreamTest() {
    const ca::BundlePtr bundle = NewBundle("mesh");
    ca::Authority authority({});
    authority.Replace(bundle);
    const auto own = authority.MakeKeyAndChain({"localhost"}, std::chrono::seconds(600));
    grpc::SslServerCredentialsOptions credentials;
    credentials.pem_key_cert_pairs.push_back({own->key, own->chain});
    grpc::ServerBuilder builder;
    int port = 0;
    builder.AddListeningPort("127.0.0.1:0", grpc::SslServerCredentials(credentials), &port);
    builder.RegisterService(&discovery_);
    server_ = builder.BuildAndStart();
    const std::string prefix = StrCat(testing::TempDir(), "/trust-stream-", getpid());
    options_.control_plane.address = StrCat("127.0.0.1:", port);
    options_.control_plane.server_name = "localhost";
    options_.control_plane.roots_file = prefix + "-roots";
    options_.control_plane.token_file = prefix + "-token";
    EXPECT_TRUE(WritePrivateFile(options_.control_plane.roots_file, ca::CertificatePems(bundle->roots)).ok());
    EXPECT_TRUE(WritePrivateFile(options_.control_plane.token_file, "who I am").ok());
    options_.node = R"({"id": "sidecar~10.0.0.1~web.shop~shop.svc", "metadata": {"NAMESPACE": "shop"}})";
    options_.first_retry = milliseconds(10);
    store_.Set("ROOTCA", {"", "", own_});
  }
  ~TrustStreamTest() override {
    if (stream_ != nullptr) stream_->Stop();
    server_->Shutdown(std::chrono::system_clock::now());
    unlink(options_.control_plane.roots_file.c_str());
    unlink(options_.control_plane.token_file.c_str());
  }
  void Start() {
    stream_ = std::make_unique<TrustStream>(options_, &store_);
    stream_->Start();
  }

  FakeDiscovery discovery_;
  std::unique_ptr<grpc::Server> server_;
  TrustStreamOptions options_;
  SecretStore store_;
  std::unique_ptr<TrustStream> stream_;
  const std::string own_ = NewRoot(), a_ = NewRoot(), b_ = NewRoot();
};

TEST_F(TrustStreamTest, WhatIsToldIsTrustedBesidesTheRootsAndAcknowledged) {
  discovery_.Say(Trust("1", {a_, own_}));
  Start();
  const DiscoveryRequest first = discovery_.Heard(0);
  EXPECT_EQ(first.node().id(), "sidecar~10.0.0.1~web.shop~shop.svc");
  EXPECT_EQ(first.node().metadata().fields().at("NAMESPACE").string_value(), "shop");
  EXPECT_EQ(first.type_url(), "type.googleapis.com/istio.mesh.v1alpha1.ProxyConfig");
  EXPECT_EQ(discovery_.Heard(1).response_nonce(), "1");
  EXPECT_EQ(discovery_.Heard(1).version_info(), "v1");
  EXPECT_EQ(discovery_.authorization, "Bearer who I am");
  EXPECT_THAT(RootsOf(store_), UnorderedElementsAre(own_, a_)) << "each once";
}

TEST_F(TrustStreamTest, AStreamThatEndsIsBegunAnewAndWhatWasToldStays) {
  discovery_.Say(Trust("1", {a_}));
  discovery_.Say(nullptr);  // in answer to the acknowledgement
  Start();
  EXPECT_EQ(discovery_.Heard(1).response_nonce(), "1");
  EXPECT_EQ(discovery_.Heard(2).node().id(), "sidecar~10.0.0.1~web.shop~shop.svc");
  EXPECT_THAT(RootsOf(store_), UnorderedElementsAre(own_, a_));
  discovery_.Say(Trust("2", {b_}));
  EXPECT_EQ(discovery_.Heard(3).response_nonce(), "2");
  EXPECT_THAT(RootsOf(store_), UnorderedElementsAre(own_, b_));
}

TEST_F(TrustStreamTest, WhatIsNoProxyConfigIsRefused) {
  auto wrong = Trust("1", {});
  wrong->mutable_resources(0)->set_type_url("type.googleapis.com/envoy.config.cluster.v3.Cluster");
  discovery_.Say(std::move(wrong));
  Start();
  const DiscoveryRequest refusal = discovery_.Heard(1);
  EXPECT_EQ(refusal.response_nonce(), "1");
  EXPECT_TRUE(refusal.has_error_detail());
  EXPECT_THAT(RootsOf(store_), UnorderedElementsAre(own_));
}

TEST(TrustedSecrets, GoAlongWithTheRootsWheneverTheseChange) {
  SecretStore store;
  std::vector<std::string> heard;
  store.Follow([&heard](const std::string& name, const Secret& secret) {
    heard.push_back(StrCat(name, ":", ca::ReadCertificates(secret.roots)->size()));
  });
  const std::string own = NewRoot(), next = NewRoot(), more = NewRoot();
  store.SetTrusted({more});
  EXPECT_TRUE(heard.empty()) << "there are no roots yet";
  store.Set("ROOTCA", {"", "", own});
  EXPECT_THAT(RootsOf(store), UnorderedElementsAre(own, more));
  store.Set("ROOTCA", {"", "", next});
  EXPECT_THAT(RootsOf(store), UnorderedElementsAre(next, more));
  store.Set("ROOTCA", {"", "", next});
  store.SetTrusted({});
  EXPECT_THAT(RootsOf(store), UnorderedElementsAre(next));
  EXPECT_THAT(heard, testing::ElementsAre("ROOTCA:2", "ROOTCA:2", "ROOTCA:1"));
}

}  // namespace
}  // namespace fairlead::agent
