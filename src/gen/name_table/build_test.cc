#include "gen/name_table/build.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "istio/networking/nds/v1/nds.pb.h"

namespace fairlead::gen {
namespace {

using istio::networking::nds::v1::NameTable;
using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

std::shared_ptr<model::Service> TestService(std::string_view host, std::vector<std::string> vips,
                                            model::Registry registry = model::Registry::kKubernetes) {
  auto out = std::make_shared<model::Service>();
  out->registry = registry;
  out->hostname = host;
  out->name = host.substr(0, host.find('.'));
  out->ns = "default";
  if (!vips.empty()) out->address = vips.front();
  if (registry == model::Registry::kKubernetes) out->cluster_vips = std::move(vips);
  out->ports.push_back({"http", 80, model::Protocol::kHttp, 80, "", 0});
  return out;
}

std::shared_ptr<model::Service> Headless(std::string_view host) {
  auto out = TestService(host, {});
  out->resolution = model::Resolution::kPassthrough;
  return out;
}

struct Pod {
  const char* ip;
  const char* hostname = "";
  const char* cluster = "east";
  const char* network = "";
  model::Health health = model::Health::kHealthy;
};

model::ServiceEndpointsPtr Endpoints(const std::vector<Pod>& pods) {
  auto out = std::make_shared<model::ServiceEndpoints>();
  model::EndpointShard& shard = out->shards.emplace_back();
  for (const Pod& pod : pods) {
    auto workload = std::make_shared<model::Workload>();
    workload->hostname = pod.hostname;
    workload->subdomain = *pod.hostname == '\0' ? "" : "db";
    workload->cluster = pod.cluster;
    workload->network = pod.network;
    model::Endpoint& endpoint = shard.endpoints.emplace_back();
    endpoint.addresses = {pod.ip};
    endpoint.port_name = "http";
    endpoint.health = pod.health;
    endpoint.workload = std::move(workload);
  }
  return out;
}

class NameTableTest : public ::testing::Test {
 protected:
  NameTableTest() { inputs_.client.cluster = "east"; }

  void Add(model::ServicePtr service, model::ServiceEndpointsPtr endpoints = nullptr) {
    inputs_.services.push_back({std::move(service), std::move(endpoints)});
  }
  NameTable Build() {
    NameTable table;
    BuildNameTable(inputs_, &table);
    return table;
  }
  static std::vector<std::string> Ips(const NameTable& table, const std::string& host) {
    const auto found = table.table().find(host);
    if (found == table.table().end()) return {"absent"};
    return {found->second.ips().begin(), found->second.ips().end()};
  }

  NameTableInputs inputs_;
};

TEST_F(NameTableTest, ServicesHaveTheirAddressesAndShortNames) {
  inputs_.client.addresses.ipv6 = true;
  Add(TestService("web.default.svc.cluster.local", {"10.0.0.1", "fd00::1"}));
  Add(TestService("ext.com", {"192.0.2.1"}, model::Registry::kExternal));
  Add(TestService("range.com", {"192.0.2.0/24"}, model::Registry::kExternal));
  const NameTable table = Build();
  EXPECT_EQ(table.table().size(), 2u);
  EXPECT_THAT(Ips(table, "web.default.svc.cluster.local"), ElementsAre("10.0.0.1"));
  const auto& web = table.table().at("web.default.svc.cluster.local");
  EXPECT_EQ(web.registry(), "Kubernetes");
  EXPECT_EQ(web.shortname(), "web");
  EXPECT_EQ(web.namespace_(), "default");
  const auto& external = table.table().at("ext.com");
  EXPECT_EQ(external.registry(), "External");
  EXPECT_EQ(external.shortname(), "");
}

TEST_F(NameTableTest, WithDualStackServicesHaveAddressesOfBothFamilies) {
  inputs_.client.addresses.ipv6 = true;
  inputs_.client.addresses.both_families = true;
  Add(TestService("web.default.svc.cluster.local", {"10.0.0.1", "fd00::1"}));
  EXPECT_THAT(Ips(Build(), "web.default.svc.cluster.local"), ElementsAre("10.0.0.1", "fd00::1"));
}

TEST_F(NameTableTest, AllocatedAddressesCountForClientsThatCaptureDns) {
  auto service = TestService("ext.com", {}, model::Registry::kExternal);
  service->auto_allocated_ipv4 = "240.240.0.1";
  Add(service);
  EXPECT_EQ(Build().table().size(), 0u);
  inputs_.client.addresses.auto_allocated = true;
  EXPECT_THAT(Ips(Build(), "ext.com"), ElementsAre("240.240.0.1"));
}

TEST_F(NameTableTest, ServicesOfOneHostUniteOrGiveWayToKubernetes) {
  Add(TestService("a.com", {"192.0.2.1"}, model::Registry::kExternal));
  Add(TestService("a.com", {"192.0.2.2"}, model::Registry::kExternal));
  EXPECT_THAT(Ips(Build(), "a.com"), ElementsAre("192.0.2.1", "192.0.2.2"));
  Add(TestService("a.com", {"10.0.0.1"}));
  Add(TestService("a.com", {"192.0.2.3"}, model::Registry::kExternal));
  const NameTable table = Build();
  EXPECT_THAT(Ips(table, "a.com"), ElementsAre("10.0.0.1"));
  EXPECT_EQ(table.table().at("a.com").registry(), "Kubernetes");
}

TEST_F(NameTableTest, HeadlessServicesResolveToReadyPodsOfTheNetwork) {
  inputs_.client.network = "n1";
  Add(Headless("db.default.svc.cluster.local"),
      Endpoints({{.ip = "10.1.0.1"},
                 {.ip = "10.1.0.1"},
                 {.ip = "10.1.0.2", .health = model::Health::kUnhealthy},
                 {.ip = "10.1.0.3", .network = "n2"},
                 {.ip = "10.1.0.4", .network = "n1"},
                 {.ip = "/socket"},
                 {.ip = "10.1.0.5", .cluster = "west"}}));
  EXPECT_THAT(Ips(Build(), "db.default.svc.cluster.local"), ElementsAre("10.1.0.1", "10.1.0.4", "10.1.0.5"));
}

TEST_F(NameTableTest, HeadlessServicesMayResolveInTheOwnClusterAlone) {
  inputs_.client.headless_of_all_clusters = false;
  Add(Headless("db.default.svc.cluster.local"),
      Endpoints({{.ip = "10.1.0.1", .hostname = "db-0"},
                 {.ip = "10.1.0.2", .cluster = ""},
                 {.ip = "10.2.0.1", .hostname = "db-1", .cluster = "west"}}));
  const NameTable table = Build();
  EXPECT_THAT(Ips(table, "db.default.svc.cluster.local"), ElementsAre("10.1.0.1", "10.1.0.2"));
  EXPECT_THAT(Ips(table, "db-1.db.default.svc.cluster.local"), ElementsAre("10.2.0.1"));
}

TEST_F(NameTableTest, PodsThatAreNotReadyArePublishedOnDemand) {
  auto service = Headless("db.default.svc.cluster.local");
  service->publish_not_ready_addresses = true;
  Add(service, Endpoints({{.ip = "10.1.0.2", .health = model::Health::kUnhealthy}}));
  EXPECT_THAT(Ips(Build(), "db.default.svc.cluster.local"), ElementsAre("10.1.0.2"));
}

TEST_F(NameTableTest, PodsWithAHostnameHaveNamesAndTheOwnClusterWins) {
  Add(Headless("db.default.svc.cluster.local"),
      Endpoints({{.ip = "10.1.0.1", .hostname = "db-0"},
                 {.ip = "10.2.0.1", .hostname = "db-0", .cluster = "west"},
                 {.ip = "10.2.0.2", .hostname = "db-1", .cluster = "west"}}));
  const NameTable table = Build();
  EXPECT_THAT(Ips(table, "db-0.db.default.svc.cluster.local"), ElementsAre("10.1.0.1"));
  EXPECT_THAT(Ips(table, "db-1.db.default.svc.cluster.local"), ElementsAre("10.2.0.2"));
  EXPECT_EQ(table.table().at("db-0.db.default.svc.cluster.local").shortname(), "db-0.db");
  EXPECT_THAT(Ips(table, "db.default.svc.cluster.local"),
              UnorderedElementsAre("10.1.0.1", "10.2.0.1", "10.2.0.2"));
}

}  // namespace
}  // namespace fairlead::gen
