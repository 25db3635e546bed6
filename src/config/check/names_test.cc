#include "config/check/names.h"

#include <google/protobuf/duration.pb.h>
#include <gtest/gtest.h>

#include <vector>

// Tables of names as Istio reads them: those that are good, those that are not.
namespace fairlead::config::check {
namespace {

using Why = std::string (*)(std::string_view);
using Texts = std::vector<std::string>;

void ExpectGood(Why why, const Texts& texts) {
  for (const std::string& text : texts) EXPECT_EQ(why(text), "") << text;
}
void ExpectBad(Why why, const Texts& texts) {
  for (const std::string& text : texts) EXPECT_NE(why(text), "") << text;
}

const std::string kLabel63(63, 'a'), kLabel64(64, 'a');

std::string Domain(size_t bytes) {
  std::string domain;
  while (domain.size() + 64 <= bytes) domain += kLabel63 + ".";
  return domain + std::string(bytes - domain.size(), 'b');
}

TEST(NamesTest, Labels) {
  for (const std::string& text : Texts{"a", "A1", "a-b", "0", kLabel63})
    EXPECT_TRUE(IsDns1123Label(text)) << text;
  for (const std::string& text : Texts{"", "-a", "a-", "a.b", "a_b", "*", kLabel64, "ä"})
    EXPECT_FALSE(IsDns1123Label(text)) << text;
  for (const std::string& text : Texts{"*", "*-a", "a", "a-b"})
    EXPECT_TRUE(IsWildcardDns1123Label(text)) << text;
  for (const std::string& text : Texts{"", "a*", "**", "*-", "a.b"})
    EXPECT_FALSE(IsWildcardDns1123Label(text)) << text;
  for (const std::string& text : Texts{"a", "a.b-c.d", "1.2"}) EXPECT_TRUE(IsDns1123Subdomain(text)) << text;
  for (const std::string& text : Texts{"", "A", "a..b", "a.", ".a", "-a", "a_b", Domain(254)})
    EXPECT_FALSE(IsDns1123Subdomain(text)) << text;
}

TEST(NamesTest, Domains) {
  ExpectGood(DomainProblem, {"a", "a.example.com", "a.example.com.", "A.B", "a.b1", "1.a", Domain(255)});
  ExpectBad(DomainProblem, {"", "*.a", "a..b", "a.1", "1", "-a.b", "a_b.c", "a/b", Domain(256)});
  ExpectGood(WildcardDomainProblem, {"*", "*.a", "*-b.a", "*b.a", "a.example.com", "a"});
  ExpectBad(WildcardDomainProblem, {"", "a.*", "**.a", "a*.b", "*.1", "*-.b"});
  ExpectGood(WhyPartialWildcard, {"*", "*.a", "a"});
  ExpectBad(WhyPartialWildcard, {"*-a.b", "a.*"});
  ExpectGood(TrustDomainProblem, {"cluster.local", "a", "a.1", "a."});
  ExpectBad(TrustDomainProblem, {"", "a..b", "*.a", "a/b"});
}

TEST(NamesTest, HostsOfGateways) {
  const auto sni = [](std::string_view host) { return GatewayDomainProblem(true, host); };
  ExpectGood(sni, {"*.a", "outbound_.80_._.e2e.mesh", "outbound_.80_.v1_.a"});
  ExpectBad(sni, {"outbound_.80", "outbound_.x_._.a", "outbound_.80_._.1"});
  EXPECT_NE(GatewayDomainProblem(false, "outbound_.80_._.a"), "");
  const auto gateway = [](std::string_view text) { return NamespacedHostProblem(text, true, false); };
  ExpectGood(gateway, {"*", "a.b", "*.b", "*/*", "./a.b", "ns/*.b", "ns/1.2.3.4"});
  ExpectBad(gateway, {"a", "ns/a", "/a.b", "ns/", "~/a.b", "n.s/a.b", "ns/*-a.b"});
  EXPECT_EQ(NamespacedHostProblem("~/*", true, true), "");
  const auto sidecar = [](std::string_view text) { return NamespacedHostProblem(text, false, false); };
  ExpectGood(sidecar, {"*/*", "./*", "~/*", "ns/a.b", "~ns/*.b", "~./a.b"});
  ExpectBad(sidecar, {"a.b", "ns/a", "/a.b", "ns/", "n_s/a.b", "ns/1.2.3.4"});
}

TEST(NamesTest, Addresses) {
  ExpectGood(IpAddressProblem, {"1.2.3.4", "::1", "2001:db8::1"});
  ExpectBad(IpAddressProblem, {"", "1.2.3", "1.2.3.4/8", "256.1.1.1", "a", "01.2.3.4"});
  ExpectGood(IpRangeProblem, {"1.2.3.4", "10.0.0.0/8", "10.1.2.3/8", "::/0", "2001:db8::/32"});
  ExpectBad(IpRangeProblem, {"", "10.0.0.0/33", "10.0.0.0/", "10.0.0/8", "::/129", "1.2.3.4/8/8"});
  ExpectGood(SocketPathProblem, {"/a", "/a/b.sock", "@a"});
  ExpectBad(SocketPathProblem, {"", "a", "/a/"});
  ExpectGood(HostAndPortProblem, {"a:1", "a.b:65535", "1.2.3.4:80", "[::1]:80"});
  ExpectBad(HostAndPortProblem, {"", "a", "a:", "a:0", "a:65536", "a:b", "::1:80", ":80", "[::1]", "a_b:1"});
  for (int64_t port : {1, 80, 65535}) EXPECT_EQ(PortProblem(port), "");
  for (int64_t port : {-1, 0, 65536}) EXPECT_NE(PortProblem(port), "");
}

TEST(NamesTest, GoIntegers) {
  const auto parse = [](std::string_view text) {
    int64_t number = -1;
    return ParseGoInteger(text, &number) ? StrCat(number) : "no";
  };
  EXPECT_EQ(parse("42"), "42");
  EXPECT_EQ(parse("+7"), "7");
  EXPECT_EQ(parse("-7"), "-7");
  for (const std::string& text : Texts{"", "+", "+-1", "1a", " 1", "0x1", "9223372036854775808"})
    EXPECT_EQ(parse(text), "no") << text;
}

TEST(NamesTest, LabelsOfKubernetes) {
  const auto key = [](std::string_view text) { return LabelProblem(text, ""); };
  ExpectGood(key, {"a", "a.b_c-d", "example.com/a", kLabel63});
  ExpectBad(key, {"", "/a", "a/", "a/b/c", "-a", "a b", kLabel64, "ex_ample/a", Domain(254) + "/a"});
  const auto value = [](std::string_view text) { return LabelProblem("a", text); };
  ExpectGood(value, {"", "a", "a.b_c", "1"});
  ExpectBad(value, {"-a", "a-", "a b", "a/b"});
}

TEST(NamesTest, PortsAndSubsets) {
  ExpectGood(PortNameProblem, {"http", "http-a", "HTTP"});
  ExpectBad(PortNameProblem, {"", "http_a", "-a"});
  ExpectGood(ProtocolProblem, {"", "TCP", "http", "GRPC-Web", "HTTP_PROXY", "Mongo", "udp"});
  ExpectBad(ProtocolProblem, {"nope", "http3", "TCP "});
  ExpectGood(SubsetNameProblem, {"v1", "a-b"});
  ExpectBad(SubsetNameProblem, {"", "a.b", "v1_"});
  EXPECT_TRUE(IsHttp(ParseProtocol("grpc")) && !IsTcp(ParseProtocol("grpc")));
  EXPECT_TRUE(IsTls(ParseProtocol("HTTPS")) && IsTcp(ParseProtocol("HTTPS")) &&
              !IsHttp(ParseProtocol("HTTPS")));
  EXPECT_FALSE(IsTcp(ParseProtocol("UDP")));
}

TEST(NamesTest, Durations) {
  const auto why = [](int64_t seconds, int32_t nanos) {
    google::protobuf::Duration duration;
    duration.set_seconds(seconds);
    duration.set_nanos(nanos);
    return DurationProblem(duration);
  };
  EXPECT_EQ(why(0, 1'000'000), "");
  EXPECT_EQ(why(3600, 0), "");
  EXPECT_EQ(why(1, 999'000'000), "");
  EXPECT_NE(why(0, 999'999), "");
  EXPECT_NE(why(0, 0), "");
  EXPECT_NE(why(-1, 0), "");
  EXPECT_NE(why(1, 1), "");
}

TEST(NamesTest, RegularExpressions) {
  for (const std::string& text : Texts{"", "a.*", "^[a-z]+$", std::string(1024, 'a')})
    EXPECT_EQ(RegexProblem(text), "") << text;
  for (const std::string& text : Texts{"(", "[", "*", "(?=a)", std::string(1025, 'a')})
    EXPECT_NE(RegexProblem(text), "") << text;
}

TEST(NamesTest, HostsWithinHosts) {
  EXPECT_TRUE(HostSubsetOf("a.b", "*.b"));
  EXPECT_TRUE(HostSubsetOf("a.b", "*"));
  EXPECT_TRUE(HostSubsetOf("*.a.b", "*.b"));
  EXPECT_TRUE(HostSubsetOf("a.b", "a.b"));
  EXPECT_FALSE(HostSubsetOf("*.b", "*.a.b"));
  EXPECT_FALSE(HostSubsetOf("a.b", "b.b"));
  EXPECT_FALSE(HostSubsetOf("*", "a.b"));
  EXPECT_TRUE(HostsMatch("*.b", "*.a.b"));
  EXPECT_FALSE(HostsMatch("*.b", "*.c"));
}

}  // namespace
}  // namespace fairlead::config::check
