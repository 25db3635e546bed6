#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>

#include "push/push_fakes.h"
#include "push/stream/admission.h"

// What streams do besides configuration: admission, authorisation, inspection, types that are not served.
namespace fairlead::push {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using xds::TypeId;

class StreamAnswers : public testing::Test {
 protected:
  StreamAnswers() { mesh.Put(TypeId::kCluster, "a", "1"); }
  void Start(PusherOptions options = MakeFakeOptions()) {
    pusher.reset(new Pusher(std::move(options), MakeFakeGenerators(&mesh)));
    pusher->Publish(EmptySnapshot(), BecauseOf(Reason::kConfig));
    proxy = std::make_shared<FakeProxy>();
  }
  ~StreamAnswers() override {
    if (proxy != nullptr) proxy->HangUp();
  }
  void Ask(const std::string& url, const std::vector<std::string>& names, const std::string& nonce = "") {
    envoy::service::discovery::v3::DiscoveryRequest request;
    request.mutable_node()->set_id("sidecar~10.0.0.1~a.default~c");
    request.set_type_url(url);
    request.set_response_nonce(nonce);
    for (const std::string& name : names) request.add_resource_names(name);
    proxy->Say(request.SerializeAsString());
  }

  FakeMesh mesh;
  OwnedPusher pusher;
  std::shared_ptr<FakeProxy> proxy;
};

TEST(Admissions, LetStreamsInAtTheRateAndRefuseWhatWouldWaitTooLong) {
  using std::chrono::milliseconds;
  StreamAdmission admission(10);
  const Clock::time_point now{};
  for (int i = 0; i <= 10; ++i) EXPECT_EQ(admission.Admit(now), now + milliseconds(100 * i));
  EXPECT_FALSE(admission.Admit(now)) << "it would wait for more than a second";
  EXPECT_EQ(admission.Admit(now + milliseconds(500)), now + milliseconds(1100));
  EXPECT_EQ(admission.Admit(now + milliseconds(5000)), now + milliseconds(5000)) << "no credit for idle time";
  EXPECT_EQ(admission.Admit(now + milliseconds(5000)), now + milliseconds(5100));
  EXPECT_EQ(StreamAdmission(0).Admit(now), now);
}

// Says how many threads were in it at once, by keeping each until another comes or cannot come.
class CrowdedGenerator : public gen::Generator {
 public:
  explicit CrowdedGenerator(size_t expected) : expected_(expected) {}
  bool IsShared(size_t /*part*/) const override { return false; }
  gen::Resources Generate(mesh::View&, const gen::Names*, size_t) override {
    std::unique_lock lock(mutex_);
    most_ = std::max(most_, ++inside_);
    changed_.notify_all();
    changed_.wait_for(lock, std::chrono::seconds(most_ < expected_ ? 20 : 0),
                      [&] { return most_ >= expected_; });
    --inside_;
    return {};
  }
  void Sweep(Clock::time_point) override {}
  size_t most() const {
    std::lock_guard lock(mutex_);
    return most_;
  }

 private:
  const size_t expected_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  size_t inside_ = 0, most_ = 0;
};

// PILOT_PUSH_THROTTLE: as many pushes are made at once, and no more.
TEST_F(StreamAnswers, PushesAreMadeByAsManyThreadsAsTold) {
  for (const size_t threads : {1u, 3u}) {
    Generators generators;
    auto owned = std::make_unique<CrowdedGenerator>(threads);
    const CrowdedGenerator& crowded = *owned;
    generators[static_cast<size_t>(TypeId::kCluster)] = std::move(owned);
    PusherOptions options = MakeFakeOptions();
    options.threads = threads;
    Pusher throttled(std::move(options), std::move(generators));
    throttled.Publish(EmptySnapshot(), BecauseOf(Reason::kConfig));
    std::vector<std::shared_ptr<FakeProxy>> proxies;
    for (int i = 0; i < 12; ++i) {
      proxies.push_back(std::make_shared<FakeProxy>());
      proxies.back()->Connect(&throttled);
      proxies.back()->Ask(TypeId::kCluster);
    }
    for (const auto& each : proxies) {
      each->Await(0);
      each->HangUp();
    }
    EXPECT_EQ(crowded.most(), threads);
  }
}

TEST_F(StreamAnswers, TooManyNewStreamsAreRefusedAndTheOthersBegin) {
  PusherOptions options = MakeFakeOptions();
  options.max_streams_per_second = 2;
  Start(std::move(options));
  std::vector<std::shared_ptr<FakeProxy>> proxies;
  for (int i = 0; i < 10; ++i) {
    proxies.push_back(std::make_shared<FakeProxy>());
    proxies.back()->Connect(pusher.get());
  }
  size_t refused = 0;
  for (const auto& each : proxies) {
    if (each->AwaitClosed(std::chrono::milliseconds(0))) {
      ++refused;
      EXPECT_TRUE(absl::IsResourceExhausted(each->status()));
    } else {
      each->Ask(TypeId::kCluster);
      each->Await(0);
    }
    each->HangUp();
  }
  EXPECT_GE(refused, 1u);
  EXPECT_LE(refused, 8u);
  proxy = nullptr;
}

TEST_F(StreamAnswers, WhoIsNotTheProxyThatItSaysIsRefused) {
  PusherOptions options = MakeFakeOptions();
  options.authorizer = std::make_shared<NodeAuthorizer>(false);
  Start(std::move(options));
  proxy->Connect(pusher.get(), {.peer = {.identities = {"spiffe://td/ns/other/sa/x"}}});
  proxy->Ask(TypeId::kCluster, {}, "sidecar~10.0.0.1~a.default~default.svc.cluster.local");
  EXPECT_TRUE(proxy->AwaitClosed());
  EXPECT_TRUE(absl::IsPermissionDenied(proxy->status()));
  EXPECT_EQ(proxy->Responses(), 0u);
}

TEST_F(StreamAnswers, AnInspectionIsAnsweredOnceAndSeesItsOwnStream) {
  std::vector<Inspection> asked;
  PusherOptions options = MakeFakeOptions();
  options.inspector = [&](const Inspection& inspection) -> absl::StatusOr<std::vector<xds::PlainResource>> {
    asked.push_back(inspection);
    google::protobuf::Any any;
    any.set_type_url(inspection.type_url);
    any.set_value(pusher->Report().at(0).connection);
    return std::vector<xds::PlainResource>{{"syncz", any.SerializeAsString()}};
  };
  Start(std::move(options));
  proxy->Connect(pusher.get());
  Ask("istio.io/debug", {"syncz"});
  const auto answer = proxy->Await(0);
  EXPECT_EQ(answer.type_url(), "istio.io/debug");
  EXPECT_EQ(answer.resources(0).value(), "a.default-1");
  Ask("istio.io/debug", {"syncz"}, answer.nonce());  // the ACK
  Ask("istio.io/debug", {"adsz"}, answer.nonce());
  const auto second = proxy->Await(1);
  EXPECT_NE(second.nonce(), answer.nonce());
  ASSERT_EQ(asked.size(), 2u);
  EXPECT_THAT(asked[1].names, ElementsAre("adsz"));
}

// istioctl keeps the nonce of its last stream, of another process too, and asks without names.
TEST_F(StreamAnswers, ANonceOfAnotherStreamIsAQuestion) {
  PusherOptions options = MakeFakeOptions();
  options.inspector = [](const Inspection&) { return std::vector<xds::PlainResource>(); };
  Start(std::move(options));
  proxy->Connect(pusher.get());
  Ask("istio.io/debug/syncz", {}, "of-another-server");
  const auto first = proxy->Await(0);
  Ask("istio.io/debug/syncz", {}, first.nonce());  // the ACK
  Ask("istio.io/connections", {}, first.nonce() + "9");
  EXPECT_EQ(proxy->Await(1).type_url(), "istio.io/connections");
  Ask("type.googleapis.com/envoy.service.runtime.v3.Runtime", {}, "of-another-server");
  EXPECT_EQ(proxy->Await(2).type_url(), "type.googleapis.com/envoy.service.runtime.v3.Runtime");
}

// A push to a thousand proxies brings a thousand answers: they are read while the pushes are still being
// made.
TEST_F(StreamAnswers, AnAnswerIsTakenWhileAllThreadsAreAtWork) {
  std::promise<void> busy, go_on;
  PusherOptions options = MakeFakeOptions();
  options.threads = 1;
  options.inspector = [&](const Inspection&) -> absl::StatusOr<std::vector<xds::PlainResource>> {
    busy.set_value();
    go_on.get_future().wait();
    return std::vector<xds::PlainResource>();
  };
  Start(std::move(options));
  proxy->Connect(pusher.get());
  proxy->Ask(TypeId::kCluster);
  const auto response = proxy->Await(0);
  while (pusher->BusyStreams() > 0) std::this_thread::yield();
  auto other = std::make_shared<FakeProxy>();
  other->Connect(pusher.get());
  std::swap(proxy, other);
  Ask("istio.io/debug/syncz", {});
  std::swap(proxy, other);
  busy.get_future().wait();

  Ask(std::string(xds::InfoOf(TypeId::kCluster).url), {}, response.nonce());
  EXPECT_EQ(pusher->Report().at(0).Of(TypeId::kCluster).status.nonce_acked, response.nonce());
  go_on.set_value();
  other->Await(0);
  other->HangUp();
}

// istioctl tells instances apart by it.
TEST_F(StreamAnswers, AnInspectionSaysWhoAnswers) {
  PusherOptions options = MakeFakeOptions();
  options.control_plane = "{\"ID\":\"one\"}";
  options.inspector = [](const Inspection&) { return std::vector<xds::PlainResource>(); };
  Start(std::move(options));
  proxy->Connect(pusher.get());
  Ask("istio.io/debug/syncz", {});
  EXPECT_EQ(proxy->Await(0).control_plane().identifier(), "{\"ID\":\"one\"}");
}

TEST_F(StreamAnswers, ARefusedInspectionEndsTheStream) {
  PusherOptions options = MakeFakeOptions();
  options.inspector = [](const Inspection&) { return absl::UnauthenticatedError("who are you?"); };
  Start(std::move(options));
  proxy->Connect(pusher.get());
  Ask("istio.io/debug", {"syncz"});
  EXPECT_TRUE(proxy->AwaitClosed());
  EXPECT_TRUE(absl::IsUnauthenticated(proxy->status()));
}

TEST_F(StreamAnswers, ATypeOfTheApiThatIsNotServedLeavesTheStreamAlone) {
  Start();
  proxy->Connect(pusher.get());
  Ask("type.googleapis.com/envoy.service.runtime.v3.Runtime", {});
  const auto nothing = proxy->Await(0);
  EXPECT_EQ(nothing.type_url(), "type.googleapis.com/envoy.service.runtime.v3.Runtime");
  EXPECT_EQ(nothing.resources_size(), 0);
  Ask(nothing.type_url(), {}, nothing.nonce());
  Ask("type.googleapis.com/envoy.service.runtime.v3.Runtime", {"layer"});
  proxy->Ask(TypeId::kCluster, {}, "");
  EXPECT_EQ(proxy->Await(1).type_url(), xds::InfoOf(TypeId::kCluster).url) << "named ones stay unanswered";
}

TEST_F(StreamAnswers, WhatIsNoTypeAtAllEndsTheStream) {
  for (const char* url : {"type.googleapis.com/no.such.Type", "nonsense", ""}) {
    Start();
    proxy->Connect(pusher.get());
    Ask(url, {});
    EXPECT_TRUE(proxy->AwaitClosed()) << url;
    EXPECT_TRUE(absl::IsInvalidArgument(proxy->status())) << url;
    EXPECT_THAT(std::string(proxy->status().message()), HasSubstr(url));
    proxy->HangUp();
  }
  proxy = nullptr;
}

TEST_F(StreamAnswers, APollWaitsForAnotherVersion) {
  Start();
  const auto poll = [&](const std::string& version, const std::string& rejected = "") {
    auto client = std::make_shared<FakeProxy>();
    client->Connect(pusher.get(), {.only = TypeId::kCluster, .exchange = Exchange::kPoll});
    envoy::service::discovery::v3::DiscoveryRequest request;
    request.mutable_node()->set_id("sidecar~10.0.0.1~a.default~c");
    request.set_version_info(version);
    request.set_response_nonce(rejected);
    if (!rejected.empty()) request.mutable_error_detail()->set_message("no");
    client->Say(request.SerializeAsString());
    return client;
  };
  const auto first = poll("");
  const std::string version = first->Await(0).version_info();
  EXPECT_TRUE(first->AwaitClosed());
  EXPECT_TRUE(first->status().ok());
  first->HangUp();

  const auto second = poll(version);
  pusher->Publish(EmptySnapshot(), BecauseOf(Reason::kConfig));  // nothing that concerns it
  mesh.Put(TypeId::kCluster, "a", "2");
  pusher->Publish(EmptySnapshot(), BecauseOf(Reason::kConfig));
  EXPECT_NE(second->Await(0).version_info(), version);
  EXPECT_EQ(second->Responses(), 1u);
  second->HangUp();

  // The client rejects it, and goes on with what it had.
  const auto third = poll(version, second->Await(0).nonce());
  pusher->Publish(EmptySnapshot(), BecauseOf(Reason::kConfig));
  mesh.Put(TypeId::kCluster, "a", "3");
  pusher->Publish(EmptySnapshot(), BecauseOf(Reason::kConfig));
  EXPECT_EQ(third->Await(0).resources(0).value(), "a=3") << "not what was rejected";
  third->HangUp();
  proxy = nullptr;
}

// Objects are of all namespaces: who may not see all of them sees none.
TEST_F(StreamAnswers, ObjectsAreForThoseWhoMaySeeThem) {
  ObjectTypes objects;
  objects.generators.push_back(std::make_unique<FakeGenerator>(&mesh, TypeId::kCluster));
  objects.by_url.emplace("example.com/v1/Thing", objects.generators.front().get());
  StreamPeer asked;
  objects.authorize = [&](const StreamPeer& peer, const std::optional<model::PeerIdentity>&) {
    asked = peer;
    return asked.address == "test" ? absl::PermissionDeniedError("not you") : absl::OkStatus();
  };
  pusher.reset(
      new Pusher(MakeFakeOptions(), MakeFakeGenerators(&mesh), GeneratorVariants(), std::move(objects)));
  pusher->Publish(EmptySnapshot(), BecauseOf(Reason::kConfig));
  proxy = std::make_shared<FakeProxy>();
  proxy->Connect(pusher.get());
  Ask("example.com/v1/Thing", {});
  ASSERT_TRUE(proxy->AwaitClosed());
  EXPECT_TRUE(absl::IsPermissionDenied(proxy->status()));
  EXPECT_EQ(proxy->Responses(), 0u);
}

}  // namespace
}  // namespace fairlead::push
