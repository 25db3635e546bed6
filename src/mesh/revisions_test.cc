#include "mesh/mesh_fixture.h"
#include "mesh/proxy_scope.h"

// What says that nothing changed must be right, and should not say less than it could.
namespace fairlead::mesh {
namespace {

constexpr const char* kHost = "web.shop.svc.cluster.local";

class RevisionsTest : public MeshFixture {
 protected:
  // The endpoints of web: a weight and the mode of mutual TLS for each.
  void SetEndpoints(const std::vector<std::pair<uint32_t, std::string>>& all) {
    auto endpoints = std::make_shared<model::ServiceEndpoints>();
    endpoints->shards.resize(1);
    for (const auto& [weight, tls_mode] : all) {
      auto workload = std::make_shared<model::Workload>();
      workload->tls_mode = tls_mode;
      model::Endpoint& endpoint = endpoints->shards[0].endpoints.emplace_back();
      endpoint.weight = weight;
      endpoint.workload = std::move(workload);
    }
    registry_.endpoints[{kHost, "shop"}] = std::move(endpoints);
    registry_.changes.endpoints = {{kHost, "shop"}};
  }
  SidecarScopePtr Scope() { return Build()->ScopeFor("shop", {}); }
  void PutRoute(const std::string& text) { PutVirtualService("shop", "web", StrCat("hosts: 'web' ", text)); }
};

TEST_F(RevisionsTest, ClustersDependOnFewTraitsOfEndpoints) {
  AddService("shop", "web", {80});
  SetEndpoints({{1, "istio"}});
  const InputRevisions first = Build()->revisions;
  SetEndpoints({{2, "istio"}, {3, "istio"}});
  const InputRevisions more = Build()->revisions;
  EXPECT_GT(more.endpoints, first.endpoints);
  EXPECT_EQ(more.endpoint_traits, first.endpoint_traits);
  EXPECT_EQ(more.passthrough_endpoints, first.passthrough_endpoints);
  EXPECT_EQ(more.services, first.services);
  SetEndpoints({{2, "istio"}, {3, "disabled"}});
  EXPECT_GT(Build()->revisions.endpoint_traits, more.endpoint_traits);
}

TEST_F(RevisionsTest, TheIdentitiesOfEndpointsAreTraits) {
  AddService("shop", "web", {80});
  SetEndpoints({{1, "istio"}});
  const uint64_t before = Build()->revisions.endpoint_traits;
  auto endpoints = std::make_shared<model::ServiceEndpoints>(*registry_.endpoints[{kHost, "shop"}]);
  endpoints->service_accounts = {"spiffe://cluster.local/ns/shop/sa/web"};
  registry_.endpoints[{kHost, "shop"}] = std::move(endpoints);
  registry_.changes.endpoints = {{kHost, "shop"}};
  EXPECT_GT(Build()->revisions.endpoint_traits, before);
}

TEST_F(RevisionsTest, EndpointsOfHeadlessServicesCountForListeners) {
  AddService("shop", "web", {80})->resolution = model::Resolution::kPassthrough;
  SetEndpoints({{1, "istio"}});
  const InputRevisions before = Build()->revisions;
  SetEndpoints({{2, "istio"}});
  const InputRevisions after = Build()->revisions;
  EXPECT_GT(after.passthrough_endpoints, before.passthrough_endpoints);
  EXPECT_EQ(after.endpoint_traits, before.endpoint_traits);
}

TEST_F(RevisionsTest, AllOfTheEndpointsOfADnsServiceIsInItsCluster) {
  AddService("shop", "web", {80})->resolution = model::Resolution::kDnsLb;
  SetEndpoints({{1, "istio"}});
  const uint64_t before = Build()->revisions.endpoint_traits;
  SetEndpoints({{2, "istio"}});
  EXPECT_GT(Build()->revisions.endpoint_traits, before);
}

TEST_F(RevisionsTest, HttpRoutesAreNoPartOfWhatAScopeImports) {
  AddService("shop", "web", {80});
  AddService("shop", "other", {80});
  PutRoute("http { route { destination { host: 'web' } } }");
  const SidecarScopePtr first = Scope();
  PutRoute("http { timeout { seconds: 1 } route { destination { host: 'web' } } }");
  const SidecarScopePtr second = Scope();
  EXPECT_NE(second, first);
  EXPECT_NE(second->id, first->id);
  EXPECT_EQ(second->imports_id, first->imports_id);
  PutRoute("tcp { route { destination { host: 'web' } } }");
  const SidecarScopePtr third = Scope();
  EXPECT_NE(third->imports_id, first->imports_id) << "listeners hold such routes";
  PutRoute("tcp { route { destination { host: 'other' } } }");
  EXPECT_NE(Scope()->imports_id, third->imports_id);
}

TEST_F(RevisionsTest, ServicesAndRulesAreImports) {
  AddService("shop", "web", {80});
  const SidecarScopePtr first = Scope();
  PutDestinationRule("shop", "web", "host: 'web' subsets { name: 'v1' }");
  const SidecarScopePtr second = Scope();
  EXPECT_NE(second->imports_id, first->imports_id);
  AddService("shop", "other", {80});
  EXPECT_NE(Scope()->imports_id, second->imports_id);
}

TEST_F(RevisionsTest, AWorkloadsOwnPartOutlivesWhatOthersChange) {
  AddService("shop", "web", {80}, {{"app", "web"}});
  AddPod("shop", "web-1", "10.0.0.1", {{"app", "web"}});
  const model::ProxyPtr proxy = MakeProxy("shop", "web-1", "10.0.0.1");
  const ProxyScopePtr first = ComputeProxyScope(*Build(), proxy);
  AddService("shop", "other", {80});
  PutRoute("http { route { destination { host: 'other' } } }");
  const ProxyScopePtr second = ComputeProxyScope(*Build(), proxy, first);
  EXPECT_NE(second, first);
  EXPECT_EQ(second->own_id, first->own_id);
  PutPeerAuthentication("shop", "strict", "mtls { mode: STRICT }");
  const ProxyScopePtr third = ComputeProxyScope(*Build(), proxy, second);
  EXPECT_NE(third->own_id, first->own_id);
  PutDestinationRule("shop", "web",
                     "host: 'web' traffic_policy { connection_pool { tcp { max_connections: 1 } } }");
  const ProxyScopePtr fourth = ComputeProxyScope(*Build(), proxy, third);
  EXPECT_NE(fourth->own_id, third->own_id) << "a rule for its own host is in its inbound clusters";
  PutSidecar("shop", "default", "egress { hosts: './*' }");
  EXPECT_NE(ComputeProxyScope(*Build(), proxy, fourth)->own_id, fourth->own_id);
}

}  // namespace
}  // namespace fairlead::mesh
