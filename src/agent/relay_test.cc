#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <mutex>

#include "agent/xds_fields.h"
#include "agent/xds_relay.h"
#include "base/strings.h"
#include "envoy/config/core/v3/extension.pb.h"
#include "envoy/extensions/filters/http/wasm/v3/wasm.pb.h"
#include "envoy/service/discovery/v3/ads.grpc.pb.h"
#include "wasm/box_fake.h"
#include "wasm/registry_fake.h"

// The relay between a gRPC client, which stands for Envoy, and a gRPC server, which stands for the control
// plane.
namespace fairlead::agent {
namespace {

using envoy::config::core::v3::TypedExtensionConfig;
using envoy::service::discovery::v3::AggregatedDiscoveryService;
using envoy::service::discovery::v3::DeltaDiscoveryRequest;
using envoy::service::discovery::v3::DeltaDiscoveryResponse;
using envoy::service::discovery::v3::DiscoveryRequest;
using envoy::service::discovery::v3::DiscoveryResponse;
using testing::HasSubstr;

constexpr char kClusterType[] = "type.googleapis.com/envoy.config.cluster.v3.Cluster";

// Hands over what it is asked, and answers as it is told. One stream at a time.
class FakeControlPlane final : public AggregatedDiscoveryService::Service {
 public:
  using Stream = grpc::ServerReaderWriter<DiscoveryResponse, DiscoveryRequest>;
  using DeltaStream = grpc::ServerReaderWriter<DeltaDiscoveryResponse, DeltaDiscoveryRequest>;
  grpc::Status StreamAggregatedResources(grpc::ServerContext* context, Stream* stream) override {
    return Serve<DiscoveryRequest>(
        context, [&](auto* out) { return stream->Read(out); }, [&] { stream->Write(answer); });
  }
  grpc::Status DeltaAggregatedResources(grpc::ServerContext* context, DeltaStream* stream) override {
    return Serve<DeltaDiscoveryRequest>(
        context, [&](auto* out) { return stream->Read(out); }, [&] { stream->Write(delta_answer); });
  }
  // The next request, whatever its kind.
  DiscoveryRequest Next() {
    std::unique_lock lock(mutex_);
    EXPECT_TRUE(ready_.wait_for(lock, std::chrono::seconds(20), [&] { return !asked_.empty(); }));
    if (asked_.empty()) return {};
    DiscoveryRequest request = std::move(asked_.front());
    asked_.pop_front();
    return request;
  }
  bool Cancelled() {
    std::unique_lock lock(mutex_);
    return ready_.wait_for(lock, std::chrono::seconds(20), [&] { return ended_ > 0; });
  }

  DiscoveryResponse answer;  // to each request that is no ACK and no NACK
  DeltaDiscoveryResponse delta_answer;
  grpc::Status status;  // where it is no OK: ends the stream after the first answer

 private:
  template <typename Request, typename Read, typename Write>
  grpc::Status Serve(grpc::ServerContext*, Read read, Write write) {
    Request request;
    while (read(&request)) {
      DiscoveryRequest seen;
      seen.set_type_url(request.type_url());
      seen.set_response_nonce(request.response_nonce());
      *seen.mutable_error_detail() = request.error_detail();
      seen.mutable_node()->set_id(request.node().id());
      if constexpr (std::is_same_v<Request, DiscoveryRequest>)
        *seen.mutable_resource_names() = request.resource_names();
      {
        std::lock_guard lock(mutex_);
        asked_.push_back(seen);
      }
      ready_.notify_all();
      if (request.response_nonce().empty()) write();
      if (!status.ok()) return status;
    }
    std::lock_guard lock(mutex_);
    ++ended_;
    ready_.notify_all();
    return grpc::Status::OK;
  }

  std::mutex mutex_;
  std::condition_variable ready_;
  std::deque<DiscoveryRequest> asked_;  // guarded by mutex_
  int ended_ = 0;                       // guarded by mutex_
};

class RelayTest : public testing::Test {
 protected:
  RelayTest() {
    grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port_);
    builder.RegisterService(&control_plane_);
    builder.SetMaxReceiveMessageSize(-1);
    server_ = builder.BuildAndStart();
    registry_.PutFile("m", wasm::FakeModule());
    XdsRelay::Options options;
    options.socket = folder_ + "/XDS";
    options.upstream = {.host = "127.0.0.1", .port = port_, .tls = false, .server_name = "", .crl_file = ""};
    options.modules.folder = folder_ + "/modules";
    options.modules.download.attempts = 1;
    relay_ = std::make_unique<XdsRelay>(std::move(options), &store_);
    EXPECT_TRUE(relay_->Start().ok());
    grpc::ChannelArguments arguments;
    arguments.SetMaxReceiveMessageSize(-1);
    channel_ = grpc::CreateCustomChannel(StrCat("unix:", folder_, "/XDS"), grpc::InsecureChannelCredentials(),
                                         arguments);
    stub_ = AggregatedDiscoveryService::NewStub(channel_);
    context_.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(60));
  }
  ~RelayTest() override {
    context_.TryCancel();
    relay_.reset();
    server_->Shutdown(std::chrono::system_clock::now());
    std::system(("rm -rf " + folder_).c_str());
  }
  google::protobuf::Any Plugin(const std::string& url) {
    envoy::extensions::filters::http::wasm::v3::Wasm filter;
    auto* uri = filter.mutable_config()->mutable_vm_config()->mutable_code();
    if (!url.empty()) uri->mutable_remote()->mutable_http_uri()->set_uri(url);
    TypedExtensionConfig extension;
    extension.set_name("extensions.istio.io/p");
    extension.mutable_typed_config()->PackFrom(filter);
    google::protobuf::Any any;
    any.PackFrom(extension);
    return any;
  }
  static DiscoveryRequest Request(const std::string& type) {
    DiscoveryRequest request;
    request.mutable_node()->set_id("sidecar~1.2.3.4~a.b~c");
    request.mutable_node()->add_extensions()->set_name("envoy.filters.http.router");
    request.set_type_url(type);
    request.add_resource_names("extensions.istio.io/p");
    return request;
  }
  static std::string FileOf(const google::protobuf::Any& resource) {
    TypedExtensionConfig extension;
    envoy::extensions::filters::http::wasm::v3::Wasm filter;
    if (!resource.UnpackTo(&extension) || !extension.typed_config().UnpackTo(&filter)) return "none";
    return filter.config().vm_config().code().local().filename();
  }

  const std::string folder_ = StrCat("/tmp/relay-", getpid());
  int port_ = 0;
  wasm::FakeRegistry registry_;
  FakeControlPlane control_plane_;
  std::unique_ptr<grpc::Server> server_;
  SecretStore store_;
  std::unique_ptr<XdsRelay> relay_;
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<AggregatedDiscoveryService::Stub> stub_;
  grpc::ClientContext context_;
};

TEST_F(RelayTest, MessagesPassAsTheyAre) {
  control_plane_.answer.set_type_url(kClusterType);
  control_plane_.answer.set_nonce("1");
  auto* resource = control_plane_.answer.add_resources();
  resource->set_type_url(kClusterType);
  resource->set_value(std::string(6 << 20, 'x'));  // more than is held at a time
  auto stream = stub_->StreamAggregatedResources(&context_);
  ASSERT_TRUE(stream->Write(Request(kClusterType)));
  EXPECT_EQ(control_plane_.Next().node().id(), "sidecar~1.2.3.4~a.b~c");
  DiscoveryResponse response;
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(stream->Read(&response));
    EXPECT_EQ(response.SerializeAsString(), control_plane_.answer.SerializeAsString());
    ASSERT_TRUE(stream->Write(Request(kClusterType)));
    control_plane_.Next();
  }
  context_.TryCancel();
  EXPECT_TRUE(control_plane_.Cancelled()) << "a stream that the proxy ends is ended";
}

TEST_F(RelayTest, AModuleBecomesAFileOfStateOfTheWorld) {
  control_plane_.answer.set_type_url(std::string(kExtensionType));
  control_plane_.answer.set_nonce("1");
  *control_plane_.answer.add_resources() = Plugin(registry_.Url("m"));
  auto stream = stub_->StreamAggregatedResources(&context_);
  ASSERT_TRUE(stream->Write(Request(std::string(kExtensionType))));
  DiscoveryResponse response;
  ASSERT_TRUE(stream->Read(&response));
  EXPECT_EQ(response.nonce(), "1");
  EXPECT_EQ(access(FileOf(response.resources(0)).c_str(), R_OK), 0) << FileOf(response.resources(0));
}

TEST_F(RelayTest, AModuleBecomesAFileOfDelta) {
  control_plane_.delta_answer.set_type_url(std::string(kExtensionType));
  control_plane_.delta_answer.set_nonce("1");
  auto* resource = control_plane_.delta_answer.add_resources();
  resource->set_name("extensions.istio.io/p");
  resource->set_version("v");
  *resource->mutable_resource() = Plugin(registry_.Url("m"));
  auto stream = stub_->DeltaAggregatedResources(&context_);
  DeltaDiscoveryRequest request;
  request.set_type_url(std::string(kExtensionType));
  ASSERT_TRUE(stream->Write(request));
  DeltaDiscoveryResponse response;
  ASSERT_TRUE(stream->Read(&response));
  EXPECT_EQ(response.resources(0).version(), "v");
  EXPECT_EQ(access(FileOf(response.resources(0).resource()).c_str(), R_OK), 0);
}

TEST_F(RelayTest, WhatCannotBeReadIsRefusedInTheProxysStead) {
  control_plane_.answer.set_type_url(std::string(kExtensionType));
  control_plane_.answer.set_nonce("7");
  *control_plane_.answer.add_resources() = Plugin("");
  auto stream = stub_->StreamAggregatedResources(&context_);
  ASSERT_TRUE(stream->Write(Request(std::string(kExtensionType))));
  control_plane_.Next();
  const DiscoveryRequest refusal = control_plane_.Next();
  EXPECT_EQ(refusal.response_nonce(), "7");
  EXPECT_EQ(refusal.resource_names(0), "extensions.istio.io/p") << "still subscribed to";
  EXPECT_THAT(refusal.error_detail().message(), HasSubstr("has no module"));
  // The stream goes on.
  control_plane_.answer.set_type_url(kClusterType);
  ASSERT_TRUE(stream->Write(Request(kClusterType)));
  DiscoveryResponse response;
  ASSERT_TRUE(stream->Read(&response));
  EXPECT_EQ(response.type_url(), kClusterType);
}

TEST_F(RelayTest, AStreamOutlivesItsEndAtTheControlPlane) {
  control_plane_.status = {grpc::StatusCode::UNAUTHENTICATED, "who are you"};
  control_plane_.answer.set_type_url(kClusterType);
  auto stream = stub_->StreamAggregatedResources(&context_);
  ASSERT_TRUE(stream->Write(Request(kClusterType)));
  DiscoveryResponse response;
  // Each time the control plane answers and ends.
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(stream->Read(&response));
    EXPECT_EQ(control_plane_.Next().node().id(), "sidecar~1.2.3.4~a.b~c");
  }
}

TEST_F(RelayTest, TypesThatNobodyKnowsPass) {
  control_plane_.answer.set_type_url("istio.io/debug/syncz");
  control_plane_.answer.set_nonce("1");
  control_plane_.answer.add_resources()->set_value("a page");
  auto stream = stub_->StreamAggregatedResources(&context_);
  ASSERT_TRUE(stream->Write(Request("istio.io/debug/syncz")));
  DiscoveryResponse response;
  ASSERT_TRUE(stream->Read(&response));
  EXPECT_EQ(response.resources(0).value(), "a page");
}

TEST_F(RelayTest, AMessageMayBeVeryLarge) {
  control_plane_.answer.set_type_url(kClusterType);
  control_plane_.answer.add_resources()->set_value(std::string(60 << 20, 'x'));
  auto stream = stub_->StreamAggregatedResources(&context_);
  ASSERT_TRUE(stream->Write(Request(kClusterType)));
  DiscoveryResponse response;
  ASSERT_TRUE(stream->Read(&response));
  EXPECT_EQ(response.SerializeAsString(), control_plane_.answer.SerializeAsString());
}

TEST(XdsFields, AFieldIsFoundWithoutTheOthers) {
  DiscoveryResponse response;
  response.set_version_info("v");
  response.set_canary(true);
  response.add_resources()->set_type_url("x");
  response.set_type_url("t");
  const std::string bytes = response.SerializeAsString();
  EXPECT_EQ(FieldOf(bytes, kTypeOfResponse), "t");
  EXPECT_EQ(FieldOf(bytes, 5), "");
  for (size_t size = 0; size < bytes.size(); ++size)
    EXPECT_NE(FieldOf(std::string_view(bytes).substr(0, size), kTypeOfResponse), "t") << size;
  EXPECT_EQ(FieldOf("\xff\xff\xff", 4), "");
}

}  // namespace
}  // namespace fairlead::agent
