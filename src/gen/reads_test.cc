#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "gen/generator.h"
#include "mesh/mesh_fixture.h"
#include "model/settings_parts.h"

// What the parts of a generator's result are made from: for a client that sees its own namespace only,
// nothing that happens elsewhere; of its own namespace what concerns the part.
namespace fairlead::gen {
namespace {

class ReadsTest : public mesh::MeshFixture {
 protected:
  ReadsTest() {
    generators_.emplace_back("clusters", NewClusterGenerator());
    generators_.emplace_back("listeners", NewListenerGenerator());
    generators_.emplace_back("endpoints", NewEndpointGenerator());
    generators_.emplace_back("routes", NewRouteGenerator());
    generators_.emplace_back("name table", NewNameTableGenerator());
    PutSidecar("shop", "default", "egress { hosts: './*' }");
    AddService("shop", "web", {80});
    AddService("other", "web", {80});
    AddService("shop", "client", {8080}, {{"app", "client"}});
    AddPod("shop", "client", "10.0.0.1", {{"app", "client"}});
    auto& mesh = NewMeshConfig();
    mesh.set_proxy_listen_port(15001);
    mesh.set_proxy_inbound_listen_port(15006);
    SetSettings();
    Make();
  }

  // Makes all parts of all types in the next snapshot.
  void Make() {
    snapshot_ = Build();
    client_ = mesh::ComputeProxyScope(*snapshot_, proxy_, client_);
    reads_.clear();
    for (const auto& [name, generator] : generators_) {
      for (size_t part = 0; part < generator->PartCount(); ++part) {
        Names names = name == "routes" ? route_names_ : endpoint_names_;
        if (const auto by_name = generator->ByName())
          std::erase_if(names, [&](const std::string& one) { return by_name(one) != part; });
        mesh::View view({*snapshot_, client_.get()});
        generator->Generate(view, name == "routes" || name == "endpoints" ? &names : nullptr, part);
        // Which part of the endpoints has a name is nobody's business.
        reads_.push_back({name == "endpoints" ? name : StrCat(name, " ", part), view.Take()});
      }
    }
  }
  // The parts that have to be made anew, and "scope" if the client's is another.
  std::vector<std::string> Anew() {
    const mesh::SnapshotPtr now = Build();
    const mesh::ProxyScopePtr client = mesh::ComputeProxyScope(*now, proxy_, client_);
    std::vector<std::string> anew;
    if (client != client_) anew.push_back("scope");
    for (const auto& [name, reads] : reads_) {
      if (!reads->Hold({*now, client.get()})) anew.push_back(name);
    }
    Make();
    return anew;
  }
  void PutEndpoints(const std::string& ns, const std::string& account, uint32_t weight = 1) {
    auto endpoints = std::make_shared<model::ServiceEndpoints>();
    endpoints->service_accounts = {account};
    endpoints->shards.resize(1);
    model::Endpoint& endpoint = endpoints->shards[0].endpoints.emplace_back();
    endpoint.weight = weight;
    endpoint.workload = std::make_shared<model::Workload>();
    const model::ServiceKey key = {Interned(StrCat("web.", ns, ".svc.cluster.local")), Interned(ns)};
    registry_.endpoints[key] = std::move(endpoints);
    registry_.changes.endpoints = {key};
  }

  std::vector<std::pair<std::string, std::unique_ptr<Generator>>> generators_;
  const Names route_names_ = {"80"}, endpoint_names_ = {"outbound|80||web.shop.svc.cluster.local"};
  const model::ProxyPtr proxy_ = MakeProxy("shop", "client", "10.0.0.1");
  mesh::SnapshotPtr snapshot_;
  mesh::ProxyScopePtr client_;
  std::vector<std::pair<std::string, mesh::ReadsPtr>> reads_;
};

using Parts = std::vector<std::string>;

TEST_F(ReadsTest, WhatHappensInAnotherNamespaceIsNoReasonToMakeAnything) {
  AddService("other", "new", {80});
  EXPECT_EQ(Anew(), Parts());
  AddService("other", "headless", {80})->resolution = model::Resolution::kPassthrough;
  EXPECT_EQ(Anew(), Parts());
  PutEndpoints("other", "any");
  EXPECT_EQ(Anew(), Parts());
  PutVirtualService("other", "web", "hosts: 'web' http { route { destination { host: 'web' } } }");
  EXPECT_EQ(Anew(), Parts());
  PutDestinationRule("other", "web", "host: 'web'");
  EXPECT_EQ(Anew(), Parts());
  PutPeerAuthentication("other", "strict", "mtls { mode: STRICT }");
  EXPECT_EQ(Anew(), Parts());
  AddPod("other", "pod", "10.0.0.9", {});
  EXPECT_EQ(Anew(), Parts());
}

TEST_F(ReadsTest, EndpointsConcernAssignmentsAndOnlyTheirTraitsClusters) {
  PutEndpoints("shop", "a");
  EXPECT_EQ(Anew(), (Parts{"clusters 0", "endpoints"})) << "the first ones, in one part";
  PutEndpoints("shop", "a", 2);
  EXPECT_EQ(Anew(), Parts{"endpoints"});
  PutEndpoints("shop", "b", 2);
  EXPECT_EQ(Anew(), (Parts{"clusters 0", "endpoints"})) << "another identity";
}

TEST_F(ReadsTest, HttpRoutesConcernRoutesAlone) {
  PutVirtualService("shop", "web", "hosts: 'web' http { route { destination { host: 'web' } } }");
  EXPECT_EQ(Anew(), (Parts{"scope", "routes 0"}));
}

TEST_F(ReadsTest, AServiceConcernsWhatIsForServices) {
  AddService("shop", "new", {81});
  Parts anew = Anew();
  anew.erase(std::unique(anew.begin(), anew.end()), anew.end());
  EXPECT_EQ(anew, (Parts{"scope", "clusters 0", "listeners 0", "endpoints", "routes 0", "name table 0"}))
      << "and not what is the workload's own";
}

TEST_F(ReadsTest, APolicyOfTheOwnNamespaceConcernsTheWorkload) {
  PutPeerAuthentication("shop", "strict", "mtls { mode: STRICT }");
  const Parts anew = Anew();
  EXPECT_EQ(std::count(anew.begin(), anew.end(), "listeners 1"), 1);
  EXPECT_EQ(std::count(anew.begin(), anew.end(), "listeners 0"), 0) << "outbound listeners do not heed it";
  EXPECT_EQ(std::count(anew.begin(), anew.end(), "routes 0"), 0);
}

TEST_F(ReadsTest, ATracingProviderConcernsListenersAlone) {
  const model::SettingsPtr before = model::WithPrevious(settings_, nullptr);
  builder_.SetSettings(before);
  Make();
  NewMeshConfig().add_extension_providers()->set_name("traces");
  builder_.SetSettings(model::WithPrevious(settings_, before));
  EXPECT_EQ(Anew(), (Parts{"listeners 0", "listeners 1"}));
}

TEST_F(ReadsTest, WhatWasMadeForAnEarlierMeshHoldsInItAgain) {
  const mesh::SnapshotPtr before = snapshot_;
  const auto reads = reads_;
  AddService("shop", "new", {80});
  const mesh::SnapshotPtr after = Build();
  const auto later = mesh::ComputeProxyScope(*after, proxy_, client_);
  const auto again = mesh::ComputeProxyScope(*before, proxy_, later);
  for (const auto& [name, of_part] : reads) EXPECT_TRUE(of_part->Hold({*before, again.get()})) << name;
}

}  // namespace
}  // namespace fairlead::gen
