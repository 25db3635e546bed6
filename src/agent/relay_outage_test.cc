#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <fstream>
#include <mutex>
#include <thread>

#include "agent/xds_fields.h"
#include "agent/xds_relay.h"
#include "base/strings.h"
#include "envoy/service/discovery/v3/ads.grpc.pb.h"

// The relay between a gRPC client, which stands for Envoy, and control planes that come and go, or write more
// than the client reads.
namespace fairlead::agent {
namespace {

using envoy::service::discovery::v3::AggregatedDiscoveryService;
using envoy::service::discovery::v3::DeltaDiscoveryRequest;
using envoy::service::discovery::v3::DeltaDiscoveryResponse;
using envoy::service::discovery::v3::DiscoveryRequest;
using envoy::service::discovery::v3::DiscoveryResponse;
using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::Pair;
using testing::UnorderedElementsAre;

constexpr char kClusters[] = "type.googleapis.com/envoy.config.cluster.v3.Cluster";
constexpr char kHealth[] = "type.googleapis.com/istio.v1.HealthInformation";

// Hands over requests, and says what the test tells it to.
class ControlPlane final : public AggregatedDiscoveryService::Service {
 public:
  // `port` 0: any.
  void Start(int port = 0) {
    grpc::ServerBuilder builder;
    builder.AddListeningPort(StrCat("127.0.0.1:", port), grpc::InsecureServerCredentials(), &port_);
    builder.RegisterService(this);
    server_ = builder.BuildAndStart();
    ASSERT_TRUE(server_ != nullptr && port_ != 0);
  }
  void Stop() {
    if (server_ != nullptr) server_->Shutdown(std::chrono::system_clock::now());
    server_ = nullptr;
  }
  ~ControlPlane() override { Stop(); }
  int port() const { return port_; }

  grpc::Status StreamAggregatedResources(
      grpc::ServerContext*, grpc::ServerReaderWriter<DiscoveryResponse, DiscoveryRequest>* stream) override {
    return Serve(stream, &whole_, &say_whole_);
  }
  grpc::Status DeltaAggregatedResources(
      grpc::ServerContext*,
      grpc::ServerReaderWriter<DeltaDiscoveryResponse, DeltaDiscoveryRequest>* stream) override {
    return Serve(stream, &delta_, &say_delta_);
  }
  DiscoveryRequest NextWhole() { return Next(&whole_); }
  DeltaDiscoveryRequest NextDelta() { return Next(&delta_); }
  // What is said upon the next request.
  void Say(DiscoveryResponse response) { Put(std::move(response), &say_whole_); }
  void Say(DeltaDiscoveryResponse response) { Put(std::move(response), &say_delta_); }
  std::atomic<int> flood{0};  // upon a request, so many messages of 1 MiB
  std::atomic<int> written{0};

 private:
  template <typename Request, typename Response>
  grpc::Status Serve(grpc::ServerReaderWriter<Response, Request>* stream, std::deque<Request>* asked,
                     std::deque<Response>* to_say) {
    for (Request request; stream->Read(&request);) {
      std::unique_lock lock(mutex_);
      asked->push_back(request);
      changed_.notify_all();
      std::deque<Response> said;
      if (request.response_nonce().empty() && request.type_url() != kHealth) said.swap(*to_say);
      lock.unlock();
      for (const Response& response : said) stream->Write(response);
      for (int left = flood.exchange(0); left > 0; --left) {
        Response large;
        large.set_type_url(kClusters);
        large.set_nonce(std::string(1 << 20, 'n'));
        if (!stream->Write(large)) break;
        ++written;
      }
    }
    return grpc::Status::OK;
  }
  template <typename Request>
  Request Next(std::deque<Request>* asked) {
    std::unique_lock lock(mutex_);
    EXPECT_TRUE(changed_.wait_for(lock, seconds(20), [&] { return !asked->empty(); }));
    if (asked->empty()) return {};
    Request request = std::move(asked->front());
    asked->pop_front();
    return request;
  }
  template <typename Response>
  void Put(Response response, std::deque<Response>* to_say) {
    std::lock_guard lock(mutex_);
    to_say->push_back(std::move(response));
  }

  int port_ = 0;
  std::unique_ptr<grpc::Server> server_;
  std::mutex mutex_;
  std::condition_variable changed_;
  // All are guarded by mutex_.
  std::deque<DiscoveryRequest> whole_;
  std::deque<DeltaDiscoveryRequest> delta_;
  std::deque<DiscoveryResponse> say_whole_;
  std::deque<DeltaDiscoveryResponse> say_delta_;
};

size_t ResidentKiB() {
  size_t pages = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> pages >> resident;
  return resident * static_cast<size_t>(sysconf(_SC_PAGESIZE)) >> 10;
}

class RelayOutageTest : public testing::Test {
 protected:
  RelayOutageTest() {
    first_.Start();
    XdsRelay::Options options;
    options.socket = folder_ + "/XDS";
    options.upstream = {
        .host = "127.0.0.1", .port = first_.port(), .tls = false, .server_name = "", .crl_file = ""};
    options.control_plane.headers = {{"x-tenant", "blue"}};
    options.modules.folder = folder_ + "/modules";
    relay_ = std::make_unique<XdsRelay>(std::move(options), &store_);
    EXPECT_TRUE(relay_->Start().ok());
    grpc::ChannelArguments arguments;
    arguments.SetMaxReceiveMessageSize(-1);
    stub_ = AggregatedDiscoveryService::NewStub(grpc::CreateCustomChannel(
        StrCat("unix:", folder_, "/XDS"), grpc::InsecureChannelCredentials(), arguments));
    context_.set_deadline(std::chrono::system_clock::now() + seconds(60));
  }
  ~RelayOutageTest() override {
    context_.TryCancel();
    relay_.reset();
    std::system(("rm -rf " + folder_).c_str());
  }
  // Another control plane takes the first one's place and port.
  void Move() {
    first_.Stop();
    second_.Start(first_.port());
  }
  static DiscoveryRequest Whole(const std::string& type, const std::string& nonce = "",
                                const std::string& version = "") {
    DiscoveryRequest request;
    request.mutable_node()->set_id("sidecar~1.2.3.4~a.b~c");
    request.set_type_url(type);
    request.set_response_nonce(nonce);
    request.set_version_info(version);
    return request;
  }
  static DiscoveryResponse Answer(const std::string& type, const std::string& nonce,
                                  const std::string& version) {
    DiscoveryResponse response;
    response.set_type_url(type);
    response.set_nonce(nonce);
    response.set_version_info(version);
    return response;
  }

  const std::string folder_ = StrCat("/tmp/relay-outage-", getpid());
  ControlPlane first_, second_;
  SecretStore store_;
  std::unique_ptr<XdsRelay> relay_;
  std::unique_ptr<AggregatedDiscoveryService::Stub> stub_;
  grpc::ClientContext context_;
};

TEST_F(RelayOutageTest, AStreamOfTheWorldGoesOnWithTheNextControlPlane) {
  first_.Say(Answer(kClusters, "1", "v1"));
  auto stream = stub_->StreamAggregatedResources(&context_);
  ASSERT_TRUE(stream->Write(Whole(kClusters)));
  DiscoveryResponse response;
  ASSERT_TRUE(stream->Read(&response));
  ASSERT_TRUE(stream->Write(Whole(kClusters, "1", "v1")));
  first_.NextWhole();
  first_.NextWhole();
  second_.Say(Answer(kClusters, "1", "v2"));
  Move();
  const DiscoveryRequest again = second_.NextWhole();
  EXPECT_EQ(again.node().id(), "sidecar~1.2.3.4~a.b~c");
  EXPECT_EQ(again.version_info(), "v1");
  EXPECT_EQ(again.response_nonce(), "");
  ASSERT_TRUE(stream->Read(&response)) << "the proxy's stream is the same";
  EXPECT_EQ(response.version_info(), "v2");
  ASSERT_TRUE(stream->Write(Whole(kClusters, "1", "v2")));
  EXPECT_EQ(second_.NextWhole().version_info(), "v2");
}

TEST_F(RelayOutageTest, AStreamOfDeltaGoesOnWithTheNextControlPlane) {
  DeltaDiscoveryResponse answer;
  answer.set_type_url(kClusters);
  answer.set_nonce("1");
  auto* resource = answer.add_resources();
  resource->set_name("a");
  resource->set_version("7");
  first_.Say(answer);
  auto stream = stub_->DeltaAggregatedResources(&context_);
  DeltaDiscoveryRequest request;
  request.mutable_node()->set_id("me");
  request.set_type_url(kClusters);
  ASSERT_TRUE(stream->Write(request));
  DeltaDiscoveryResponse response;
  ASSERT_TRUE(stream->Read(&response));
  request.clear_node();
  request.set_response_nonce("1");
  ASSERT_TRUE(stream->Write(request));
  first_.NextDelta();
  first_.NextDelta();
  // A subscription that is made while there is no control plane.
  first_.Stop();
  DeltaDiscoveryRequest more;
  more.set_type_url("endpoints");
  more.add_resource_names_subscribe("x");
  ASSERT_TRUE(stream->Write(more));
  std::this_thread::sleep_for(milliseconds(300));
  second_.Start(first_.port());
  const DeltaDiscoveryRequest clusters = second_.NextDelta(), endpoints = second_.NextDelta();
  EXPECT_EQ(clusters.node().id(), "me");
  EXPECT_THAT(clusters.initial_resource_versions(), UnorderedElementsAre(Pair("a", "7")));
  EXPECT_EQ(clusters.response_nonce(), "");
  EXPECT_THAT(endpoints.resource_names_subscribe(), ElementsAre("x"));
  answer.set_nonce("2");
  answer.mutable_resources(0)->set_version("8");
  second_.Say(answer);
  request.set_response_nonce("");
  request.add_resource_names_subscribe("b");
  ASSERT_TRUE(stream->Write(request));
  ASSERT_TRUE(stream->Read(&response));
  EXPECT_EQ(response.nonce(), "2");
}

TEST_F(RelayOutageTest, TheWorkloadsHealthFollowsTheRequestForListeners) {
  relay_->ReportHealth(absl::UnavailableError("port 80: refused"));
  auto stream = stub_->StreamAggregatedResources(&context_);
  ASSERT_TRUE(stream->Write(Whole(kClusters)));
  EXPECT_EQ(first_.NextWhole().type_url(), kClusters);
  ASSERT_TRUE(stream->Write(Whole(std::string(kListenerType))));
  EXPECT_EQ(first_.NextWhole().type_url(), kListenerType);
  const DiscoveryRequest bad = first_.NextWhole();
  EXPECT_EQ(bad.type_url(), kHealth);
  EXPECT_EQ(bad.error_detail().message(), "port 80: refused");
  relay_->ReportHealth(absl::OkStatus());
  EXPECT_FALSE(first_.NextWhole().has_error_detail());
  Move();
  EXPECT_EQ(second_.NextWhole().type_url(), kClusters);
  EXPECT_EQ(second_.NextWhole().type_url(), kListenerType);
  const DiscoveryRequest good = second_.NextWhole();
  EXPECT_EQ(good.type_url(), kHealth) << "the next control plane hears it, too";
  EXPECT_FALSE(good.has_error_detail());
}

TEST_F(RelayOutageTest, ASlowProxyHoldsTheControlPlaneBack) {
  constexpr int kMessages = 200, kMostAhead = 32;
  first_.flood = kMessages;
  const size_t before = ResidentKiB();
  auto stream = stub_->StreamAggregatedResources(&context_);
  ASSERT_TRUE(stream->Write(Whole(kClusters)));
  int last = -1;
  for (int same = 0; same < 10;) {
    std::this_thread::sleep_for(milliseconds(100));
    const int now = first_.written;
    same = now == last && now > 0 ? same + 1 : 0;
    last = now;
  }
  EXPECT_LT(last, kMostAhead) << "MiB that nobody has read";
  EXPECT_LT(ResidentKiB() - before, 3 * kMostAhead << 10) << "KiB, of this end, the relay and the other end";
  DiscoveryResponse response;
  for (int i = 0; i < kMessages; ++i) ASSERT_TRUE(stream->Read(&response)) << i;
  EXPECT_EQ(first_.written, kMessages);
}

TEST_F(RelayOutageTest, AControlPlaneThatRefusesIsAskedAgain) {
  first_.Stop();
  auto stream = stub_->StreamAggregatedResources(&context_);
  ASSERT_TRUE(stream->Write(Whole(kClusters)));
  for (int i = 0; i < 100 && relay_->Difficulty().empty(); ++i) std::this_thread::sleep_for(milliseconds(50));
  EXPECT_THAT(relay_->Difficulty(), testing::HasSubstr("nothing listens there"));
  second_.Say(Answer(kClusters, "1", "v1"));
  second_.Start(first_.port());
  DiscoveryResponse response;
  ASSERT_TRUE(stream->Read(&response));
  EXPECT_EQ(relay_->Difficulty(), "");
}

}  // namespace
}  // namespace fairlead::agent
