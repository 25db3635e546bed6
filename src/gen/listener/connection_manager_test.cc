#include <gmock/gmock.h>
#include <google/protobuf/unknown_field_set.h>

#include "gen/listener/listener_fixture.h"
#include "istio/mesh/v1alpha1/proxy.pb.h"

namespace fairlead::gen::listener {
namespace {

using model::Protocol;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class ConnectionManagerTest : public ListenerFixture {
 protected:
  void SetUp() override { AddVip("default", "web", "10.96.0.1", 80, Protocol::kHttp); }

  HttpConnectionManager Outbound(const model::ProxyPtr& proxy) {
    return Http(Generated(proxy).at("0.0.0.0_80").filter_chains(0));
  }
  // The catch-all for plaintext HTTP.
  HttpConnectionManager Inbound(const model::ProxyPtr& proxy) {
    return Http(Generated(proxy).at("virtualInbound").filter_chains(2));
  }
  std::shared_ptr<model::Proxy> With(const std::string& proxy_config) {
    auto proxy = Client();
    proxy->metadata.proxy_config = std::make_shared<const istio::mesh::v1alpha1::ProxyConfig>(
        mesh::Parse<istio::mesh::v1alpha1::ProxyConfig>(proxy_config));
    return proxy;
  }
};

TEST_F(ConnectionManagerTest, FiltersOfIstioProxiesInOrder) {
  EXPECT_THAT(
      FilterNames(Outbound(Client())),
      ElementsAre("istio.metadata_exchange", "envoy.filters.http.grpc_stats", "istio.alpn",
                  "envoy.filters.http.fault", "envoy.filters.http.cors", "envoy.filters.http.router"));
  EXPECT_THAT(
      FilterNames(Inbound(Client())),
      ElementsAre("istio.metadata_exchange", "envoy.filters.http.grpc_stats", "envoy.filters.http.fault",
                  "envoy.filters.http.cors", "envoy.filters.http.router"));
}

TEST_F(ConnectionManagerTest, AStockEnvoyIsSentNothingThatItLacks) {
  auto proxy = Client();
  proxy->extensions = model::ExtensionSet::Intern({"envoy.filters.http.router"});
  NewMeshConfig().mutable_default_providers()->add_metrics("prometheus");
  auto* provider = NewMeshConfig().add_extension_providers();
  provider->set_name("prometheus");
  provider->mutable_prometheus();
  SetSettings();
  for (const auto& [name, listener] : Generated(proxy)) {
    EXPECT_THAT(listener.SerializeAsString(), Not(HasSubstr("istio.metadata_exchange"))) << name;
    EXPECT_THAT(listener.SerializeAsString(), Not(HasSubstr("istio.alpn"))) << name;
    EXPECT_THAT(listener.SerializeAsString(), Not(HasSubstr("istio.stats"))) << name;
  }
}

TEST_F(ConnectionManagerTest, ProxyHeaders) {
  const auto proxy = With(R"(proxy_headers {
      forwarded_client_cert: SANITIZE_SET server { value: "shop" } request_id { disabled { value: true } }
      set_current_client_cert_details { cert { value: true } dns { value: false } }
      envoy_debug_headers { disabled { value: true } } x_forwarded_port { enabled { value: true } } })");
  const HttpConnectionManager inbound = Inbound(proxy);
  EXPECT_EQ(inbound.server_name(), "shop");
  EXPECT_EQ(inbound.forward_client_cert_details(), HttpConnectionManager::SANITIZE_SET);
  EXPECT_TRUE(inbound.set_current_client_cert_details().cert());
  EXPECT_FALSE(inbound.set_current_client_cert_details().dns());
  EXPECT_TRUE(inbound.set_current_client_cert_details().subject().value());
  EXPECT_TRUE(inbound.append_x_forwarded_port());
  EXPECT_TRUE(inbound.has_generate_request_id());
  EXPECT_EQ(Inbound(Client()).server_name(), "istio-envoy");
  EXPECT_EQ(Outbound(Client()).server_name(), "");
}

TEST_F(ConnectionManagerTest, MetadataOfTheNode) {
  auto proxy = Client();
  proxy->metadata.http10 = true;
  proxy->metadata.idle_timeout = "90s";
  EXPECT_TRUE(Outbound(proxy).http_protocol_options().accept_http_10());
  EXPECT_EQ(Outbound(proxy).common_http_protocol_options().idle_timeout().seconds(), 90);
  EXPECT_EQ(Tcp(Generated(proxy).at("virtualOutbound").filter_chains(1)).idle_timeout().seconds(), 90);
}

TEST_F(ConnectionManagerTest, TracesCarryTheWorkloadsTags) {
  NewMeshConfig().set_enable_tracing(true);
  SetSettings();
  auto proxy = With(R"(tracing { sampling: 42 max_path_tag_length: 99
      custom_tags { key: "zone" value { literal { value: "b" } } } })");
  proxy->metadata.labels = {{"service.istio.io/canonical-name", "shop"}};
  const auto tracing = Outbound(proxy).tracing();
  EXPECT_EQ(tracing.random_sampling().value(), 42);
  EXPECT_EQ(tracing.max_path_tag_length().value(), 99u);
  std::map<std::string, std::string> literals;
  for (const auto& tag : tracing.custom_tags()) {
    if (tag.has_literal()) literals[tag.tag()] = tag.literal().value();
  }
  EXPECT_EQ(literals["istio.canonical_service"], "shop");
  EXPECT_EQ(literals["istio.canonical_revision"], "latest");
  EXPECT_EQ(literals["istio.namespace"], "default");
  EXPECT_EQ(literals["zone"], "b");
}

TEST_F(ConnectionManagerTest, TelemetryChoosesTheTracer) {
  AddExternal("tracing", "zipkin.example.com", {9411});
  auto* provider = NewMeshConfig().add_extension_providers();
  provider->set_name("Zipkin");
  provider->mutable_zipkin()->set_service("tracing/zipkin.example.com");
  provider->mutable_zipkin()->set_port(9411);
  NewMeshConfig().set_enable_tracing(true);
  SetSettings();
  Put(config::Kind::kTelemetry, "default", "t", mesh::Parse<istio::telemetry::v1alpha1::Telemetry>(R"(
      tracing { match { mode: CLIENT } providers { name: "zipkin" } random_sampling_percentage { value: 7 } })"));
  EXPECT_EQ(Outbound(Client()).tracing().provider().name(), "envoy.tracers.zipkin");
  EXPECT_EQ(Outbound(Client()).tracing().random_sampling().value(), 7);
  EXPECT_FALSE(Inbound(Client()).has_tracing()) << "no provider is chosen for servers";
}

TEST_F(ConnectionManagerTest, TelemetryKeepsTraceContextsToItself) {
  auto* provider = NewMeshConfig().add_extension_providers();
  provider->set_name("zipkin");
  provider->mutable_zipkin()->set_service("tracing/zipkin.example.com");
  provider->mutable_zipkin()->set_port(9411);
  AddExternal("tracing", "zipkin.example.com", {9411});
  SetSettings();
  Put(config::Kind::kTelemetry, "default", "t", mesh::Parse<istio::telemetry::v1alpha1::Telemetry>(R"(
      tracing { providers { name: "zipkin" } disable_context_propagation { value: true } })"));
  // HttpConnectionManager.Tracing.no_context_propagation.
  const auto is_set = [](const HttpConnectionManager& manager) {
    const auto& unknown = manager.tracing().GetReflection()->GetUnknownFields(manager.tracing());
    return unknown.field_count() == 1 && unknown.field(0).number() == 13 && unknown.field(0).varint() == 1;
  };
  EXPECT_TRUE(is_set(Outbound(Client())));
  auto old = Client();
  old->version = {1, 29, 0};
  EXPECT_FALSE(is_set(Outbound(old)));
}

TEST_F(ConnectionManagerTest, AccessLogsOfTheMesh) {
  NewMeshConfig().set_access_log_file("/dev/stdout");
  NewMeshConfig().set_access_log_format("%PROTOCOL%");
  NewMeshConfig().set_enable_envoy_access_log_service(true);
  SetSettings();
  ASSERT_EQ(Outbound(Client()).access_log_size(), 2);
  EXPECT_EQ(Outbound(Client()).access_log(1).name(), "envoy.access_loggers.http_grpc");
  const Listener listener = Generated(Client()).at("virtualInbound");
  ASSERT_EQ(listener.access_log_size(), 2);
  EXPECT_THAT(listener.access_log(0).filter().response_flag_filter().flags(), ElementsAre("NR"));
  EXPECT_EQ(Tcp(listener.filter_chains(4)).access_log(1).name(), "envoy.tcp_grpc_access_log");
  EXPECT_THAT(Tcp(listener.filter_chains(0)).access_log(), IsEmpty()) << "the black hole is not logged";
}

TEST_F(ConnectionManagerTest, TelemetryTurnsLogsOffForOneDirection) {
  auto* provider = NewMeshConfig().add_extension_providers();
  provider->set_name("file");
  provider->mutable_envoy_file_access_log()->set_path("/dev/stdout");
  NewMeshConfig().mutable_default_providers()->add_access_logging("file");
  SetSettings();
  Put(config::Kind::kTelemetry, "default", "t", mesh::Parse<istio::telemetry::v1alpha1::Telemetry>(R"(
      access_logging { match { mode: SERVER } providers { name: "file" } disabled { value: true } }
      access_logging { match { mode: CLIENT } providers { name: "file" } filter { expression: "x" } })"));
  EXPECT_THAT(Inbound(Client()).access_log(), IsEmpty());
  ASSERT_EQ(Outbound(Client()).access_log_size(), 1);
  EXPECT_TRUE(Outbound(Client()).access_log(0).filter().has_extension_filter());
}

TEST_F(ConnectionManagerTest, ObjectsForOtherWorkloadsDontCount) {
  NewMeshConfig().set_access_log_file("/dev/stdout");
  auto* provider = NewMeshConfig().add_extension_providers();
  provider->set_name("file");
  provider->mutable_envoy_file_access_log()->set_path("/other");
  SetSettings();
  Put(config::Kind::kTelemetry, "default", "t", mesh::Parse<istio::telemetry::v1alpha1::Telemetry>(R"(
      selector { match_labels { key: "app" value: "other" } } access_logging { providers { name: "file" } })"));
  EXPECT_THAT(Outbound(Client()).SerializeAsString(),
              AllOf(HasSubstr("/dev/stdout"), Not(HasSubstr("/other"))));
}

TEST_F(ConnectionManagerTest, PathNormalization) {
  using Normalization = istio::mesh::v1alpha1::MeshConfig::ProxyPathNormalization;
  NewMeshConfig().mutable_path_normalization()->set_normalization(Normalization::DECODE_AND_MERGE_SLASHES);
  SetSettings();
  const HttpConnectionManager manager = Outbound(Client());
  EXPECT_TRUE(manager.merge_slashes());
  EXPECT_EQ(manager.path_with_escaped_slashes_action(), HttpConnectionManager::UNESCAPE_AND_FORWARD);
}

}  // namespace
}  // namespace fairlead::gen::listener
