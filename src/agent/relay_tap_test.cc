#include "agent/relay_tap.h"

#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "agent/xds_relay.h"
#include "base/strings.h"
#include "envoy/service/discovery/v3/ads.grpc.pb.h"

namespace fairlead::agent {
namespace {

using envoy::service::discovery::v3::AggregatedDiscoveryService;
using envoy::service::discovery::v3::DeltaDiscoveryRequest;
using envoy::service::discovery::v3::DeltaDiscoveryResponse;
using envoy::service::discovery::v3::DiscoveryRequest;
using envoy::service::discovery::v3::DiscoveryResponse;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr char kTapped[] = "type.googleapis.com/istio.networking.nds.v1.NameTable";
constexpr char kListeners[] = "type.googleapis.com/envoy.config.listener.v3.Listener";
constexpr char kClusters[] = "type.googleapis.com/envoy.config.cluster.v3.Cluster";

struct Heard {
  std::string type, nonce, version, error;
};

void AddResource(const std::string& type, const std::string& value, DiscoveryResponse* response) {
  auto* resource = response->add_resources();
  resource->set_type_url(type);
  resource->set_value(value);
}
void AddResource(const std::string& type, const std::string& value, DeltaDiscoveryResponse* response) {
  auto* resource = response->add_resources()->mutable_resource();
  resource->set_type_url(type);
  resource->set_value(value);
}
std::string VersionOf(const DiscoveryRequest& request) { return request.version_info(); }
std::string VersionOf(const DeltaDiscoveryRequest&) { return ""; }

// Answers each subscription: the tapped type by `resources`, one for each response, others by an empty one.
class FakeControlPlane : public AggregatedDiscoveryService::Service {
 public:
  grpc::Status StreamAggregatedResources(
      grpc::ServerContext*, grpc::ServerReaderWriter<DiscoveryResponse, DiscoveryRequest>* stream) override {
    return Serve<DiscoveryRequest, DiscoveryResponse>(stream);
  }
  grpc::Status DeltaAggregatedResources(
      grpc::ServerContext*,
      grpc::ServerReaderWriter<DeltaDiscoveryResponse, DeltaDiscoveryRequest>* stream) override {
    return Serve<DeltaDiscoveryRequest, DeltaDiscoveryResponse>(stream);
  }
  Heard Next() {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, std::chrono::seconds(30), [this] { return !heard_.empty(); })) return {};
    Heard next = std::move(heard_.front());
    heard_.pop_front();
    return next;
  }
  std::vector<std::pair<std::string, std::string>> resources;  // type and bytes; set before the first request

 private:
  template <typename Request, typename Response, typename Stream>
  grpc::Status Serve(Stream* stream) {
    size_t next = 0;
    for (Request request; stream->Read(&request);) {
      const bool answers = request.response_nonce().empty() || request.type_url() == kTapped;
      {
        std::lock_guard lock(mutex_);
        heard_.push_back({request.type_url(), request.response_nonce(), VersionOf(request),
                          request.error_detail().message()});
        changed_.notify_all();
      }
      if (!answers || (request.type_url() == kTapped && next == resources.size())) continue;
      Response response;
      response.set_type_url(request.type_url());
      response.set_nonce(StrCat("n", next));
      if constexpr (std::is_same_v<Response, DiscoveryResponse>) response.set_version_info(StrCat("v", next));
      if (request.type_url() == kTapped) {
        if (!resources[next].first.empty())
          AddResource(resources[next].first, resources[next].second, &response);
        ++next;
      }
      stream->Write(response);
    }
    return grpc::Status::OK;
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Heard> heard_;
};

class RelayTapTest : public testing::Test {
 protected:
  RelayTapTest() {
    grpc::ServerBuilder builder;
    int port = 0;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
    builder.RegisterService(&control_plane_);
    server_ = builder.BuildAndStart();
    XdsRelay::Options options;
    options.socket = folder_ + "/XDS";
    options.upstream.host = "127.0.0.1";
    options.upstream.port = port;
    options.modules.folder = folder_ + "/modules";
    options.taps.push_back({kTapped, [this](std::string bytes) {
                              std::lock_guard lock(mutex_);
                              if (bytes == "bad") return absl::InvalidArgumentError("it is bad");
                              taken_.push_back(std::move(bytes));
                              return absl::OkStatus();
                            }});
    relay_ = std::make_unique<XdsRelay>(std::move(options), &store_);
    EXPECT_TRUE(relay_->Start().ok());
    stub_ = AggregatedDiscoveryService::NewStub(
        grpc::CreateChannel(StrCat("unix:", folder_, "/XDS"), grpc::InsecureChannelCredentials()));
    context_.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(60));
  }
  ~RelayTapTest() override {
    context_.TryCancel();
    relay_.reset();
    server_->Shutdown(std::chrono::system_clock::now());
    std::system(("rm -rf " + folder_).c_str());
  }
  std::vector<std::string> taken() {
    std::lock_guard lock(mutex_);
    return taken_;
  }
  // Requests for clusters and listeners; the answers that come back, by type.
  template <typename Request, typename Response, typename Stream>
  void Ask(Stream* stream) {
    for (const char* type : {kClusters, kListeners}) {
      Request request;
      request.set_type_url(type);
      ASSERT_TRUE(stream->Write(request));
      Response response;
      ASSERT_TRUE(stream->Read(&response));
      EXPECT_EQ(response.type_url(), type) << "the proxy gets nothing of the tapped type";
      EXPECT_EQ(control_plane_.Next().type, type);
    }
  }

  const std::string folder_ = StrCat("/tmp/relay-tap-", getpid());
  FakeControlPlane control_plane_;
  std::unique_ptr<grpc::Server> server_;
  SecretStore store_;
  std::mutex mutex_;
  std::vector<std::string> taken_;  // guarded by mutex_
  std::unique_ptr<XdsRelay> relay_;
  std::unique_ptr<AggregatedDiscoveryService::Stub> stub_;
  grpc::ClientContext context_;
};

TEST_F(RelayTapTest, AResourceOfStateOfTheWorldIsTakenAndAcknowledged) {
  control_plane_.resources = {
      {kTapped, "one"}, {kTapped, "bad"}, {kTapped, "two"}, {"", ""}, {kClusters, "x"}};
  auto stream = stub_->StreamAggregatedResources(&context_);
  Ask<DiscoveryRequest, DiscoveryResponse>(stream.get());
  const Heard subscription = control_plane_.Next();
  EXPECT_EQ(subscription.type, kTapped);
  EXPECT_EQ(subscription.nonce, "");
  const Heard first = control_plane_.Next(), refusal = control_plane_.Next(), second = control_plane_.Next();
  EXPECT_EQ(first.nonce + first.version + first.error, "n0v0");
  EXPECT_EQ(refusal.nonce, "n1");
  EXPECT_EQ(refusal.error, "it is bad");
  EXPECT_EQ(second.nonce + second.version + second.error, "n2v2");
  EXPECT_EQ(control_plane_.Next().nonce, "n3") << "nothing new";
  EXPECT_THAT(control_plane_.Next().error, HasSubstr("a resource of type")) << "another type's";
  EXPECT_THAT(taken(), ElementsAre("one", "two"));
}

TEST_F(RelayTapTest, AResourceOfDeltaIsTakenAndAcknowledged) {
  control_plane_.resources = {{kTapped, "one"}, {kTapped, "bad"}};
  auto stream = stub_->DeltaAggregatedResources(&context_);
  Ask<DeltaDiscoveryRequest, DeltaDiscoveryResponse>(stream.get());
  EXPECT_EQ(control_plane_.Next().type, kTapped);
  const Heard first = control_plane_.Next(), refusal = control_plane_.Next();
  EXPECT_EQ(first.nonce + first.error, "n0");
  EXPECT_EQ(refusal.nonce + refusal.error, "n1it is bad");
  EXPECT_THAT(taken(), ElementsAre("one"));
}

}  // namespace
}  // namespace fairlead::agent
