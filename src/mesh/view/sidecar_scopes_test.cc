#include "mesh/view/sidecar_scopes.h"

#include <chrono>
#include <functional>

#include "mesh/mesh_fixture.h"

// Scopes outlive what they do not see, unmade: and nothing else.
namespace fairlead::mesh {
namespace {

// Clients in "shop", which imports itself and "lib", in a mesh where things happen elsewhere too.
class SidecarScopesTest : public MeshFixture {
 protected:
  void SetUp() override {
    PutSidecar("shop", "default", "egress { hosts: './*' hosts: 'lib/*' }");
    for (const char* ns : {"shop", "lib", "other"}) AddService(ns, "web", {80});
    PutRoute("shop", "web.shop.svc.cluster.local", "web.shop.svc.cluster.local");
    Look();
  }

  // A virtual service "route" with one HTTP route.
  void PutRoute(std::string_view ns, std::string_view host, std::string_view destination,
                std::string_view more = "") {
    PutVirtualService(
        ns, "route",
        StrCat("hosts: '", host, "' http { route { destination { host: '", destination, "' } } } ", more));
  }

  // What a client in the namespace sees now, and whether its scope had to be made to know.
  struct Sight {
    SidecarScopePtr scope;
    uint64_t builds = 0;  // so far
  };
  Sight Look() {
    const SnapshotPtr snapshot = Build();
    SidecarScopePtr scope = ScopeFor(*snapshot, "shop");
    return {std::move(scope), snapshot->scopes->builds()};
  }
  void ExpectUntouchedBy(const char* what, const std::function<void()>& change) {
    const Sight before = Look();
    change();
    const Sight after = Look();
    EXPECT_EQ(after.scope, before.scope) << what;
    EXPECT_EQ(after.builds, before.builds) << what;
  }
  // `imports`: whether clusters, endpoints or listeners may be others now.
  void ExpectChangedBy(const char* what, bool imports, const std::function<void()>& change) {
    const Sight before = Look();
    change();
    const Sight after = Look();
    EXPECT_NE(after.scope, before.scope) << what;
    EXPECT_EQ(after.scope->imports != before.scope->imports, imports) << what;
  }
  void PutEndpoints(const std::string& host, const std::string& ns) {
    registry_.endpoints[{host, ns}] = std::make_shared<model::ServiceEndpoints>();
    registry_.changes.endpoints = {{host, ns}};
  }
};

TEST_F(SidecarScopesTest, WhatHappensElsewhereMakesNoScopeAnew) {
  ExpectUntouchedBy("a route", [&] { PutRoute("other", "web.other.svc.cluster.local", "web"); });
  ExpectUntouchedBy("a route for a host of shop, which it does not import from there",
                    [&] { PutRoute("other", "web.shop.svc.cluster.local", "web"); });
  ExpectUntouchedBy("a rule", [&] { PutDestinationRule("other", "rule", "host: '*'"); });
  model::ServicePtr added;
  ExpectUntouchedBy("a service", [&] { added = AddService("other", "api", {80}); });
  ExpectUntouchedBy("its end", [&] { RemoveService(added); });
  ExpectUntouchedBy("a service entry", [&] { AddExternal("other", "www.example.com", {443}); });
  ExpectUntouchedBy("endpoints", [&] { PutEndpoints("web.other.svc.cluster.local", "other"); });
  ExpectUntouchedBy("a Sidecar", [&] { PutSidecar("other", "default", "egress { hosts: './*' }"); });
  ExpectUntouchedBy("a policy", [&] { PutPeerAuthentication("other", "strict", "mtls { mode: STRICT }"); });
  ExpectUntouchedBy("a pod", [&] { AddPod("shop", "web-1", "10.0.0.1", {}); });
}

TEST_F(SidecarScopesTest, ServicesOfTheImportedNamespacesCount) {
  model::ServicePtr added;
  ExpectChangedBy("new", true, [&] { added = AddService("lib", "api", {80}); });
  ExpectChangedBy("changed", true, [&] {
    auto changed = std::make_shared<model::Service>(*added);
    changed->ports[0].port = 81;
    ReplaceService(added, changed);
    added = changed;
  });
  ExpectChangedBy("hidden", true, [&] {
    auto changed = std::make_shared<model::Service>(*added);
    changed->visibility = {.everywhere = false, .namespaces = {"lib"}};
    ReplaceService(added, changed);
    added = changed;
  });
  ExpectChangedBy("an entry", true, [&] { AddExternal("shop", "www.example.com", {443}); });
  const Sight before = Look();
  PutEndpoints("web.lib.svc.cluster.local", "lib");
  const Sight after = Look();
  EXPECT_EQ(after.scope, before.scope) << "endpoints are no part of a scope";
}

TEST_F(SidecarScopesTest, VirtualServicesOfTheImportedNamespacesCount) {
  const std::string web = "web.shop.svc.cluster.local";
  ExpectChangedBy("one that everybody sees", false, [&] { PutRoute("lib", web, web); });
  ExpectChangedBy("exported to shop", false, [&] { PutRoute("lib", web, web, "export_to: 'shop'"); });
  ExpectChangedBy("and no more", false, [&] { PutRoute("lib", web, web, "export_to: '.'"); });
  ExpectUntouchedBy("for a gateway", [&] {
    PutVirtualService("lib", "ingress", "hosts: 'web.shop.svc.cluster.local' gateways: 'lib/gateway'");
  });
  ExpectChangedBy("for sidecars as well", false, [&] {
    PutVirtualService("lib", "ingress",
                      "hosts: 'web.shop.svc.cluster.local' gateways: 'lib/gateway' gateways: 'mesh'");
  });
  ExpectChangedBy("TCP routes, which are in listeners", true, [&] {
    PutVirtualService("shop", "route",
                      "hosts: 'web' tcp { route { destination { host: 'web.shop.svc.cluster.local' } } }");
  });
}

TEST_F(SidecarScopesTest, DelegatesCountWhereverTheyLive) {
  PutVirtualService("shop", "route", "hosts: 'web' http { delegate { name: 'leaf' namespace: 'other' } }");
  const auto put_leaf = [&](std::string_view prefix) {
    PutVirtualService("other", "leaf",
                      StrCat("http { match { uri { prefix: '", prefix,
                             "' } } route { destination { host: 'web.shop.svc.cluster.local' } } }"));
  };
  ExpectChangedBy("new", false, [&] { put_leaf("/a"); });
  ExpectChangedBy("changed", false, [&] { put_leaf("/b"); });
  ExpectChangedBy("gone", false, [&] { Remove(config::Kind::kVirtualService, "other", "leaf"); });
}

TEST_F(SidecarScopesTest, WhereRoutesLeadIsImportedWithThem) {
  PutRoute("shop", "web", "late.other.svc.cluster.local");
  model::ServicePtr late;
  ExpectChangedBy("the destination comes", true, [&] { late = AddService("other", "late", {80}); });
  ExpectChangedBy("changes", true, [&] {
    auto changed = std::make_shared<model::Service>(*late);
    changed->ports[0].port = 81;
    ReplaceService(late, changed);
    late = changed;
  });
  // Now that it is there, so are the rules and endpoints of its namespace.
  ExpectChangedBy("its rule", true,
                  [&] { PutDestinationRule("other", "late", "host: 'late.other.svc.cluster.local'"); });
  ExpectChangedBy("goes", true, [&] { RemoveService(late); });
}

TEST_F(SidecarScopesTest, RulesOfClientServiceAndRootNamespaceCount) {
  const char* rule = "host: '*.svc.cluster.local' subsets { name: 'v1' }";
  ExpectChangedBy("of the root namespace", true, [&] { PutDestinationRule("istio-system", "rule", rule); });
  ExpectChangedBy("of the service's", true, [&] { PutDestinationRule("lib", "rule", rule); });
  ExpectChangedBy("hidden there", true,
                  [&] { PutDestinationRule("lib", "rule", StrCat(rule, " export_to: '.'")); });
  ExpectChangedBy("of the client's", true, [&] { PutDestinationRule("shop", "rule", rule); });
  ExpectChangedBy("merged with an older one", true, [&] {
    PutDestinationRule("shop", "more", "host: '*.svc.cluster.local' subsets { name: 'v2' }", 5);
  });
}

TEST_F(SidecarScopesTest, SidecarsAndSettingsCount) {
  ExpectChangedBy("the Sidecar", true,
                  [&] { PutSidecar("shop", "default", "egress { hosts: './*' hosts: 'other/*' }"); });
  ExpectUntouchedBy("a route of what is not imported any more",
                    [&] { PutRoute("lib", "web.lib.svc.cluster.local", "web"); });
  PutRoute("other", "web.other.svc.cluster.local", "web.other.svc.cluster.local");
  ExpectChangedBy("who sees virtual services without exportTo", false, [&] {
    NewMeshConfig().add_default_virtual_service_export_to(".");
    SetSettings();
  });
  ExpectChangedBy("what happens to traffic elsewhere", true, [&] {
    NewMeshConfig().mutable_outbound_traffic_policy()->set_mode(
        istio::mesh::v1alpha1::MeshConfig::OutboundTrafficPolicy::REGISTRY_ONLY);
    SetSettings();
  });
}

TEST_F(SidecarScopesTest, AnyNamespaceCountsWhereAnyIsImported) {
  PutSidecar("shop", "default", "egress { hosts: '*/web.other.svc.cluster.local' hosts: './*' }");
  Look();
  const uint64_t builds = Look().builds;
  AddService("elsewhere", "api", {80});
  EXPECT_GT(Look().builds, builds);
  PutSidecar("shop", "default", "egress { hosts: './*' hosts: '~*/api.other.svc.cluster.local' }");
  ExpectUntouchedBy("nor where that is only left out", [&] { AddService("elsewhere", "db", {80}); });
}

TEST_F(SidecarScopesTest, EqualScopesKeepNoEarlierMeshes) {
  PutSidecar("shop", "default", "egress { hosts: 'lib/web.lib.svc.cluster.local' }");
  Sight held = Look();
  const uint64_t builds = held.builds;
  for (int i = 0; i < 100; ++i) {
    AddService("lib", StrCat("irrelevant-", i), {80});
    const Sight now = Look();
    EXPECT_EQ(now.scope, held.scope);
    held = now;
  }
  EXPECT_GE(held.builds, builds + 100);
  SidecarScopes& scopes = *Build()->scopes;
  EXPECT_LE(scopes.size(), 10u);
  held.scope = nullptr;
  for (int i = 1; i <= 3; ++i) scopes.Sweep(Clock::now() + i * std::chrono::minutes(1));
  EXPECT_EQ(scopes.size(), 0u);
}

}  // namespace
}  // namespace fairlead::mesh
