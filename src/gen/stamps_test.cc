#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "gen/generator.h"
#include "mesh/mesh_fixture.h"

// What a part of a generator's result says it was made from, for a client that sees its own namespace only.
namespace fairlead::gen {
namespace {

class StampsTest : public mesh::MeshFixture {
 protected:
  StampsTest() {
    generators_.push_back(NewClusterGenerator());
    generators_.push_back(NewListenerGenerator());
    generators_.push_back(NewEndpointGenerator());
    generators_.push_back(NewRouteGenerator());
    generators_.push_back(NewNameTableGenerator());
    PutSidecar("shop", "default", "egress { hosts: './*' }");
    AddService("shop", "web", {80});
    AddService("other", "web", {80});
  }
  // Those of all parts of all types, in the next snapshot.
  std::vector<PartStamp> Stamps() {
    const mesh::SnapshotPtr snapshot = Build();
    client_ = mesh::ComputeProxyScope(*snapshot, proxy_, client_);
    std::vector<PartStamp> stamps;
    for (const auto& generator : generators_) {
      for (size_t part = 0; part < generator->PartCount(); ++part) {
        stamps.push_back(generator->Stamp({*snapshot, *client_}, part));
      }
    }
    return stamps;
  }
  void PutEndpoints(const std::string& ns) {
    auto endpoints = std::make_shared<model::ServiceEndpoints>();
    endpoints->service_accounts = {"spiffe://cluster.local/ns/any/sa/web"};
    const model::ServiceKey key = {Interned(StrCat("web.", ns, ".svc.cluster.local")), Interned(ns)};
    registry_.endpoints[key] = std::move(endpoints);
    registry_.changes.endpoints = {key};
  }

  std::vector<std::unique_ptr<Generator>> generators_;
  const model::ProxyPtr proxy_ = MakeProxy("shop", "client", "10.0.0.1");
  mesh::ProxyScopePtr client_;
};

TEST_F(StampsTest, WhatHappensInAnotherNamespaceIsNoReasonToMakeAnything) {
  const std::vector<PartStamp> before = Stamps();
  AddService("other", "new", {80});
  EXPECT_EQ(Stamps(), before);
  AddService("other", "headless", {80})->resolution = model::Resolution::kPassthrough;
  EXPECT_EQ(Stamps(), before);
  PutEndpoints("other");
  EXPECT_EQ(Stamps(), before);
  PutVirtualService("other", "web", "hosts: 'web' http { route { destination { host: 'web' } } }");
  EXPECT_EQ(Stamps(), before);
  PutDestinationRule("other", "web", "host: 'web'");
  EXPECT_EQ(Stamps(), before);
}

TEST_F(StampsTest, WhatHappensInTheOwnNamespaceIs) {
  std::vector<PartStamp> last = Stamps();
  const auto changed = [&](const char* what) {
    std::vector<PartStamp> now = Stamps();
    EXPECT_NE(now, last) << what;
    last = std::move(now);
  };
  AddService("shop", "new", {80});
  changed("service");
  PutEndpoints("shop");
  changed("endpoints");
  PutVirtualService("shop", "web", "hosts: 'web' http { route { destination { host: 'web' } } }");
  changed("route");
  PutDestinationRule("shop", "web", "host: 'web'");
  changed("rule");
  PutDestinationRule("istio-system", "all", "host: '*.svc.cluster.local'");
  changed("rule of the root namespace for the new service");
}

}  // namespace
}  // namespace fairlead::gen
