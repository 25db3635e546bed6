#include "model/proxy.h"

#include "envoy/config/core/v3/base.pb.h"
#include "google/protobuf/util/json_util.h"
#include "gtest/gtest.h"
#include "istio/mesh/v1alpha1/proxy.pb.h"
#include "model/proxy_class.h"

namespace fairlead::model {
namespace {

envoy::config::core::v3::Node NodeWith(std::string_view id, const std::string& metadata_json = "{}") {
  envoy::config::core::v3::Node node;
  node.set_id(std::string(id));
  EXPECT_TRUE(google::protobuf::util::JsonStringToMessage(metadata_json, node.mutable_metadata()).ok());
  return node;
}

constexpr std::string_view kId = "sidecar~10.0.0.1~web-1.shop~shop.svc.cluster.local";

ProxyPtr Parse(const std::string& metadata_json, std::string_view id = kId) {
  absl::StatusOr<ProxyPtr> proxy = ParseProxy(NodeWith(id, metadata_json));
  EXPECT_TRUE(proxy.ok()) << proxy.status();
  return proxy.ok() ? *proxy : std::make_shared<const Proxy>();
}

bool Refuses(const std::string& metadata_json, std::string_view id = kId) {
  return absl::IsInvalidArgument(ParseProxy(NodeWith(id, metadata_json)).status());
}

TEST(ParseProxy, ReadsTheNodeId) {
  const ProxyPtr proxy = Parse("{}");
  EXPECT_EQ(proxy->type, ProxyType::kSidecar);
  EXPECT_EQ(proxy->id, "web-1.shop");
  EXPECT_EQ(proxy->domain, "shop.svc.cluster.local");
  EXPECT_EQ(proxy->ip_addresses, std::vector<std::string>{"10.0.0.1"});
  EXPECT_EQ(proxy->ns, "shop") << "without NAMESPACE it is the domain's first part";
  EXPECT_EQ(Parse(R"({"NAMESPACE":"other"})")->ns, "other");
  EXPECT_EQ(Parse("{}", "router~10.0.0.1~gw.istio-system~x")->type, ProxyType::kRouter);
}

TEST(ParseProxy, RefusesWhatIsNoNodeId) {
  EXPECT_TRUE(Refuses("{}", "sidecar~10.0.0.1~web-1.shop"));
  EXPECT_TRUE(Refuses("{}", "butler~10.0.0.1~web-1.shop~d"));
  EXPECT_TRUE(Refuses("{}", "sidecar~nowhere~web-1.shop~d"));
}

TEST(ParseProxy, InstanceIpsCountIfAllAreValid) {
  const ProxyPtr dual = Parse(R"({"INSTANCE_IPS":"10.1.1.1,fd00::1"})");
  EXPECT_EQ(dual->ip_addresses, (std::vector<std::string>{"10.1.1.1", "fd00::1"}));
  EXPECT_TRUE(dual->supports_ipv4 && dual->supports_ipv6);
  EXPECT_EQ(Parse(R"({"INSTANCE_IPS":"10.1.1.1,what"})")->ip_addresses, std::vector<std::string>{"10.0.0.1"});
  const ProxyPtr six = Parse(R"({"INSTANCE_IPS":"fd00::1"})");
  EXPECT_TRUE(six->supports_ipv6 && !six->supports_ipv4);
}

TEST(ParseProxy, ReadsMetadataAsTheAgentWritesIt) {
  const ProxyPtr proxy = Parse(R"({
    "LABELS": {"app": "web"}, "CLUSTER_ID": "c1", "NETWORK": "n1", "DNS_CAPTURE": "true", "ENABLE_HBONE": "0",
    "METADATA_DISCOVERY": "false", "HTTP10": "1", "INTERCEPTION_MODE": "TPROXY", "ENVOY_STATUS_PORT": 15021,
    "REQUESTED_NETWORK_VIEW": "n1,n2", "UNKNOWN_KEY": {"a": [1]},
    "POD_PORTS": "[{\"name\":\"http\",\"containerPort\":8080,\"protocol\":\"TCP\"}]",
    "PROXY_CONFIG": {"drainDuration": "45s", "concurrency": 2, "newField": 1}})");
  const ProxyMetadata& metadata = proxy->metadata;
  EXPECT_EQ(metadata.labels, (LabelMap{{"app", "web"}}));
  EXPECT_EQ(metadata.cluster_id, "c1");
  EXPECT_TRUE(metadata.dns_capture);
  EXPECT_FALSE(metadata.enable_hbone);
  EXPECT_EQ(metadata.metadata_discovery, std::optional<bool>(false));
  EXPECT_TRUE(metadata.http10);
  EXPECT_EQ(metadata.interception_mode, InterceptionMode::kTproxy);
  EXPECT_EQ(metadata.envoy_status_port, 15021);
  EXPECT_EQ(metadata.requested_network_view, (std::vector<std::string>{"n1", "n2"}));
  ASSERT_EQ(metadata.pod_ports.size(), 1u);
  EXPECT_EQ(metadata.pod_ports[0].container_port, 8080);
  ASSERT_NE(metadata.proxy_config, nullptr);
  EXPECT_EQ(metadata.proxy_config->drain_duration().seconds(), 45);
  EXPECT_EQ(metadata.raw->Parse().fields().count("UNKNOWN_KEY"), 1u);
}

TEST(ParseProxy, DurationsOfProxyConfigMayBeInGosForm) {
  const ProxyPtr proxy = Parse(R"({"PROXY_CONFIG": {
    "privateKeyProvider": {"cryptomb": {"pollDelay": "10ms", "fallback": true}},
    "drain_duration": "1m30s", "terminationDrainDuration": "-1.5s", "proxyMetadata": {"A": "2ms"}}})");
  const auto& config = *proxy->metadata.proxy_config;
  EXPECT_EQ(config.private_key_provider().cryptomb().poll_delay().nanos(), 10'000'000);
  EXPECT_EQ(config.drain_duration().seconds(), 90);
  EXPECT_EQ(config.termination_drain_duration().seconds(), -1);
  EXPECT_EQ(config.termination_drain_duration().nanos(), -500'000'000);
  EXPECT_EQ(config.proxy_metadata().at("A"), "2ms");
  EXPECT_TRUE(Refuses(R"({"PROXY_CONFIG": {"drainDuration": "soon"}})"));
}

TEST(ParseProxy, NullCountsAsAbsent) {
  const ProxyPtr proxy = Parse(R"({"LABELS": null, "DNS_CAPTURE": null, "PROXY_CONFIG": null})");
  EXPECT_FALSE(proxy->metadata.dns_capture);
  EXPECT_EQ(proxy->metadata.proxy_config, nullptr);
}

TEST(ParseProxy, RefusesValuesOfOtherTypes) {
  EXPECT_TRUE(Refuses(R"({"CLUSTER_ID": 1})"));
  EXPECT_TRUE(Refuses(R"({"LABELS": {"version": 1}})"));
  EXPECT_TRUE(Refuses(R"({"DNS_CAPTURE": true})"));
  EXPECT_TRUE(Refuses(R"({"DNS_CAPTURE": "yes"})"));
  EXPECT_TRUE(Refuses(R"({"ENVOY_STATUS_PORT": 1.5})"));
  EXPECT_TRUE(Refuses(R"({"POD_PORTS": "nothing"})"));
  EXPECT_TRUE(Refuses(R"({"PROXY_CONFIG": {"concurrency": "many"}})"));
}

TEST(ParseIstioVersion, UnreadableOnesCountAsTheNewest) {
  EXPECT_EQ(ParseIstioVersion("1.27.3"), (IstioVersion{1, 27, 3}));
  EXPECT_EQ(ParseIstioVersion("1.27-alpha.0"), (IstioVersion{1, 27, 65535}));
  EXPECT_EQ(ParseIstioVersion("release-1.6.1"), (IstioVersion{1, 6, 1}));
  EXPECT_EQ(ParseIstioVersion(""), IstioVersion());
  EXPECT_EQ(ParseIstioVersion("master"), IstioVersion());
  EXPECT_LT(ParseIstioVersion("1.9"), ParseIstioVersion("1.27"));
}

TEST(ParseProxy, ExtensionsTellWhatAProxyCanRun) {
  EXPECT_TRUE(Parse("{}")->proxy_class->HasExtension("istio.stats"))
      << "one that lists none is an istio-proxy";
  auto node = NodeWith(kId);
  node.add_extensions()->set_name("envoy.filters.http.router");
  auto* disabled = node.add_extensions();
  disabled->set_name("envoy.filters.http.lua");
  disabled->set_disabled(true);
  const ProxyPtr stock = *ParseProxy(node);
  EXPECT_TRUE(stock->proxy_class->HasExtension("envoy.filters.http.router"));
  EXPECT_FALSE(stock->proxy_class->HasExtension("istio.stats"));
  EXPECT_FALSE(stock->proxy_class->HasExtension("envoy.filters.http.lua"));
}

TEST(ExtensionSet, EqualListsAreOneObjectAsLongAsSomebodyHoldsIt) {
  const auto first = ExtensionSet::Intern({"a", "b"});
  EXPECT_EQ(first, ExtensionSet::Intern({"b", "a"}));
  EXPECT_NE(first, ExtensionSet::Intern({"a"}));
  EXPECT_EQ(ExtensionSet::Intern({}), nullptr);
}

}  // namespace
}  // namespace fairlead::model
