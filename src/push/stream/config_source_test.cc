#include "push/stream/config_source.h"

#include <gmock/gmock.h>
#include <google/protobuf/any.pb.h>
#include <gtest/gtest.h>

#include "base/hash.h"
#include "envoy/config/cluster/v3/cluster.pb.h"
#include "envoy/config/listener/v3/listener.pb.h"
#include "envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager.pb.h"
#include "envoy/extensions/transport_sockets/tls/v3/tls.pb.h"

namespace fairlead::push {
namespace {

using envoy::config::cluster::v3::Cluster;
using envoy::config::core::v3::ApiConfigSource;
using envoy::config::listener::v3::Listener;
using envoy::extensions::filters::network::http_connection_manager::v3::HttpConnectionManager;
using testing::ElementsAre;
using Kind = model::ConfigSource::Kind;

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

xds::ResourceListPtr ListOf(std::vector<xds::ResourcePtr> resources) {
  return xds::ResourceList::Of(std::move(resources));
}

xds::ResourcePtr Find(const xds::ResourceListPtr& list, std::string_view name) {
  for (const xds::ResourcePtr& resource : list->resources()) {
    if (resource->name.str() == name) return resource;
  }
  return nullptr;
}

class ConfigSourcesTest : public testing::Test {
 protected:
  const model::ConfigSource files_{Kind::kFiles, "/out"};
  ConfigSources sources_;
};

TEST_F(ConfigSourcesTest, OfAClustersEndpointsAreReplaced) {
  const auto before = ListOf({EdsCluster("a"), EdsCluster("b", "service|1")});
  const auto made = sources_.Apply(files_, before);
  const auto of = [&](const char* name) {
    return Unpack<Cluster>(Find(made, name)).eds_cluster_config().eds_config();
  };
  EXPECT_EQ(of("a").path_config_source().path(), "/out/eds/a.json");
  EXPECT_EQ(of("b").path_config_source().path(), "/out/eds/service%7C1.json");
  EXPECT_EQ(of("b").initial_fetch_timeout().seconds(), 3) << "the rest stays";
  EXPECT_NE(made->hash(), before->hash());
}

TEST_F(ConfigSourcesTest, DeepInsideAListenerAreReplaced) {
  HttpConnectionManager manager;
  manager.mutable_rds()->set_route_config_name("9080");
  manager.mutable_rds()->mutable_config_source()->mutable_ads();
  auto* filter = manager.add_http_filters();
  filter->set_name("wasm");
  filter->mutable_config_discovery()->mutable_config_source()->mutable_ads();
  envoy::extensions::transport_sockets::tls::v3::DownstreamTlsContext tls;
  auto* secret = tls.mutable_common_tls_context()->add_tls_certificate_sds_secret_configs();
  secret->set_name("cert");
  secret->mutable_sds_config()->mutable_ads();
  Listener listener;
  listener.set_name("l");
  auto* chain = listener.add_filter_chains();
  chain->add_filters()->mutable_typed_config()->PackFrom(manager);
  chain->mutable_transport_socket()->mutable_typed_config()->PackFrom(tls);
  const auto made = Unpack<Listener>(Find(sources_.Apply(files_, ListOf({Pack("l", listener)})), "l"));
  HttpConnectionManager read;
  ASSERT_TRUE(made.filter_chains(0).filters(0).typed_config().UnpackTo(&read));
  EXPECT_EQ(read.rds().config_source().path_config_source().path(), "/out/rds/9080.json");
  EXPECT_EQ(read.http_filters(0).config_discovery().config_source().path_config_source().path(),
            "/out/ecds/wasm.json");
  ASSERT_TRUE(made.filter_chains(0).transport_socket().typed_config().UnpackTo(&tls));
  EXPECT_EQ(
      tls.common_tls_context().tls_certificate_sds_secret_configs(0).sds_config().path_config_source().path(),
      "/out/sds/cert.json");
}

TEST_F(ConfigSourcesTest, OfOtherKindsStayAndUnchangedResourcesKeepTheirPointers) {
  Cluster other;
  other.set_name("sds");
  other.mutable_eds_cluster_config()->mutable_eds_config()->mutable_path_config_source()->set_path("/x");
  const xds::ResourcePtr kept = Pack("sds", other), cluster = EdsCluster("a");
  const auto first = sources_.Apply(files_, ListOf({kept, cluster}));
  EXPECT_EQ(Find(first, "sds"), kept);
  EXPECT_EQ(sources_.Apply(files_, ListOf({kept}))->resources().front(), kept);
  const auto again = sources_.Apply(files_, ListOf({kept, cluster, EdsCluster("new")}));
  EXPECT_EQ(Find(again, "a"), Find(first, "a"));
}

TEST_F(ConfigSourcesTest, AreKeptApart) {
  const auto list = ListOf({EdsCluster("a")});
  EXPECT_EQ(sources_.Apply({}, list), list) << "ADS";
  const auto files = sources_.Apply(files_, list);
  EXPECT_NE(sources_.Apply({Kind::kFiles, "/other"}, list)->hash(), files->hash());
  EXPECT_EQ(sources_.Apply(files_, list)->hash(), files->hash());
}

TEST_F(ConfigSourcesTest, NameTheTransport) {
  const auto of = [&](Kind kind) {
    const auto made = sources_.Apply({kind, "xds"}, ListOf({EdsCluster("a")}));
    return Unpack<Cluster>(made->resources().front()).eds_cluster_config().eds_config().api_config_source();
  };
  EXPECT_EQ(of(Kind::kGrpc).api_type(), ApiConfigSource::GRPC);
  EXPECT_EQ(of(Kind::kDeltaGrpc).api_type(), ApiConfigSource::DELTA_GRPC);
  EXPECT_EQ(of(Kind::kDeltaGrpc).grpc_services(0).envoy_grpc().cluster_name(), "xds");
  EXPECT_EQ(of(Kind::kRest).api_type(), ApiConfigSource::REST);
  EXPECT_THAT(of(Kind::kRest).cluster_names(), ElementsAre("xds"));
  EXPECT_GT(of(Kind::kRest).request_timeout().seconds(), 1) << "a poll is held";
}

}  // namespace
}  // namespace fairlead::push
