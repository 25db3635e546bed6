#include "push/stream/rejections.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <thread>

#include "push/push_fakes.h"
#include "push/stream/rejection_report.h"

// What proxies refuse, from their answer to what is said of it.
namespace fairlead::push {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using Running = RejectedResource::Running;

// A mesh of one listener, of which tests make versions from objects, and a stream that answers.
class RejectionsTest : public testing::Test {
 protected:
  RejectionsTest() { Accept({}); }

  static cache::ResourceOrigin Object(const std::string& key, uint64_t content = 1) {
    return {key, {0, content}};
  }
  void Send(cache::Origins origins, const std::string& name = "virtualInbound") {
    std::sort(origins.begin(), origins.end());
    auto resource = std::make_shared<cache::Resource>();
    resource->name = name;
    resource->any = StrCat("version ", ++version_);
    resource->hash = StableHash(resource->any.plain());
    resource->origins = std::move(origins);
    sent_ = xds::ResourceSet::Of(std::vector<xds::ResourcePtr>{resource});
    xds::Response response;
    response.lists = sent_->parts();
    for (auto& [stream, acceptance] : acceptances_) acceptance.OnSent(version_, sent_, response);
  }
  void Answer(const std::string& error, uint64_t stream = 1) {
    xds::Acceptance& acceptance = acceptances_[stream];
    error.empty() ? acceptance.OnAck(version_) : acceptance.OnNack(version_, error);
    auto proxy = std::make_shared<model::Proxy>();
    proxy->id = StrCat("web-", stream, ".default");
    const model::ProxyPtr as_const = proxy;
    rejections_.OnAnswer(
        {stream, as_const, kLiveTrack, xds::TypeId::kListener, !error.empty(), error, sent_, acceptance});
  }
  void Accept(cache::Origins origins, uint64_t stream = 1) {
    acceptances_[stream];
    Send(std::move(origins));
    Answer("", stream);
  }
  void Reject(cache::Origins origins, const std::string& reason = "script load error") {
    Send(std::move(origins));
    Answer(StrCat("Error adding/updating listener(s) virtualInbound: ", reason, "\n"));
  }
  RejectedResource Only() {
    const auto current = rejections_.Current();
    EXPECT_THAT(current, SizeIs(1));
    EXPECT_THAT(current.at(0).resources, SizeIs(1));
    return current.at(0).resources.at(0);
  }
  RejectionReport Report() {
    return ReportOf(rejections_.Current(), [this](const config::ObjectKey& key) -> config::ConfigPtr {
      if (gone_.contains(key.name.str())) return nullptr;
      config::ObjectMeta meta;
      meta.ns = key.ns;
      meta.name = key.name;
      return std::make_shared<config::ConfigObject>(
          key.kind, meta, config::Origin{StrCat(key.name.str(), ".yaml"), 3, ""}, nullptr, 0);
    });
  }
  static std::vector<std::string> Codes(const RejectionReport& report) {
    std::vector<std::string> codes;
    for (const auto& one : report.diagnostics) codes.push_back(one.code);
    return codes;
  }

  const cache::ResourceOrigin lua = Object("EnvoyFilter/default/lua"),
                              deny = Object("AuthorizationPolicy/default/deny");
  int changes_ = 0;
  Rejections rejections_{[this] { ++changes_; }};
  std::map<uint64_t, xds::Acceptance> acceptances_;
  xds::ResourceSetPtr sent_;
  uint64_t version_ = 0;
  std::set<std::string> gone_;
};

TEST_F(RejectionsTest, AnAckOfAProxyThatRejectsNothingChangesNothing) {
  Accept({lua});
  EXPECT_TRUE(rejections_.empty());
  EXPECT_EQ(changes_, 0);
}

TEST_F(RejectionsTest, ARejectionIsNotedUntilAGoodVersionIsTaken) {
  Reject({lua});
  const RejectedResource one = Only();
  EXPECT_EQ(one.name, "virtualInbound");
  EXPECT_EQ(one.reason, "script load error");
  EXPECT_EQ(one.running, Running::kOlder);
  EXPECT_THAT(one.changed, testing::ElementsAre(lua));
  EXPECT_EQ(changes_, 1);
  Accept({});
  EXPECT_THAT(rejections_.Current(), IsEmpty());
  EXPECT_TRUE(rejections_.empty());
  EXPECT_EQ(changes_, 2);
}

TEST_F(RejectionsTest, ItEndsWithTheStream) {
  Reject({lua});
  rejections_.OnClosed(2);
  EXPECT_FALSE(rejections_.empty());
  rejections_.OnClosed(1);
  EXPECT_TRUE(rejections_.empty());
}

TEST_F(RejectionsTest, TheDiagnosticNamesObjectReasonAndProxies) {
  Reject({lua, Object("Service/default/web")});
  const RejectionReport report = Report();
  ASSERT_THAT(report.diagnostics, SizeIs(1));
  const config::Diagnostic& one = report.diagnostics[0];
  EXPECT_EQ(one.severity, config::Severity::kError);
  EXPECT_EQ(config::ToText(one),
            "lua.yaml:3: error: EnvoyFilter default/lua: proxies reject the listener virtualInbound: script "
            "load error (rejected)");
  EXPECT_THAT(one.details, HasSubstr("by 1 proxy: web-1.default"));
  EXPECT_THAT(one.details, HasSubstr("made from EnvoyFilter default/lua (lua.yaml:3), Service default/web"));
  EXPECT_EQ(report.proxies, 1u);
  EXPECT_EQ(report.policies_not_in_force, 0u);
}

TEST_F(RejectionsTest, TheSameRejectionOfManyProxiesIsOne) {
  for (uint64_t stream = 2; stream <= 40; ++stream) Accept({}, stream);
  Answer("");
  Send({lua});
  for (uint64_t stream = 1; stream <= 40; ++stream)
    Answer("Error adding/updating listener(s) virtualInbound: script load error\n", stream);
  const RejectionReport report = Report();
  ASSERT_THAT(report.diagnostics, SizeIs(1));
  EXPECT_THAT(report.diagnostics[0].details, HasSubstr("by 40 proxies: web-1.default, "));
  EXPECT_THAT(report.diagnostics[0].details, HasSubstr(" and 35 more"));
  EXPECT_EQ(report.proxies, 40u);
}

TEST_F(RejectionsTest, APolicyThatComesLaterIsNotInForceAndNotAtFault) {
  Reject({lua});
  const std::string first = config::ToText(Report().diagnostics.at(0));
  const WallTime since = Only().since;
  Reject({lua, deny});
  EXPECT_EQ(Only().since, since);
  const RejectionReport report = Report();
  ASSERT_THAT(Codes(report), testing::ElementsAre("rejected", "not-in-force"));
  EXPECT_EQ(config::ToText(report.diagnostics[0]), first) << "it is logged once";
  EXPECT_EQ(
      config::ToText(report.diagnostics[1]),
      "deny.yaml:3: error: AuthorizationPolicy default/deny: this version of the policy is not in force "
      "at some proxies: they go on with an older listener virtualInbound, as they reject the newest "
      "because of EnvoyFilter default/lua (lua.yaml:3) (not-in-force)");
  EXPECT_THAT(report.diagnostics[1].details, HasSubstr("at 1 proxy: web-1.default"));
  EXPECT_EQ(report.policies_not_in_force, 1u);
}

TEST_F(RejectionsTest, APolicyThatChangesIsNotInForceAndOneThatStaysIs) {
  const cache::ResourceOrigin allow = Object("AuthorizationPolicy/default/allow");
  Accept({deny, allow});
  Reject({deny, allow, lua});
  EXPECT_THAT(Codes(Report()), testing::ElementsAre("rejected"));
  Reject({Object(deny.str(), 2), allow, lua});
  EXPECT_THAT(Codes(Report()), testing::ElementsAre("rejected", "not-in-force"));
}

TEST_F(RejectionsTest, APolicyThatGoesIsInForceStill) {
  Accept({deny});
  gone_ = {"deny"};
  Reject({lua});
  const RejectionReport report = Report();
  ASSERT_THAT(Codes(report), testing::ElementsAre("rejected", "not-in-force"));
  EXPECT_THAT(report.diagnostics[1].message, HasSubstr("is gone, but still in force"));
}

TEST_F(RejectionsTest, WithoutAVersionBeforeNothingIsLetIn) {
  acceptances_[1].Begin(nullptr, /*unknown=*/false);
  Reject({lua, deny});
  EXPECT_EQ(Only().running, Running::kNothing);
  EXPECT_THAT(Codes(Report()), testing::ElementsAre("rejected"));
  acceptances_[1].Begin(nullptr, /*unknown=*/true);
  Reject({lua, deny});
  EXPECT_EQ(Only().running, Running::kUnknown);
  EXPECT_THAT(Codes(Report()), testing::ElementsAre("rejected", "not-in-force"));
}

TEST_F(RejectionsTest, WhereNoObjectChangedTheSettingsOrTheMachineAreAtFault) {
  Accept({lua});
  Reject({lua}, "unable to open file '/dev/stdout': Permission denied");
  const RejectionReport report = Report();
  ASSERT_THAT(report.diagnostics, SizeIs(1));
  EXPECT_FALSE(report.diagnostics[0].object);
  EXPECT_THAT(report.diagnostics[0].details, HasSubstr("no object behind it has changed"));
}

TEST_F(RejectionsTest, ReasonsAreOneLineAndCut) {
  Reject({lua}, StrCat("a\r\n\x1b[31mb\xff", std::string(5000, 'x')));
  const std::string reason = Only().reason;
  EXPECT_TRUE(reason.starts_with("a\\x0d; \\x1b[31mb?x")) << reason;
  EXPECT_LE(reason.size(), 400u);
}

TEST_F(RejectionsTest, ManyResourcesAreBounded) {
  std::vector<xds::ResourcePtr> many;
  for (int i = 0; i < 1000; ++i) {
    auto resource = std::make_shared<cache::Resource>();
    resource->name = StrCat("l", i);
    resource->any = StrCat("version ", i);
    resource->hash = StableHash(resource->any.plain());
    resource->origins = {Object(StrCat("EnvoyFilter/default/e", i))};
    many.push_back(std::move(resource));
  }
  sent_ = xds::ResourceSet::Of(many);
  xds::Response response;
  response.lists = sent_->parts();
  acceptances_[1].OnSent(++version_, sent_, response);
  Answer("nothing is named");
  EXPECT_THAT(rejections_.Current().at(0).resources, SizeIs(Rejections::kMostResources));
  EXPECT_EQ(rejections_.Current().at(0).more, 900u);
  EXPECT_THAT(Report().diagnostics, SizeIs(kMostReported));
}

// Through a pusher: a proxy that rejects, and one that goes.
TEST(RejectionsOfStreams, AreToldByThePusher) {
  FakeMesh mesh;
  Rejections rejections;
  PusherOptions options = MakeFakeOptions();
  options.observers = {&rejections};
  const OwnedPusher pusher(new Pusher(std::move(options), MakeFakeGenerators(&mesh)));
  mesh.Put(xds::TypeId::kListener, "l", "1");
  pusher->Publish(EmptySnapshot(), BecauseOf(Reason::kConfig));
  const auto proxy = std::make_shared<FakeProxy>();
  proxy->Connect(pusher.get());
  proxy->Ask(xds::TypeId::kListener);
  const auto say = [&](const std::string& nonce, const std::string& error) {
    envoy::service::discovery::v3::DiscoveryRequest answer;
    answer.set_type_url(std::string(xds::InfoOf(xds::TypeId::kListener).url));
    answer.set_response_nonce(nonce);
    if (!error.empty()) answer.mutable_error_detail()->set_message(error);
    proxy->Say(answer.SerializeAsString());
  };
  const auto until = [](const auto& done) {
    for (int i = 0; i < 2000 && !done(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    EXPECT_TRUE(done());
  };
  say(proxy->Await(0).nonce(), "Error adding/updating listener(s) l: bad");
  until([&] { return !rejections.empty(); });
  EXPECT_EQ(rejections.Current().at(0).proxy->id, "a.default");
  EXPECT_NE(pusher->Report().at(0).Of(xds::TypeId::kListener).times.behind, WallTime{});
  mesh.Put(xds::TypeId::kListener, "l", "2");
  pusher->Publish(EmptySnapshot(), BecauseOf(Reason::kConfig));
  say(proxy->Await(1).nonce(), "");
  until([&] { return rejections.empty(); });
  mesh.Put(xds::TypeId::kListener, "l", "3");
  pusher->Publish(EmptySnapshot(), BecauseOf(Reason::kConfig));
  say(proxy->Await(2).nonce(), "bad");
  until([&] { return !rejections.empty(); });
  proxy->HangUp();
  EXPECT_TRUE(rejections.empty());
}

}  // namespace
}  // namespace fairlead::push
