#include "source/srv/srv_follower.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "base/eventually_fixture.h"
#include "base/strings.h"
#include "istio/networking/v1alpha3/service_entry.pb.h"
#include "source/file/source_fake.h"
#include "source/srv/srv_fake.h"

namespace fairlead::source {
namespace {

using namespace std::chrono_literals;
using istio::networking::v1alpha3::ServiceEntry;
using ::testing::HasSubstr;

constexpr char kWeb[] = "_http._tcp.web.example.com";

class SrvFollowerTest : public ::testing::Test {
 protected:
  SrvFollowerTest() {
    dns_.SetServices(kWeb, {{0, 0, 8080, "w1.example.com"}});
    dns_.SetAddresses("w1.example.com", {"10.0.0.1"});
  }
  ~SrvFollowerTest() override {
    if (source_ != nullptr) source_->Stop();
  }
  void Start(SrvOptions options) {
    source_ = std::make_unique<PlatformSource>(PlatformSource::Options{.name = options.Name()},
                                               std::make_unique<SrvFollower>(options));
    ASSERT_TRUE(source_->Start(&sink_).ok());
  }
  void StartAndSync(const std::string& url = StrCat("dns+srv://", kWeb)) {
    Start(dns_.Options(url));
    ASSERT_TRUE(sink_.WaitForSync()) << ::testing::PrintToString(source_->Awaited());
  }
  // "10.0.0.1:8080*3", in the entry's order.
  std::string Endpoints(const std::string& name = "web.example.com") {
    const config::ConfigPtr object = sink_.Find(name);
    if (object == nullptr) return "gone";
    std::string text;
    for (const auto& endpoint : object->Spec<ServiceEntry>().endpoints()) {
      StrAppend(&text, text.empty() ? "" : " ", endpoint.address(), ":", endpoint.ports().begin()->second);
      if (endpoint.weight() > 0) StrAppend(&text, "*", endpoint.weight());
    }
    return text;
  }
  bool WaitFor(const std::string& endpoints) {
    return Eventually([&] { return Endpoints() == endpoints; });
  }

  SrvFake dns_;
  RecordingSink sink_;
  std::unique_ptr<PlatformSource> source_;
};

TEST_F(SrvFollowerTest, ANameIsAServiceWithTheProtocolOfItsLabel) {
  StartAndSync();
  EXPECT_EQ(Endpoints(), "10.0.0.1:8080");
  const auto& entry = sink_.Find("web.example.com")->Spec<ServiceEntry>();
  EXPECT_EQ(entry.ports(0).number(), 8080u);
  EXPECT_EQ(entry.ports(0).protocol(), "HTTP");
  EXPECT_EQ(entry.resolution(), ServiceEntry::STATIC);
}

TEST_F(SrvFollowerTest, ItIsAskedForAgainWhenItsTimeIsOver) {
  dns_.SetTtl(1);
  StartAndSync();
  const int first = dns_.asked();
  dns_.SetAddresses("w1.example.com", {"10.0.0.2"});
  std::this_thread::sleep_for(500ms);
  EXPECT_EQ(dns_.asked(), first);
  EXPECT_TRUE(WaitFor("10.0.0.2:8080"));
}

TEST_F(SrvFollowerTest, WeightsAndTheFirstPriorityCount) {
  dns_.SetServices(
      kWeb,
      {{10, 3, 8080, "w1.example.com"}, {10, 0, 8081, "w2.example.com"}, {20, 9, 8082, "w3.example.com"}});
  dns_.SetAddresses("w2.example.com", {"10.0.0.2", "fd00::2"});
  dns_.SetAddresses("w3.example.com", {"10.0.0.3"});
  StartAndSync();
  EXPECT_EQ(Endpoints(), "10.0.0.2:8081*1 fd00::2:8081*1 10.0.0.1:8080*3");
}

TEST_F(SrvFollowerTest, AddressesThatComeAlongAreNotAskedFor) {
  dns_.SetAlong(true);
  dns_.SetTtl(100);
  StartAndSync();
  EXPECT_EQ(Endpoints(), "10.0.0.1:8080");
  EXPECT_EQ(dns_.asked(), 1);
}

TEST_F(SrvFollowerTest, ACutAnswerIsAskedForOverTcp) {
  dns_.SetCut(true);
  std::vector<SrvFake::Record> records;
  for (int i = 0; i < 200; ++i) {
    const std::string target = StrCat("a-long-name-of-a-machine-", i, ".example.com");
    records.push_back({0, 0, 80, target});
    dns_.SetAddresses(target, {StrCat("10.0.1.", i)});
  }
  dns_.SetServices(kWeb, records);
  dns_.SetAlong(true);
  dns_.SetTtl(100);
  StartAndSync();
  EXPECT_EQ(sink_.Find("web.example.com")->Spec<ServiceEntry>().endpoints_size(), 200);
}

TEST_F(SrvFollowerTest, AnErrorLeavesTheLastGoodAnswer) {
  StartAndSync();
  dns_.SetError(2);
  EXPECT_TRUE(sink_.WaitForDiagnostic("no resolver has an answer"));
  EXPECT_EQ(Endpoints(), "10.0.0.1:8080");
  dns_.SetError(5);
  EXPECT_TRUE(sink_.WaitForDiagnostic("says error 5"));
  dns_.SetError(0);
  EXPECT_TRUE(sink_.WaitForDiagnostic(""));
}

TEST_F(SrvFollowerTest, AResolverThatRefusesIpv6HasAddressesOfIpv4) {
  dns_.RefuseIpv6();
  StartAndSync();
  EXPECT_EQ(Endpoints(), "10.0.0.1:8080");
}

TEST_F(SrvFollowerTest, OneTargetWithoutAnAnswerIsNoReasonToBelieveTheOthers) {
  StartAndSync();
  dns_.SetServices(kWeb, {{0, 0, 8080, "w1.example.com"}, {0, 0, 8080, "w2.example.com"}});
  dns_.SetAddresses("w2.example.com", {"10.0.0.2"});
  EXPECT_TRUE(WaitFor("10.0.0.1:8080 10.0.0.2:8080"));
}

TEST_F(SrvFollowerTest, WhatIsAbsentGoesWithTheSecondAnswer) {
  StartAndSync();
  dns_.Remove(kWeb);
  EXPECT_TRUE(WaitFor("gone"));
  dns_.SetServices(kWeb, {{0, 0, 9090, "w1.example.com"}});
  EXPECT_TRUE(WaitFor("10.0.0.1:9090"));
}

TEST_F(SrvFollowerTest, TheRootAsTargetSaysThatThereIsNoService) {
  dns_.SetServices(kWeb, {{0, 0, 0, ""}});
  StartAndSync();
  EXPECT_EQ(Endpoints(), "gone");
}

TEST_F(SrvFollowerTest, SeveralNamesAndPorts) {
  dns_.SetServices("_grpc._tcp.api", {{0, 0, 5000, "w1.example.com"}});
  StartAndSync(StrCat("dns+srv://", kWeb, ":80,_grpc._tcp.api?names={name}-{service}.mesh&namespace=shop"));
  EXPECT_EQ(Endpoints("web.example.com-http.mesh"), "10.0.0.1:8080");
  EXPECT_EQ(sink_.Find("web.example.com-http.mesh")->Spec<ServiceEntry>().ports(0).number(), 80u);
  EXPECT_EQ(sink_.Find("api-grpc.mesh")->ns().str(), "shop");
}

TEST_F(SrvFollowerTest, TheResolversFileIsReadAgain) {
  TestFolder folder;
  SrvOptions options = dns_.Options(StrCat("dns+srv://", kWeb));
  options.resolvers.clear();
  options.resolver_file = folder / "resolv.conf";
  Start(options);
  EXPECT_TRUE(sink_.WaitForDiagnostic("resolv.conf has no nameserver"));
  EXPECT_FALSE(source_->Awaited().empty());
}

TEST(SrvOptionsTest, MistakesInTheUrlAreNamed) {
  const auto why = [](std::string_view url) { return std::string(ParseSrvOptions(url).status().message()); };
  EXPECT_THAT(why("dns+srv://web.example.com"), HasSubstr("is no _SERVICE._PROTOCOL.DOMAIN"));
  EXPECT_THAT(why("dns+srv://_dns._udp.example.com"), HasSubstr("not of tcp"));
  EXPECT_THAT(why("dns+srv://_http._tcp.a?resolver=x"), HasSubstr("no IP address"));
  EXPECT_THAT(why("dns+srv://_http._tcp.a?selector=a"), HasSubstr("which has no labels"));
  EXPECT_THAT(why("dns+srv://_http._tcp.a?leastSeconds=10&mostSeconds=5"), HasSubstr("below leastSeconds"));
  const auto options = ParseSrvOptions("dns+srv://_http._tcp.A:80,_x._tcp.b?resolver=10.0.0.1,[::1]:54");
  ASSERT_TRUE(options.ok()) << options.status();
  EXPECT_EQ(options->Name(), "dns+srv://_http._tcp.a:80,_x._tcp.b");
  EXPECT_EQ(options->resolvers[1].ToString(), "[::1]:54");
}

}  // namespace
}  // namespace fairlead::source
