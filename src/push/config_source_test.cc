#include "push/config_source.h"

#include <gmock/gmock.h>
#include <google/protobuf/any.pb.h>
#include <gtest/gtest.h>

#include "base/hash.h"
#include "base/strings.h"
#include "envoy/config/cluster/v3/cluster.pb.h"
#include "envoy/config/listener/v3/listener.pb.h"
#include "envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager.pb.h"
#include "envoy/extensions/transport_sockets/tls/v3/tls.pb.h"

namespace fairlead::push {
namespace {

using envoy::config::cluster::v3::Cluster;
using envoy::config::core::v3::ApiConfigSource;
using envoy::config::core::v3::ConfigSource;
using envoy::config::listener::v3::Listener;
using envoy::extensions::filters::network::http_connection_manager::v3::HttpConnectionManager;
using testing::ElementsAre;
using xds::TypeId;

xds::ResourcePtr Pack(const std::string& name, const google::protobuf::Message& message) {
  google::protobuf::Any any;
  any.PackFrom(message);
  auto resource = std::make_shared<cache::Resource>();
  resource->name = name;
  resource->any = any.SerializeAsString();
  resource->hash = StableHash(resource->any.plain());
  return resource;
}

template <typename T>
T Unpack(const xds::ResourcePtr& resource) {
  google::protobuf::Any any;
  T message;
  EXPECT_TRUE(any.ParseFromString(resource->any.Unpacked()) && any.UnpackTo(&message));
  return message;
}

xds::ResourcePtr EdsCluster(const std::string& name, const std::string& service_name = "") {
  Cluster cluster;
  cluster.set_name(name);
  auto* eds = cluster.mutable_eds_cluster_config();
  eds->set_service_name(service_name);
  eds->mutable_eds_config()->mutable_ads();
  eds->mutable_eds_config()->mutable_initial_fetch_timeout()->set_seconds(3);
  return Pack(name, cluster);
}

// Notes what it is asked, and names it in the path.
class Sources : public testing::Test {
 protected:
  SourceRewriter rewriter{[this](TypeId type, std::string_view name, ConfigSource* out) {
    asked.push_back(StrCat(xds::InfoOf(type).name, " ", name));
    out->mutable_path_config_source()->set_path(std::string(name));
  }};
  std::vector<std::string> asked;
};

TEST_F(Sources, OfAClustersEndpointsAreReplaced) {
  const auto made = rewriter.Rewrite(xds::ResourceSet::Of({EdsCluster("a"), EdsCluster("b", "service")}));
  EXPECT_THAT(asked, ElementsAre("EDS a", "EDS service"));
  const auto config = Unpack<Cluster>(made->Find("b")).eds_cluster_config().eds_config();
  EXPECT_EQ(config.path_config_source().path(), "service");
  EXPECT_EQ(config.initial_fetch_timeout().seconds(), 3) << "the rest stays";
  EXPECT_NE(made->hash(), xds::ResourceSet::Of({EdsCluster("a"), EdsCluster("b", "service")})->hash());
}

TEST_F(Sources, DeepInsideAListenerAreReplaced) {
  HttpConnectionManager manager;
  manager.mutable_rds()->set_route_config_name("9080");
  manager.mutable_rds()->mutable_config_source()->mutable_ads();
  auto* filter = manager.add_http_filters();
  filter->set_name("wasm");
  filter->mutable_config_discovery()->mutable_config_source()->mutable_ads();
  envoy::extensions::transport_sockets::tls::v3::DownstreamTlsContext tls;
  auto* secret = tls.mutable_common_tls_context()->add_tls_certificate_sds_secret_configs();
  secret->set_name("kubernetes://cert");
  secret->mutable_sds_config()->mutable_ads();
  Listener listener;
  listener.set_name("l");
  auto* chain = listener.add_filter_chains();
  chain->add_filters()->mutable_typed_config()->PackFrom(manager);
  chain->mutable_transport_socket()->mutable_typed_config()->PackFrom(tls);
  const auto made = rewriter.Rewrite(xds::ResourceSet::Of({Pack("l", listener)}));
  EXPECT_THAT(asked, testing::UnorderedElementsAre("RDS 9080", "ECDS wasm", "SDS kubernetes://cert"));
  HttpConnectionManager read;
  ASSERT_TRUE(Unpack<Listener>(made->Find("l")).filter_chains(0).filters(0).typed_config().UnpackTo(&read));
  EXPECT_EQ(read.rds().config_source().path_config_source().path(), "9080");
}

TEST_F(Sources, OfOtherKindsStayAndUnchangedResourcesKeepTheirPointers) {
  Cluster other;
  other.set_name("sds");
  other.mutable_eds_cluster_config()->mutable_eds_config()->mutable_path_config_source()->set_path("/x");
  const xds::ResourcePtr kept = Pack("sds", other), cluster = EdsCluster("a");
  const auto first = rewriter.Rewrite(xds::ResourceSet::Of({kept, cluster}));
  EXPECT_EQ(first->Find("sds"), kept);
  for (int i = 0; i < 5; ++i) {
    const auto again = rewriter.Rewrite(xds::ResourceSet::Of({kept, cluster, EdsCluster(StrCat("n", i))}));
    EXPECT_EQ(again->Find("a"), first->Find("a"));
  }
}

TEST(SourcesThrough, NameTheTransport) {
  ConfigSource grpc, rest;
  grpc.mutable_ads();
  SourceThrough("xds", Transport::kDeltaGrpc)(TypeId::kEndpoint, "a", &grpc);
  EXPECT_EQ(grpc.api_config_source().api_type(), ApiConfigSource::DELTA_GRPC);
  EXPECT_EQ(grpc.api_config_source().grpc_services(0).envoy_grpc().cluster_name(), "xds");
  SourceThrough("xds", Transport::kRest)(TypeId::kEndpoint, "a", &rest);
  EXPECT_EQ(rest.api_config_source().api_type(), ApiConfigSource::REST);
  EXPECT_THAT(rest.api_config_source().cluster_names(), ElementsAre("xds"));
  EXPECT_GT(rest.api_config_source().request_timeout().seconds(), 1) << "a poll is held";
}

}  // namespace
}  // namespace fairlead::push
