#include "mesh/view/proxy_scope.h"

#include <gmock/gmock.h>

#include "mesh/mesh_fixture.h"
#include "mesh/view/view.h"

namespace fairlead::mesh {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

class ProxyScopeTest : public MeshFixture {
 protected:
  // "hostname:port->target" of each target.
  std::vector<std::string> Targets(const model::ProxyPtr& proxy) {
    std::vector<std::string> texts;
    const ProxyScopePtr scope = ComputeProxyScope(*Build(), proxy);
    for (const ServiceTarget& target : *scope->targets) {
      texts.push_back(
          StrCat(target.service->hostname.str(), ":", target.port->port, "->", target.target_port));
    }
    return texts;
  }
  config::ServiceSpec& SpecOf(const model::ServicePtr& service) {
    return const_cast<config::ServiceSpec&>(service->source->Spec<config::ServiceSpec>());
  }
  void AddExternalTarget(std::string_view ip, const model::ServicePtr& service, uint32_t target,
                         LabelMap labels = {}) {
    model::Workload workload;
    workload.labels = std::move(labels);
    auto& at = registry_.external_targets[ip];
    auto targets = at == nullptr ? model::ExternalTargets() : *at;
    targets.push_back(
        {service, &service->ports[0], target, std::make_shared<const model::Workload>(std::move(workload))});
    at = std::make_shared<const model::ExternalTargets>(std::move(targets));
    registry_.changes.external_targets = true;
  }
  static model::ProxyPtr With(const model::ProxyPtr& proxy,
                              const std::function<void(model::Proxy*)>& change) {
    auto copy = std::make_shared<model::Proxy>(*proxy);
    change(copy.get());
    return copy;
  }
};

TEST_F(ProxyScopeTest, ServicesSelectThePod) {
  AddService("a", "web", {80, 81}, {{"app", "web"}});
  AddService("a", "all", {90}, {{"tier", "front"}})->creation_time = 1;
  AddService("a", "none", {80});
  AddService("a", "db", {80}, {{"app", "db"}});
  AddService("b", "web", {80}, {{"app", "web"}});
  AddPod("a", "web-1", "10.0.0.1", {{"app", "web"}, {"tier", "front"}});
  EXPECT_THAT(Targets(MakeProxy("a", "web-1", "10.9.9.9")),
              ElementsAre("all.a.svc.cluster.local:90->90", "web.a.svc.cluster.local:80->80",
                          "web.a.svc.cluster.local:81->81"))
      << "the pod is found by name, whatever its address";
}

TEST_F(ProxyScopeTest, APodIsItsClustersAndServesTheServicesThere) {
  const auto service = AddService("a", "web", {80}, {{"app", "web"}});
  AddPod("a", "web-1", "10.0.0.1", {{"app", "web"}});
  cluster_ = "east";
  // Of the same name, with another selector and another target.
  const auto there = AddService("a", "web", {80}, {{"app", "other"}});
  SpecOf(there).ports[0].target_port = {8080, ""};
  const auto alone = AddService("a", "alone", {81}, {{"app", "other"}});
  AddPod("a", "web-1", "10.1.0.1", {{"app", "other"}});
  auto joined = std::make_shared<model::Service>(*service);
  joined->in_other_clusters = {there};
  RemoveService(there);
  ReplaceService(service, joined);
  const auto in = [this](const char* cluster, const char* ip) {
    return With(MakeProxy("a", "web-1", ip), [&](model::Proxy* p) { p->metadata.cluster_id = cluster; });
  };
  const std::string own = settings_.cluster_id;
  EXPECT_THAT(Targets(in(own.c_str(), "10.0.0.1")), ElementsAre("web.a.svc.cluster.local:80->80"));
  EXPECT_THAT(Targets(in("east", "10.1.0.1")),
              ElementsAre("alone.a.svc.cluster.local:81->81", "web.a.svc.cluster.local:80->8080"));
  EXPECT_THAT(Targets(in("west", "10.1.0.1")), IsEmpty()) << "no cluster that is known";
  EXPECT_EQ(ComputeProxyScope(*Build(), in("east", "10.1.0.1"))->labels.at("app"), "other");
  EXPECT_EQ(ComputeProxyScope(*Build(), in(own.c_str(), "10.0.0.1"))->labels.at("app"), "web");
}

TEST_F(ProxyScopeTest, EndpointsAreThoseOfItsCluster) {
  const auto service = AddService("a", "manual", {80});
  auto endpoints = std::make_shared<model::ServiceEndpoints>();
  endpoints->shards.resize(1);
  endpoints->shards[0].cluster = "east";
  model::Endpoint& endpoint = endpoints->shards[0].endpoints.emplace_back();
  endpoint.addresses = {"10.0.0.1"};
  endpoint.port_name = "http-80";
  registry_.endpoints[{service->hostname, "a"}] = endpoints;
  AddPod("a", "web-1", "10.0.0.1", {{"app", "web"}});
  EXPECT_THAT(Targets(MakeProxy("a", "web-1", "10.0.0.1")), IsEmpty())
      << "the address is another cluster's pod's";
}

TEST_F(ProxyScopeTest, NamedTargetPortsAreThePods) {
  const auto service = AddService("a", "web", {80, 81, 82, 83}, {{"app", "web"}});
  SpecOf(service).ports[0].target_port = {0, "http"};
  SpecOf(service).ports[1].target_port = {0, "missing"};
  SpecOf(service).ports[2].target_port = {8080, ""};
  SpecOf(service).ports[3].target_port = {9090, ""};
  AddPod("a", "web-1", "10.0.0.1", {{"app", "web"}}, {{"http", 8080}});
  EXPECT_THAT(Targets(MakeProxy("a", "web-1", "10.0.0.1")),
              ElementsAre("web.a.svc.cluster.local:80->8080", "web.a.svc.cluster.local:83->9090"))
      << "a port of the workload is served once for a protocol";
}

TEST_F(ProxyScopeTest, ServicesWithoutSelectorAreFoundByEndpoints) {
  const auto service = AddService("a", "manual", {80});
  auto endpoints = std::make_shared<model::ServiceEndpoints>();
  endpoints->shards.resize(1);
  endpoints->shards[0].cluster = settings_.cluster_id;
  model::Endpoint& endpoint = endpoints->shards[0].endpoints.emplace_back();
  endpoint.addresses = {"10.0.0.1"};
  endpoint.port_name = "http-80";
  endpoint.port = 8000;
  registry_.endpoints[{service->hostname, "a"}] = endpoints;
  AddPod("a", "web-1", "10.0.0.1", {{"app", "web"}});
  EXPECT_THAT(Targets(MakeProxy("a", "web-1", "10.0.0.1")),
              ElementsAre("manual.a.svc.cluster.local:80->8000"));
  EXPECT_THAT(Targets(MakeProxy("a", "web-1", "10.0.0.2")), IsEmpty());
  AddService("a", "selecting", {80}, {{"app", "web"}});
  EXPECT_THAT(Targets(MakeProxy("a", "web-1", "10.0.0.1")),
              ElementsAre("selecting.a.svc.cluster.local:80->80"));
}

TEST_F(ProxyScopeTest, ProxyWithoutPodIsKnownByItsMetadata) {
  const auto service = AddService("a", "web", {80}, {{"app", "web"}});
  const auto proxy = With(MakeProxy("a", "vm", "10.0.0.7"), [](model::Proxy* p) {
    p->metadata.labels = {{"app", "web"}};
  });
  EXPECT_THAT(Targets(proxy), ElementsAre("web.a.svc.cluster.local:80->80"));
  SpecOf(service).ports[0].target_port = {0, "http"};
  EXPECT_THAT(Targets(proxy), ElementsAre("web.a.svc.cluster.local:80->0"));
  EXPECT_THAT(Targets(With(proxy,
                           [](model::Proxy* p) {
                             p->metadata.pod_ports = {{"http", 8080, "TCP"}};
                           })),
              ElementsAre("web.a.svc.cluster.local:80->8080"));
  EXPECT_THAT(Targets(With(proxy,
                           [](model::Proxy* p) {
                             p->metadata.pod_ports = {{"other", 8080, "TCP"}};
                           })),
              IsEmpty());
  EXPECT_THAT(Targets(With(proxy, [](model::Proxy* p) { p->metadata.cluster_id = "elsewhere"; })), IsEmpty());
}

TEST_F(ProxyScopeTest, WorkloadEntryWithTheAddressGoesBeforeThePod) {
  AddService("a", "web", {80}, {{"app", "web"}});
  const auto named = AddService("a", "named", {81}, {{"app", "web"}});
  SpecOf(named).ports[0].target_port = {0, "admin"};
  AddService("a", "headless", {82}, {{"app", "web"}})->resolution = model::Resolution::kPassthrough;
  AddWorkload(Put(config::Kind::kWorkloadEntry, "a", "vm",
                  Parse<istio::networking::v1alpha3::WorkloadEntry>(
                      "ports { key: 'http-80' value: 8000 } ports { key: 'admin' value: 9000 }")),
              "10.0.0.7", {{"app", "web"}});
  AddPod("a", "vm", "10.0.0.7", {});
  EXPECT_THAT(Targets(MakeProxy("a", "vm", "10.0.0.7")),
              ElementsAre("named.a.svc.cluster.local:81->9000", "web.a.svc.cluster.local:80->8000"));
}

TEST_F(ProxyScopeTest, ServiceEntriesAreFoundByAddressInTheProxysNamespace) {
  const auto entry = AddExternal("a", "x.com", {80}, 5);
  AddExternalTarget("10.0.0.7", entry, 8080);
  AddExternalTarget("10.0.0.7", AddExternal("b", "y.com", {80}), 8080);
  AddService("a", "web", {80}, {{"app", "web"}});
  AddPod("a", "web-1", "10.0.0.7", {{"app", "web"}});
  const auto proxy = MakeProxy("a", "web-1", "10.0.0.7");
  EXPECT_THAT(Targets(proxy), ElementsAre("x.com:80->8080", "web.a.svc.cluster.local:80->80"))
      << "older first";
  EXPECT_THAT(Targets(With(proxy, [](model::Proxy* p) { p->ip_addresses = {"10.0.0.8"}; })),
              ElementsAre("web.a.svc.cluster.local:80->80"));
}

TEST_F(ProxyScopeTest, PodsMayBeFoundByAddress) {
  AddService("a", "web", {80}, {{"app", "web"}});
  AddPod("a", "web-1", "10.0.0.1", {{"app", "web"}});
  AddPod("b", "host-1", "10.0.0.2", {{"app", "web"}});
  AddPod("a", "host-1", "10.0.0.2", {{"app", "web"}});
  EXPECT_THAT(Targets(MakeProxy("a", "other", "10.0.0.1")), IsEmpty());
  settings_.features.pods_by_address = true;
  SetSettings();
  EXPECT_THAT(Targets(MakeProxy("a", "other", "10.0.0.1")), ElementsAre("web.a.svc.cluster.local:80->80"));
  EXPECT_THAT(Targets(MakeProxy("a", "other", "10.0.0.2")), ElementsAre("web.a.svc.cluster.local:80->80"));
  EXPECT_THAT(Targets(MakeProxy("a", "other", "10.0.0.3")), IsEmpty());
  const ProxyScopePtr scope = ComputeProxyScope(*Build(), MakeProxy("a", "other", "10.0.0.1"));
  EXPECT_THAT(scope->labels, testing::Contains(Pair("app", "web")));
}

TEST_F(ProxyScopeTest, ProxiesThatSendNothingOutHaveTheDefaultPolicyForIt) {
  for (const model::ProxyType type : {model::ProxyType::kWaypoint, model::ProxyType::kZtunnel}) {
    const auto proxy = With(MakeProxy("a", "w", "10.0.0.1"), [&](model::Proxy* p) { p->type = type; });
    const SnapshotPtr snapshot = Build();
    const ProxyScopePtr scope = ComputeProxyScope(*snapshot, proxy);
    View view({*snapshot, scope.get()});
    EXPECT_FALSE(view.outbound_policy().has_egress_proxy());
  }
}

TEST_F(ProxyScopeTest, LabelsAndLocalityAreThePods) {
  AddPod("a", "web-1", "10.0.0.1", {{"app", "web"}}, {}, model::Locality{"r", "z", ""});
  const auto proxy = With(MakeProxy("a", "web-1", "10.0.0.1"), [](model::Proxy* p) {
    p->metadata.labels = {{"app", "metadata"}, {"x", "y"}};
    p->metadata.static_labels = {{"app", "static"}, {"static", "s"}};
    p->metadata.node_name = "node1";
    p->metadata.network = "net";
    p->node_locality = {"node", "", ""};
  });
  const ProxyScopePtr scope = ComputeProxyScope(*Build(), proxy);
  EXPECT_EQ(scope->locality, (model::Locality{"r", "z", ""}));
  EXPECT_THAT(
      scope->labels,
      ElementsAre(Pair("app", "web"), Pair("kubernetes.io/hostname", "node1"), Pair("static", "s"),
                  Pair("topology.istio.io/cluster", "Kubernetes"), Pair("topology.istio.io/network", "net"),
                  Pair("topology.kubernetes.io/region", "r"), Pair("topology.kubernetes.io/zone", "z")));
}

TEST_F(ProxyScopeTest, LabelsAndLocalityFallBackToTheNode) {
  const auto proxy = With(MakeProxy("a", "web-1", "10.0.0.1"), [](model::Proxy* p) {
    p->metadata.labels = {{"x", "y"}};
    p->metadata.cluster_id = "";
    p->node_locality = {"node", "zone", "sub"};
  });
  const ProxyScopePtr scope = ComputeProxyScope(*Build(), proxy);
  EXPECT_EQ(scope->locality, proxy->node_locality);
  EXPECT_EQ(LabelOr(scope->labels, "topology.istio.io/subzone"), "sub");
  const auto labelled = With(proxy, [](model::Proxy* p) { p->metadata.labels["istio-locality"] = "r/z"; });
  EXPECT_EQ(ComputeProxyScope(*Build(), labelled)->locality, (model::Locality{"r", "z", ""}));
}

TEST_F(ProxyScopeTest, EntryTargetsGiveLabelsToProxiesWithoutPod) {
  AddExternalTarget("10.0.0.7", AddExternal("a", "x.com", {80}), 8080, {{"app", "entry"}});
  EXPECT_EQ(LabelOr(ComputeProxyScope(*Build(), MakeProxy("a", "vm", "10.0.0.7"))->labels, "app"), "entry");
}

TEST_F(ProxyScopeTest, FindsScopePolicyAndProxyConfig) {
  PutSidecar("a", "s", "workload_selector { labels { key: 'app' value: 'web' } }");
  PutPeerAuthentication("a", "p",
                        "selector { match_labels { key: 'app' value: 'web' } } mtls { mode: STRICT }");
  AddPod("a", "web-1", "10.0.0.1", {{"app", "web"}});
  const SnapshotPtr snapshot = Build();
  const auto proxy = MakeProxy("a", "web-1", "10.0.0.1");
  const ProxyScopePtr scope = ComputeProxyScope(*snapshot, proxy);
  EXPECT_EQ(scope->sidecar, ScopeFor(*snapshot, "a", {{"app", "web"}}));
  EXPECT_NE(scope->sidecar->imports->object, nullptr);
  EXPECT_EQ(scope->peer_authentication->mode, MutualTlsMode::kStrict);
  const auto router = With(proxy, [](model::Proxy* p) { p->type = model::ProxyType::kRouter; });
  EXPECT_EQ(ComputeProxyScope(*snapshot, router)->sidecar->imports->object, nullptr);
}

TEST_F(ProxyScopeTest, TakesOverWhatDidNotChange) {
  const auto service = AddService("a", "web", {80}, {{"app", "web"}});
  AddPod("a", "web-1", "10.0.0.1", {{"app", "web"}});
  const auto proxy = MakeProxy("a", "web-1", "10.0.0.1");
  const ProxyScopePtr first = ComputeProxyScope(*Build(), proxy);
  registry_.endpoints[{service->hostname, "a"}] = std::make_shared<model::ServiceEndpoints>();
  registry_.changes.endpoints = {{service->hostname, "a"}};
  EXPECT_EQ(ComputeProxyScope(*Build(), proxy, first), first) << "endpoints do not matter to it";
  PutVirtualService("a", "v", "hosts: 'x.com'");
  const ProxyScopePtr routed = ComputeProxyScope(*Build(), proxy, first);
  EXPECT_NE(routed->sidecar, first->sidecar);
  EXPECT_EQ(routed->targets->size(), 1u);
  PutPeerAuthentication("a", "p", "mtls { mode: STRICT }");
  const ProxyScopePtr strict = ComputeProxyScope(*Build(), proxy, routed);
  EXPECT_EQ(strict->peer_authentication->mode, MutualTlsMode::kStrict);
  EXPECT_EQ(strict->sidecar, routed->sidecar);
  AddService("a", "second", {81}, {{"app", "web"}});
  EXPECT_EQ(ComputeProxyScope(*Build(), proxy, strict)->targets->size(), 2u);
  const auto other = MakeProxy("b", "web-1", "10.0.0.1");
  EXPECT_EQ(ComputeProxyScope(*Build(), other, strict)->proxy, other);
}

TEST_F(ProxyScopeTest, FollowsEndpointsWhereTheTargetsCameFromThem) {
  const auto service = AddService("a", "manual", {80});
  AddPod("a", "web-1", "10.0.0.1", {{"app", "web"}});
  const auto proxy = MakeProxy("a", "web-1", "10.0.0.1");
  const ProxyScopePtr none = ComputeProxyScope(*Build(), proxy);
  EXPECT_THAT(*none->targets, IsEmpty());
  auto endpoints = std::make_shared<model::ServiceEndpoints>();
  endpoints->shards.resize(1);
  endpoints->shards[0].cluster = settings_.cluster_id;
  model::Endpoint& endpoint = endpoints->shards[0].endpoints.emplace_back();
  endpoint.addresses = {"10.0.0.1"};
  endpoint.port_name = "http-80";
  registry_.endpoints[{service->hostname, "a"}] = endpoints;
  registry_.changes.endpoints = {{service->hostname, "a"}};
  EXPECT_EQ(ComputeProxyScope(*Build(), proxy, none)->targets->size(), 1u);
}

}  // namespace
}  // namespace fairlead::mesh
