#include "agent/lasting_stream.h"

#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "agent/announcer.h"
#include "base/strings.h"
#include "envoy/service/discovery/v3/ads.grpc.pb.h"

namespace fairlead::agent {
namespace {

using envoy::service::discovery::v3::AggregatedDiscoveryService;
using envoy::service::discovery::v3::DiscoveryRequest;
using envoy::service::discovery::v3::DiscoveryResponse;
using std::chrono::milliseconds;

constexpr char kHealth[] = "type.googleapis.com/istio.v1.HealthInformation";

// What happens, in words, for whoever waits for it.
class Happenings {
 public:
  void Add(std::string what) {
    std::lock_guard lock(mutex_);
    all_.push_back(std::move(what));
    changed_.notify_all();
  }
  // The first `count` of them.
  std::vector<std::string> First(size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::seconds(30), [&] { return all_.size() >= count; });
    return {all_.begin(), all_.begin() + static_cast<ptrdiff_t>(std::min(count, all_.size()))};
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> all_;
};

// A control plane that deals with each request as it is told to.
class Discovery : public AggregatedDiscoveryService::Service {
 public:
  using Stream = grpc::ServerReaderWriter<DiscoveryResponse, DiscoveryRequest>;
  // False ends the stream.
  std::function<bool(const DiscoveryRequest& request, Stream* stream)> deal;

  grpc::Status StreamAggregatedResources(grpc::ServerContext*, Stream* stream) override {
    for (DiscoveryRequest request; stream->Read(&request);) {
      if (!deal(request, stream)) return {grpc::StatusCode::PERMISSION_DENIED, "go away"};
    }
    return grpc::Status::OK;
  }
};

class LastingStreamTest : public testing::Test {
 protected:
  LastingStreamTest() {
    grpc::ServerBuilder builder;
    int port = 0;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
    builder.RegisterService(&discovery_);
    server_ = builder.BuildAndStart();
    control_plane_.address = StrCat("127.0.0.1:", port);
    control_plane_.plaintext = true;
    options_.control_plane = control_plane_;
    options_.node = R"({"id": "me"})";
    options_.type = "a/type";
    options_.first_retry = milliseconds(10);
    options_.patience = milliseconds(50);
    options_.taken = [this] { happened_.Add("taken"); };
    options_.ended = [this](const absl::Status& why) { happened_.Add(std::string(FromAbsl(why.message()))); };
  }
  ~LastingStreamTest() override { server_->Shutdown(std::chrono::system_clock::now()); }

  Happenings happened_;
  Discovery discovery_;
  std::unique_ptr<grpc::Server> server_;
  ControlPlaneOptions control_plane_;
  LastingStreamOptions options_;
};

TEST_F(LastingStreamTest, AStreamThatIsKeptWithoutAnAnswerIsTaken) {
  discovery_.deal = [this](const DiscoveryRequest& request, Discovery::Stream*) {
    happened_.Add(StrCat(request.node().id(), " asks for ", request.type_url()));
    return true;
  };
  LastingStream stream(options_);
  stream.Start();
  EXPECT_THAT(happened_.First(2), testing::UnorderedElementsAre("me asks for a/type", "taken"));
}

TEST_F(LastingStreamTest, AStreamThatIsEndedAtOnceIsNotTakenAndBegunAnew) {
  discovery_.deal = [](const DiscoveryRequest&, Discovery::Stream*) { return false; };
  LastingStream stream(options_);
  stream.Start();
  EXPECT_THAT(happened_.First(3), testing::Each(testing::HasSubstr("go away")));
}

TEST_F(LastingStreamTest, AnAnswerIsTakenAtOnceUnlessItIsRefused) {
  options_.patience = std::chrono::hours(1);
  options_.take = [](const DiscoveryResponse& response) {
    return response.nonce() == "bad" ? absl::InvalidArgumentError("no sense") : absl::OkStatus();
  };
  discovery_.deal = [this](const DiscoveryRequest& request, Discovery::Stream* stream) {
    const std::string& nonce = request.response_nonce();
    happened_.Add(StrCat(nonce, " ", request.version_info(), " ", request.error_detail().message()));
    if (nonce == "good") return true;
    DiscoveryResponse response;
    response.set_type_url(request.type_url());
    response.set_nonce(nonce.empty() ? "bad" : "good");
    response.set_version_info("v1");
    return stream->Write(response);
  };
  LastingStream stream(options_);
  stream.Start();
  EXPECT_THAT(happened_.First(4), testing::UnorderedElementsAre("  ", "bad  no sense", "good v1 ", "taken"));
}

TEST_F(LastingStreamTest, ANodeThatIsNoneIsSaid) {
  options_.node = R"({"id": 1.5.0})";
  LastingStream stream(options_);
  stream.Start();
  EXPECT_THAT(happened_.First(1), testing::ElementsAre(testing::HasSubstr("1.5.0")));
}

TEST_F(LastingStreamTest, HealthIsToldAtOnceAndAgainOnTheNextStream) {
  discovery_.deal = [this](const DiscoveryRequest& request, Discovery::Stream*) {
    const std::string why = request.error_detail().message();
    happened_.Add(request.type_url() == kHealth ? StrCat("health: ", why) : "asks");
    return why != "both";  // the next stream hears it again
  };
  Announcer announcer({control_plane_, R"({"id": "me"})", [](const absl::Status&) {}});
  announcer.SetHealth(absl::UnavailableError("first"));
  announcer.Start();
  EXPECT_THAT(happened_.First(2), testing::ElementsAre("asks", "health: first"));
  announcer.SetHealth(absl::OkStatus());
  EXPECT_EQ(happened_.First(3).back(), "health: ");
  announcer.SetHealth(absl::UnavailableError("both"));
  EXPECT_EQ(happened_.First(6), (std::vector<std::string>{"asks", "health: first", "health: ", "health: both",
                                                          "asks", "health: both"}));
}

}  // namespace
}  // namespace fairlead::agent
