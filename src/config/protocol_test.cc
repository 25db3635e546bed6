#include "config/protocol.h"

#include "gtest/gtest.h"

namespace fairlead::config {
namespace {

Protocol ByName(std::string_view name, int port = 1234) {
  return KubernetesPortProtocol(port, name, "TCP", std::nullopt);
}
Protocol ByApp(const std::string& app, std::string_view name = "http") {
  return KubernetesPortProtocol(1234, name, "TCP", app);
}

TEST(ParseProtocol, TakesNamesInAnyCase) {
  EXPECT_EQ(ParseProtocol("gRPC-Web"), Protocol::kGrpcWeb);
  EXPECT_EQ(ParseProtocol("tls"), Protocol::kTls);
  EXPECT_EQ(ParseProtocol("HTTP_PROXY"), Protocol::kHttpProxy);
  EXPECT_EQ(ParseProtocol("smtp"), Protocol::kUnsupported);
}

TEST(KubernetesPortProtocol, ReadsThePrefixOfTheName) {
  EXPECT_EQ(ByName("http"), Protocol::kHttp);
  EXPECT_EQ(ByName("http2-api"), Protocol::kHttp2);
  EXPECT_EQ(ByName("grpc-web-ui"), Protocol::kGrpcWeb);
  EXPECT_EQ(ByName("grpc-webby"), Protocol::kGrpcWeb);
  EXPECT_EQ(ByName("grpc-other"), Protocol::kGrpc);
  EXPECT_EQ(ByName("httpish"), Protocol::kUnsupported);
  EXPECT_EQ(ByName(""), Protocol::kUnsupported);
}

TEST(KubernetesPortProtocol, AppProtocolBeatsTheName) {
  EXPECT_EQ(ByApp("kubernetes.io/h2c"), Protocol::kHttp2);
  EXPECT_EQ(ByApp("kubernetes.io/ws"), Protocol::kHttp);
  EXPECT_EQ(ByApp("kubernetes.io/wss"), Protocol::kHttps);
  EXPECT_EQ(ByApp("tcp"), Protocol::kTcp);
  EXPECT_EQ(ByApp("example.com/own"), Protocol::kUnsupported);
}

TEST(KubernetesPortProtocol, ServerFirstPortsAreTcpUnlessNamed) {
  EXPECT_EQ(ByName("db", 3306), Protocol::kTcp);
  EXPECT_EQ(ByName("mysql", 3306), Protocol::kMySql);
  EXPECT_EQ(ByName("http", 53), Protocol::kHttp);
}

TEST(KubernetesPortProtocol, UdpIsUdpWhateverItIsCalled) {
  EXPECT_EQ(KubernetesPortProtocol(80, "http", "UDP", "grpc"), Protocol::kUdp);
}

TEST(Protocol, Families) {
  EXPECT_TRUE(IsHttp(Protocol::kHttpProxy));
  EXPECT_TRUE(IsHttp(Protocol::kGrpcWeb));
  EXPECT_FALSE(IsHttp(Protocol::kHttps));
  EXPECT_TRUE(IsHttp2(Protocol::kGrpc));
  EXPECT_FALSE(IsHttp2(Protocol::kHttp));
  EXPECT_TRUE(IsTcp(Protocol::kHttps));
  EXPECT_FALSE(IsTcp(Protocol::kUdp));
  EXPECT_EQ(ToString(Protocol::kGrpcWeb), "GRPC-Web");
  EXPECT_EQ(ToString(Protocol::kUnsupported), "UnsupportedProtocol");
}

}  // namespace
}  // namespace fairlead::config
