#include "gen/resource/references.h"

#include <gmock/gmock.h>
#include <google/protobuf/any.pb.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "envoy/config/cluster/v3/cluster.pb.h"
#include "envoy/config/listener/v3/listener.pb.h"
#include "envoy/config/route/v3/route.pb.h"
#include "envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager.pb.h"
#include "envoy/extensions/transport_sockets/proxy_protocol/v3/upstream_proxy_protocol.pb.h"
#include "envoy/extensions/transport_sockets/tls/v3/tls.pb.h"
#include "gen/generator.h"
#include "proto/messages.h"

namespace fairlead::gen {
namespace {

namespace tls = envoy::extensions::transport_sockets::tls::v3;
using envoy::config::cluster::v3::Cluster;
using envoy::config::listener::v3::Listener;
using envoy::config::route::v3::RouteConfiguration;
using envoy::extensions::filters::network::http_connection_manager::v3::HttpConnectionManager;
using envoy::extensions::transport_sockets::proxy_protocol::v3::ProxyProtocolUpstreamTransport;
using testing::ElementsAre;
using testing::IsEmpty;

// "EDS a", each.
std::vector<std::string> Names(const std::vector<cache::Reference>& references) {
  std::vector<std::string> names;
  for (const cache::Reference& reference : references) {
    const char* type = reference.type == cache::TypeId::kEndpoint    ? "EDS"
                       : reference.type == cache::TypeId::kRoute     ? "RDS"
                       : reference.type == cache::TypeId::kSecret    ? "SDS"
                       : reference.type == cache::TypeId::kExtension ? "ECDS"
                                                                     : "?";
    names.push_back(StrCat(type, " ", reference.name.str()));
  }
  return names;
}
std::vector<std::string> Read(const google::protobuf::Message& message) {
  return Names(ReferencesOf(message));
}

TEST(References, OfAClusterAreItsEndpoints) {
  Cluster cluster;
  cluster.set_name("a");
  EXPECT_THAT(Read(cluster), IsEmpty());
  cluster.set_type(Cluster::EDS);
  EXPECT_THAT(Read(cluster), ElementsAre("EDS a"));
  cluster.mutable_eds_cluster_config()->set_service_name("b");
  EXPECT_THAT(Read(cluster), ElementsAre("EDS b"));
}

TEST(References, OfAClusterAreItsSecretsThatComeOverAds) {
  tls::UpstreamTlsContext context;
  auto* common = context.mutable_common_tls_context();
  proto::SetAgentSecret("default", common->add_tls_certificate_sds_secret_configs());
  proto::SetCredentialSecret("mine", false, common->add_tls_certificate_sds_secret_configs());
  proto::SetCredentialSecret(
      "mine-cacert", false,
      common->mutable_combined_validation_context()->mutable_validation_context_sds_secret_config());
  Cluster cluster;
  proto::Pack(context, cluster.mutable_transport_socket()->mutable_typed_config());
  EXPECT_THAT(Read(cluster), ElementsAre("SDS kubernetes://mine", "SDS kubernetes://mine-cacert"));

  ProxyProtocolUpstreamTransport wrapper;
  *wrapper.mutable_transport_socket() = cluster.transport_socket();
  Cluster wrapped;
  wrapped.add_transport_socket_matches();
  auto* socket = wrapped.add_transport_socket_matches()->mutable_transport_socket();
  proto::Pack(wrapper, socket->mutable_typed_config());
  EXPECT_THAT(Read(wrapped), ElementsAre("SDS kubernetes://mine", "SDS kubernetes://mine-cacert"));
}

TEST(References, OfAListenerAreRoutesAndDiscoveredFilters) {
  HttpConnectionManager manager;
  manager.mutable_rds()->set_route_config_name("80");
  manager.add_http_filters()->set_name("inline");
  auto* filter = manager.add_http_filters();
  filter->set_name("found");
  filter->mutable_config_discovery();
  HttpConnectionManager inlined;
  inlined.mutable_route_config()->set_name("not asked for");
  HttpConnectionManager scoped;
  auto* scopes = scoped.mutable_scoped_routes()->mutable_scoped_route_configurations_list();
  scopes->add_scoped_route_configurations()->set_route_configuration_name("9090");
  scopes->add_scoped_route_configurations()->mutable_route_configuration()->set_name("in place");
  Listener listener;
  auto* chain = listener.add_filter_chains();
  auto* network = chain->add_filters();
  network->set_name("network");
  network->mutable_config_discovery();
  proto::Pack(inlined, chain->add_filters()->mutable_typed_config());
  proto::Pack(scoped, chain->add_filters()->mutable_typed_config());
  proto::Pack(manager, chain->add_filters()->mutable_typed_config());
  proto::Pack(manager, listener.mutable_default_filter_chain()->add_filters()->mutable_typed_config());
  EXPECT_THAT(Read(listener), ElementsAre("RDS 80", "RDS 9090", "ECDS found", "ECDS network"));
}

TEST(References, OfAListenerAreItsSecrets) {
  tls::DownstreamTlsContext context;
  auto* common = context.mutable_common_tls_context();
  proto::SetCredentialSecret("mine", false, common->add_tls_certificate_sds_secret_configs());
  proto::SetCredentialSecret("roots", false, common->mutable_validation_context_sds_secret_config());
  Listener listener;
  auto* socket = listener.add_filter_chains()->mutable_transport_socket();
  proto::Pack(context, socket->mutable_typed_config());
  EXPECT_THAT(Read(listener), ElementsAre("SDS kubernetes://mine", "SDS kubernetes://roots"));
}

TEST(References, OfAGrpcClientsListener) {
  HttpConnectionManager manager;
  manager.mutable_rds()->set_route_config_name("80");
  Listener listener;
  proto::Pack(manager, listener.mutable_api_listener()->mutable_api_listener());
  EXPECT_THAT(Read(listener), ElementsAre("RDS 80"));
}

TEST(References, OfOtherMessagesAreNone) { EXPECT_THAT(Read(RouteConfiguration()), IsEmpty()); }

TEST(Encode, KeepsReferencesAndOrigins) {
  Cluster cluster;
  cluster.set_name("a");
  cluster.set_type(Cluster::EDS);
  const Interned rule = OriginKey("DestinationRule", "default", "a"),
                 service = OriginKey("Service", "x", "a");
  const cache::ResourcePtr made =
      Encode("a", cluster, Audience::kMany, {{service, {}}, {rule, {}}, {service, {}}});
  EXPECT_THAT(Names(made->references), ElementsAre("EDS a"));
  EXPECT_THAT(made->origins, ElementsAre(rule, service));
  EXPECT_EQ(rule, "DestinationRule/default/a");
  EXPECT_THAT(Encode("a", cluster)->origins, IsEmpty());
  EXPECT_THAT(EncodeBytes("a", "envoy.config.route.v3.RouteConfiguration", "")->references, IsEmpty());
}

}  // namespace
}  // namespace fairlead::gen
