#include "agent/dns_proxy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "base/strings.h"
#include "dns/resolver_fake.h"

namespace fairlead::agent {
namespace {

using dns::SocketAddress;
using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> Texts(const std::vector<SocketAddress>& addresses) {
  std::vector<std::string> texts;
  for (const SocketAddress& address : addresses) texts.push_back(address.ToString());
  return texts;
}

TEST(DnsOptionsTest, CaptureIsForSidecarsAndTheServerForAll) {
  const auto read = [](const std::string& type, Environment environment) {
    environment["CLOUD_PLATFORM"] = "none";
    return ReadOptions({type}, environment).value();
  };
  EXPECT_FALSE(read("sidecar", {}).dns);
  EXPECT_TRUE(read("sidecar", {{"ISTIO_META_DNS_CAPTURE", "1"}}).dns);
  EXPECT_FALSE(read("router", {{"ISTIO_META_DNS_CAPTURE", "true"}}).dns);
  EXPECT_TRUE(read("router", {{"ISTIO_META_ENABLE_DNS_SERVER", "true"}}).dns);
  EXPECT_TRUE(read("sidecar", {{"PROXY_CONFIG", "proxyMetadata: {ISTIO_META_DNS_CAPTURE: \"true\"}"}}).dns);
}

TEST(DnsOptionsTest, VariablesAreReadOrTheirDefaultsCount) {
  const Options set = ReadOptions({"sidecar"}, {{"DNS_PROXY_ADDR", "127.0.0.1:53"},
                                                {"DNS_FORWARD_PARALLEL", "true"},
                                                {"DNS_FORWARD_TIMEOUT", "300ms"},
                                                {"CLOUD_PLATFORM", "none"}})
                          .value();
  EXPECT_EQ(set.dns_address, "127.0.0.1:53");
  EXPECT_TRUE(set.dns_parallel);
  EXPECT_EQ(set.dns_timeout, std::chrono::milliseconds(300));
  const Options wrong = ReadOptions({"sidecar"}, {{"DNS_FORWARD_TIMEOUT", "-1s"},
                                                  {"DNS_FORWARD_PARALLEL", "perhaps"},
                                                  {"CLOUD_PLATFORM", "none"}})
                            .value();
  EXPECT_EQ(wrong.dns_timeout, std::chrono::milliseconds(5'000));
  EXPECT_FALSE(wrong.dns_parallel);
  EXPECT_EQ(wrong.dns_address, "localhost:15053");
  EXPECT_EQ(wrong.remarks.size(), 2u) << Join(wrong.remarks, "; ");
}

TEST(DnsPlaceTest, Port53NeedsRootAndForwardsBeforeTheTable) {
  const DnsPlace usual = PlaceOfDns("localhost:15053", /*is_root=*/true, /*own_file=*/true);
  EXPECT_EQ(usual.address, "localhost:15053");
  EXPECT_EQ(usual.resolver_file, "/etc/resolv.conf");
  EXPECT_FALSE(usual.forwards_before_table);
  const DnsPlace root = PlaceOfDns("127.0.0.1:53", /*is_root=*/true, /*own_file=*/true);
  EXPECT_EQ(root.address, "127.0.0.1:53");
  EXPECT_EQ(root.resolver_file, "/var/lib/istio/resolv.conf");
  EXPECT_TRUE(root.forwards_before_table);
  EXPECT_EQ(PlaceOfDns("127.0.0.1:53", true, false).resolver_file, "/etc/resolv.conf");
  const DnsPlace user = PlaceOfDns("127.0.0.1:53", /*is_root=*/false, /*own_file=*/true);
  EXPECT_EQ(user.address, "localhost:15053");
  EXPECT_FALSE(user.forwards_before_table);
  EXPECT_THAT(user.remark, HasSubstr("only root can listen at 127.0.0.1:53"));
}

TEST(DnsAddressesTest, LocalhostHasTheFamiliesOfItsResolvers) {
  const auto of = [](const std::string& resolvers) {
    return Texts(DnsAddresses("localhost:15053", dns::ParseResolverFile(resolvers)).value());
  };
  EXPECT_THAT(of(""), ElementsAre("127.0.0.1:15053"));
  EXPECT_THAT(of("nameserver 10.0.0.1\n"), ElementsAre("127.0.0.1:15053"));
  EXPECT_THAT(of("nameserver fd00::1\n"), ElementsAre("[::1]:15053"));
  EXPECT_THAT(of("nameserver fd00::1\nnameserver 10.0.0.1\n"), ElementsAre("127.0.0.1:15053", "[::1]:15053"));
}

TEST(DnsAddressesTest, AddressesAreTakenAndNamesRefused) {
  EXPECT_THAT(Texts(DnsAddresses("10.1.2.3:53", {}).value()), ElementsAre("10.1.2.3:53"));
  EXPECT_THAT(Texts(DnsAddresses("[fd00::1]:53", {}).value()), ElementsAre("[fd00::1]:53"));
  EXPECT_EQ(Texts(DnsAddresses(":5353", {}).value()).at(0), "0.0.0.0:5353");
  for (const char* wrong :
       {"15053", "dns.example:53", "127.0.0.1:", "127.0.0.1:0", "127.0.0.1:65536", "127.0.0.1:x"})
    EXPECT_THAT(std::string(DnsAddresses(wrong, {}).status().message()),
                HasSubstr(StrCat("DNS_PROXY_ADDR: '", wrong, "'")));
}

TEST(ForeignResolversTest, TheProxyIsNoResolverOfItsOwn) {
  const auto all =
      dns::ParseResolverFile("nameserver 127.0.0.1\nnameserver 10.0.0.5\nnameserver 10.0.0.1\n").servers;
  const auto foreign = [&](const std::string& listen) {
    return Texts(ForeignResolvers(all, DnsAddresses(listen, {}).value(), {"10.0.0.5"}));
  };
  EXPECT_THAT(foreign("127.0.0.1:15053"), ElementsAre("127.0.0.1:53", "10.0.0.5:53", "10.0.0.1:53"));
  EXPECT_THAT(foreign("127.0.0.1:53"), ElementsAre("10.0.0.5:53", "10.0.0.1:53"));
  EXPECT_THAT(foreign(":53"), ElementsAre("10.0.0.1:53"));
}

class DnsProxyTest : public testing::Test {
 protected:
  // A free port, which the proxy takes over.
  DnsProxyTest() {
    const SocketAddress free =
        dns::FakeResolver([](const std::string&, bool) { return std::vector<std::string>(); }).address();
    at_ = free;
    options_.dns_address = free.ToString();
    options_.pod_namespace = "shop";
  }
  std::unique_ptr<DnsProxy> Start(bool relayed = true) {
    auto proxy = DnsProxy::Start(options_, relayed);
    EXPECT_TRUE(proxy.ok()) << proxy.status();
    return *std::move(proxy);
  }
  std::string Ask(const std::string& name) { return dns::FakeClient(at_, false).Ask({name}); }

  Options options_;
  SocketAddress at_;
};

TEST_F(DnsProxyTest, ATableIsTakenAndTheLastGoodOneStays) {
  const auto proxy = Start();
  EXPECT_THAT(std::string(proxy->Check().message()), HasSubstr("no name table yet"));
  EXPECT_EQ(dns::RcodeOf(Ask("web")), dns::kRcodeServerFailure);
  const RelayTap tap = proxy->Tap();
  EXPECT_EQ(tap.type, "type.googleapis.com/istio.networking.nds.v1.NameTable");
  EXPECT_TRUE(tap.take(dns::MakeTable({{"web.shop.svc.cluster.local", {"10.0.0.1"}, "Kubernetes"}})).ok());
  EXPECT_TRUE(proxy->Check().ok());
  EXPECT_THAT(dns::RecordsOf(Ask("web")), ElementsAre("web 30 A 10.0.0.1"));
  EXPECT_THAT(std::string(tap.take("\xff").message()), HasSubstr("no name table"));
  EXPECT_THAT(dns::RecordsOf(Ask("web")), ElementsAre("web 30 A 10.0.0.1"));
}

TEST_F(DnsProxyTest, WithoutARelayThereIsNothingToWaitFor) {
  const auto proxy = Start(/*relayed=*/false);
  EXPECT_TRUE(proxy->Check().ok());
}

TEST_F(DnsProxyTest, ThePageHasTheTable) {
  const auto proxy = Start();
  server::HttpServer server;
  proxy->AddTo(&server);
  ASSERT_TRUE(server.Start("127.0.0.1:0").ok());
  httplib::Client client("127.0.0.1", server.port());
  const auto before = client.Get("/debug/ndsz");
  ASSERT_TRUE(before);
  EXPECT_EQ(before->status, 404);
  EXPECT_EQ(before->body, "{}");
  EXPECT_TRUE(
      proxy->Tap().take(dns::MakeTable({{"web.shop.svc.cluster.local", {"10.0.0.1"}, "Kubernetes"}})).ok());
  const auto after = client.Get("/debug/ndsz");
  ASSERT_TRUE(after);
  EXPECT_EQ(after->status, 200);
  EXPECT_THAT(after->body, HasSubstr("\"web.\""));
}

TEST_F(DnsProxyTest, APortThatIsTakenEndsTheStart) {
  const auto first = Start();
  const auto second = DnsProxy::Start(options_, true);
  EXPECT_THAT(std::string(second.status().message()), HasSubstr("Address already in use"));
}

}  // namespace
}  // namespace fairlead::agent
