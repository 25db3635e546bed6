#include "xds/references.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "envoy/config/cluster/v3/cluster.pb.h"
#include "envoy/config/listener/v3/listener.pb.h"
#include "envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager.pb.h"
#include "xds/referred_names.h"

namespace fairlead::xds {
namespace {

using envoy::config::cluster::v3::Cluster;
using envoy::config::listener::v3::Listener;
using envoy::extensions::filters::network::http_connection_manager::v3::HttpConnectionManager;
using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::pair<TypeId, std::string>> Read(TypeId type, const google::protobuf::Message& message) {
  google::protobuf::Any any;
  any.PackFrom(message);
  const std::string bytes = any.SerializeAsString();
  std::vector<std::pair<TypeId, std::string>> found;
  for (const Reference& reference : ReferencesOf(type, bytes))
    found.emplace_back(reference.type, reference.name);
  return found;
}

TEST(References, OfClusters) {
  Cluster cluster;
  cluster.set_name("a");
  EXPECT_THAT(Read(TypeId::kCluster, cluster), IsEmpty());
  cluster.set_type(Cluster::EDS);
  EXPECT_THAT(Read(TypeId::kCluster, cluster), ElementsAre(std::pair(TypeId::kEndpoint, "a")));
  cluster.mutable_eds_cluster_config()->set_service_name("b");
  EXPECT_THAT(Read(TypeId::kCluster, cluster), ElementsAre(std::pair(TypeId::kEndpoint, "b")));
}

TEST(References, OfListeners) {
  HttpConnectionManager manager;
  manager.mutable_rds()->set_route_config_name("80");
  manager.add_http_filters()->set_name("inline");
  auto* filter = manager.add_http_filters();
  filter->set_name("found");
  filter->mutable_config_discovery();
  HttpConnectionManager inlined;
  inlined.mutable_route_config()->set_name("not asked for");
  Listener listener;
  auto* chain = listener.add_filter_chains();
  auto* network = chain->add_filters();
  network->set_name("network");
  network->mutable_config_discovery();
  chain->add_filters()->mutable_typed_config()->PackFrom(inlined);
  listener.mutable_default_filter_chain()->add_filters()->mutable_typed_config()->PackFrom(manager);
  EXPECT_THAT(Read(TypeId::kListener, listener),
              ElementsAre(std::pair(TypeId::kExtension, "network"), std::pair(TypeId::kRoute, "80"),
                          std::pair(TypeId::kExtension, "found")));
}

TEST(References, OfListenersOfGrpcClients) {
  HttpConnectionManager manager;
  manager.mutable_rds()->set_route_config_name("80");
  Listener listener;
  listener.mutable_api_listener()->mutable_api_listener()->PackFrom(manager);
  EXPECT_THAT(Read(TypeId::kListener, listener), ElementsAre(std::pair(TypeId::kRoute, "80")));
}

TEST(References, NamesOfOneTypeAreSortedAndUnique) {
  std::vector<cache::ResourcePtr> clusters;
  for (const char* name : {"b", "a", "b"}) {
    Cluster cluster;
    cluster.set_name(name);
    cluster.set_type(Cluster::EDS);
    google::protobuf::Any any;
    any.PackFrom(cluster);
    clusters.push_back(
        std::make_shared<cache::Resource>(cache::Resource{Interned(name), 0, any.SerializeAsString()}));
  }
  EXPECT_THAT(ReferredNames(TypeId::kCluster, clusters, TypeId::kEndpoint), ElementsAre("a", "b"));
  EXPECT_THAT(ReferredNames(TypeId::kCluster, clusters, TypeId::kRoute), IsEmpty());
}

TEST(References, OfWhatCannotBeRead) {
  EXPECT_THAT(ReferencesOf(TypeId::kCluster, "\xff\xff"), IsEmpty());
  EXPECT_THAT(ReferencesOf(TypeId::kListener, ""), IsEmpty());
  EXPECT_THAT(ReferencesOf(TypeId::kRoute, "x"), IsEmpty());
}

}  // namespace
}  // namespace fairlead::xds
