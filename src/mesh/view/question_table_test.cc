#include "mesh/view/question_table.h"

#include <gmock/gmock.h>

#include <set>

#include "istio/security/v1beta1/authorization_policy.pb.h"
#include "mesh/index/destination_rule_index.h"
#include "mesh/mesh_fixture.h"

// What differs between two snapshots, and that the rest keeps its pointers.
namespace fairlead::mesh {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

// "row namespace name" of each question whose answer differs; of kinds with the kind. Without those that go
// with others.
std::multiset<std::string> Differences(const MeshSnapshot* before, const MeshSnapshot& after) {
  std::multiset<std::string> all;
  ForEachDifference(before, after, [&all](const Question& question) {
    const std::string_view name = InfoOf(question.part).name;
    if (name == "AllObjects" || name == "SettingsPart" || name == "NamespaceTraits") return;
    std::string text(name);
    if (name == "Objects" || name == "Policies" || name == "Written")
      StrAppend(&text, " ", config::InfoOf(question.key.kind()).name);
    for (const Interned& part : {question.key.a, question.key.b}) {
      if (!part.empty()) StrAppend(&text, " ", part.str());
    }
    all.insert(std::move(text));
  });
  return all;
}

class QuestionTableTest : public MeshFixture {
 protected:
  QuestionTableTest() {
    for (const char* ns : {"a", "b"}) {
      AddService(ns, "s", {80});
      SetEndpoints(ns, "s", 1);
      PutVirtualService(ns, "v", "hosts: 's'");
      PutDestinationRule(ns, "d", "host: 's'");
      PutSidecar(ns, "c", "egress { hosts: './*' }");
      AddPod(ns, "p", StrCat("10.0.0.", ns == std::string("a") ? 1 : 2), {});
    }
    last_ = Build();
  }
  void SetEndpoints(const std::string& ns, const std::string& name, uint32_t weight) {
    auto endpoints = std::make_shared<model::ServiceEndpoints>();
    endpoints->shards.resize(1);
    endpoints->shards[0].endpoints.resize(1);
    endpoints->shards[0].endpoints[0].weight = weight;
    endpoints->shards[0].endpoints[0].workload = std::make_shared<model::Workload>();
    const model::ServiceKey key{StrCat(name, ".", ns, ".svc.cluster.local"), ns};
    registry_.endpoints[key] = std::move(endpoints);
    registry_.changes.endpoints.push_back(key);
  }
  // What the changes since the last call made differ.
  std::multiset<std::string> TakeDifferences() {
    const SnapshotPtr before = std::exchange(last_, Build());
    return Differences(before.get(), *last_);
  }

  SnapshotPtr last_;
};

TEST_F(QuestionTableTest, EverythingDiffersFromNoSnapshot) {
  PutPeerAuthentication("a", "p", "mtls { mode: STRICT }");
  EXPECT_THAT(Differences(nullptr, *Build()),
              UnorderedElementsAre(
                  "Settings", "AllServices", "Services a", "Services b", "Host s.a.svc.cluster.local",
                  "Host s.b.svc.cluster.local", "Endpoints a", "Endpoints b", "AllVirtualServices",
                  "VirtualServices a", "VirtualServices b", "DestinationRules a", "DestinationRules b",
                  "PeerAuthentications a", "Objects Sidecar a", "Objects Sidecar b",
                  "Policies PeerAuthentication a", "Policies Sidecar a", "Policies Sidecar b",
                  "Workloads 10.0.0.1", "Workloads 10.0.0.2", "Pod a p", "Pod b p", "Networks"));
}

TEST_F(QuestionTableTest, NothingChangedIsNoDifference) {
  EXPECT_THAT(TakeDifferences(), IsEmpty());
  SetSettings();
  EXPECT_THAT(TakeDifferences(), ElementsAre("Settings")) << "networks and rules come out as they were";
}

TEST_F(QuestionTableTest, NewSettingsLeaveNoRulesOfObjectsThatAreGone) {
  Remove(config::Kind::kDestinationRule, "a", "d");
  settings_.domain = "other.local";
  SetSettings();
  TakeDifferences();
  EXPECT_EQ(last_->destination_rules->Namespace("a"), nullptr);
  EXPECT_NE(last_->destination_rules->Namespace("b"), nullptr);
}

TEST_F(QuestionTableTest, EndpointsConcernTheirNamespace) {
  const NamespaceEndpointsPtr a = last_->endpoints->Namespace("a"), b = last_->endpoints->Namespace("b");
  SetEndpoints("a", "s", 2);
  SetEndpoints("a", "s2", 2);
  EXPECT_THAT(TakeDifferences(), ElementsAre("Endpoints a"));
  EXPECT_NE(last_->endpoints->Namespace("a"), a);
  EXPECT_EQ(last_->endpoints->Namespace("b"), b);
  EXPECT_EQ(last_->endpoints->Find("s2.a.svc.cluster.local", "a"),
            last_->endpoints->Namespace("a")->Find("s2.a.svc.cluster.local"));
  for (const char* name : {"s", "s2"}) {
    const model::ServiceKey key{StrCat(name, ".a.svc.cluster.local"), "a"};
    registry_.endpoints.Erase(key);
    registry_.changes.endpoints.push_back(key);
  }
  EXPECT_THAT(TakeDifferences(), ElementsAre("Endpoints a"));
  EXPECT_EQ(last_->endpoints->Namespace("a"), nullptr);
  EXPECT_NE(a->Find("s.a.svc.cluster.local"), nullptr) << "the earlier snapshot is as it was";
}

TEST_F(QuestionTableTest, EndpointsThatAreAsTheyWereKeepTheirNamespace) {
  registry_.changes.endpoints.push_back({"s.a.svc.cluster.local", "a"});
  registry_.changes.endpoints.push_back({"unknown.a.svc.cluster.local", "a"});
  EXPECT_THAT(TakeDifferences(), IsEmpty());
}

TEST_F(QuestionTableTest, AServiceConcernsItsNamespaceAndItsHost) {
  const NamespaceServicesPtr b = last_->services->Namespace("b");
  const ServiceIndex::List of_host = last_->services->Host("s.a.svc.cluster.local");
  AddService("a", "s2", {80});
  EXPECT_THAT(TakeDifferences(), ElementsAre("AllServices", "Host s2.a.svc.cluster.local", "Services a"));
  EXPECT_EQ(last_->services->Namespace("b"), b);
  EXPECT_EQ(last_->services->Host("s.a.svc.cluster.local"), of_host);
  // An older one of the same host counts no more than the Kubernetes one.
  AddExternal("a", "s.a.svc.cluster.local", {80}, 10);
  EXPECT_THAT(TakeDifferences(), ElementsAre("AllServices", "Services a"));
  EXPECT_EQ(last_->services->Host("s.a.svc.cluster.local"), of_host);
}

TEST_F(QuestionTableTest, RoutingObjectsConcernTheirNamespaces) {
  PutVirtualService("a", "v", "hosts: 's2'");
  PutVirtualService("b", "gateways-only", "hosts: 's3' gateways: 'g'");
  EXPECT_THAT(TakeDifferences(),
              ElementsAre("AllVirtualServices", "GatewayRoutesForAll b/g", "VirtualServices a"));
  PutVirtualService("b", "gateways-only", "hosts: 's3' gateways: 'g' export_to: 'a' export_to: '.'");
  EXPECT_THAT(TakeDifferences(),
              UnorderedElementsAre("GatewayRoutesExported b/g a", "GatewayRoutesForAll b/g",
                                   "GatewayRoutesOwn b/g b", "AllVirtualServices"));
  PutDestinationRule("b", "d2", "host: 's2'");
  EXPECT_THAT(TakeDifferences(), ElementsAre("DestinationRules b"));
  Remove(config::Kind::kDestinationRule, "a", "d");
  EXPECT_THAT(TakeDifferences(), ElementsAre("DestinationRules a"));
  EXPECT_EQ(last_->destination_rules->Namespace("a"), nullptr);
  PutPeerAuthentication("b", "p", "mtls { mode: STRICT }");
  EXPECT_THAT(TakeDifferences(),
              UnorderedElementsAre("PeerAuthentications b", "Policies PeerAuthentication b"));
}

TEST_F(QuestionTableTest, ObjectsConcernTheirKindAndNamespace) {
  const auto a = last_->objects->In(config::Kind::kSidecar, "a");
  ASSERT_NE(a, nullptr);
  EXPECT_EQ(last_->objects->In(config::Kind::kSidecar, "c"), nullptr);
  EXPECT_EQ(last_->objects->In(config::Kind::kGateway, "a"), nullptr);
  PutSidecar("b", "older", "egress { hosts: './*' }", 10);
  EXPECT_THAT(TakeDifferences(), UnorderedElementsAre("Objects Sidecar b", "Policies Sidecar b"));
  EXPECT_EQ(last_->objects->In(config::Kind::kSidecar, "a"), a);
  ASSERT_EQ(last_->objects->Of(config::Kind::kSidecar, "b").size(), 2u);
  EXPECT_EQ(last_->objects->Of(config::Kind::kSidecar, "b")[0]->name(), "older");
  ASSERT_EQ(last_->objects->Of(config::Kind::kSidecar).size(), 3u);
  EXPECT_EQ(last_->objects->Of(config::Kind::kSidecar)[0]->name(), "older");
  Put(config::Kind::kAuthorizationPolicy, "a", "p", istio::security::v1beta1::AuthorizationPolicy());
  EXPECT_THAT(TakeDifferences(),
              UnorderedElementsAre("Objects AuthorizationPolicy a", "Policies AuthorizationPolicy a"));
  EXPECT_EQ(last_->objects->In(config::Kind::kSidecar, "a"), a);
  Remove(config::Kind::kAuthorizationPolicy, "a", "p");
  Remove(config::Kind::kSidecar, "a", "c");
  EXPECT_THAT(TakeDifferences(),
              UnorderedElementsAre("Objects AuthorizationPolicy a", "Objects Sidecar a",
                                   "Policies AuthorizationPolicy a", "Policies Sidecar a"));
  EXPECT_EQ(last_->objects->In(config::Kind::kSidecar, "a"), nullptr);
  EXPECT_EQ(a->size(), 1u) << "the earlier snapshot is as it was";
}

TEST_F(QuestionTableTest, WorkloadsConcernTheirAddresses) {
  AddPod("c", "p", "10.0.0.2", {});
  EXPECT_THAT(TakeDifferences(), ElementsAre("Pod c p", "Workloads 10.0.0.2"));
}

TEST_F(QuestionTableTest, ExternalTargetsConcernTheirAddresses) {
  const auto serve = [this](const char* address, uint32_t port) {
    model::ExternalTarget target;
    target.target_port = port;
    registry_.external_targets[Interned(address)] =
        std::make_shared<const model::ExternalTargets>(model::ExternalTargets{target});
    registry_.changes.external_targets = true;
  };
  serve("192.0.2.1", 80);
  serve("192.0.2.2", 80);
  EXPECT_THAT(TakeDifferences(),
              UnorderedElementsAre("ExternalTargets 192.0.2.1", "ExternalTargets 192.0.2.2"));
  serve("192.0.2.1", 81);
  EXPECT_THAT(TakeDifferences(), ElementsAre("ExternalTargets 192.0.2.1"));
  registry_.external_targets.Erase(Interned("192.0.2.2"));
  registry_.changes.external_targets = true;
  EXPECT_THAT(TakeDifferences(), ElementsAre("ExternalTargets 192.0.2.2"));
}

TEST_F(QuestionTableTest, WrittenObjectsConcernTheirKind) {
  config::ObjectStore written;
  const auto write = [&](config::Kind kind, std::string_view cluster = "") {
    config::ObjectMeta meta;
    meta.ns = "a";
    meta.name = "w";
    meta.cluster = cluster;
    const auto object = std::make_shared<config::ConfigObject>(kind, meta, config::Origin(), nullptr, 1);
    const auto changes = written.Apply(std::vector<config::ObjectChange>{{config::KeyOf(*object), object}});
    builder_.SetWritten(std::make_shared<const WrittenObjects>(last_->written.get(), written, changes));
  };
  write(config::Kind::kTelemetry);
  EXPECT_THAT(TakeDifferences(), ElementsAre("Written Telemetry"));
  const WrittenObjects::OfKind telemetry = last_->written->All(config::Kind::kTelemetry);
  ASSERT_NE(telemetry, nullptr);
  write(config::Kind::kWasmPlugin);
  EXPECT_THAT(TakeDifferences(), ElementsAre("Written WasmPlugin"));
  EXPECT_EQ(last_->written->All(config::Kind::kTelemetry), telemetry);
  write(config::Kind::kSecret, "east");
  EXPECT_THAT(TakeDifferences(), UnorderedElementsAre("Written Secret east", "OtherClusters"));
  EXPECT_EQ(last_->written->All(config::Kind::kSecret), nullptr) << "each cluster has its own";
  const WrittenObjects::OfKind secrets = last_->written->All(config::Kind::kSecret, "east");
  ASSERT_NE(secrets, nullptr);
  write(config::Kind::kPod, "east");
  EXPECT_THAT(TakeDifferences(), ElementsAre("Written Pod east"));
  EXPECT_EQ(last_->written->All(config::Kind::kSecret, "east"), secrets);
}

TEST_F(QuestionTableTest, KeySetsConcernTheirSources) {
  const auto keys = std::make_shared<const std::string>("k");
  builder_.SetKeySets(std::make_shared<const model::KeySets>(
      model::KeySets{{{"https://a", {}}, keys}, {{{}, "issuer"}, keys}}));
  EXPECT_THAT(TakeDifferences(), UnorderedElementsAre("KeySet https://a", "KeySet issuer"));
  builder_.SetKeySets(std::make_shared<const model::KeySets>(model::KeySets{{{"https://a", {}}, keys}}));
  EXPECT_THAT(TakeDifferences(), ElementsAre("KeySet issuer"));
  builder_.SetKeySets(std::make_shared<const model::KeySets>(
      model::KeySets{{{"https://a", {}}, std::make_shared<const std::string>("k")}}));
  EXPECT_THAT(TakeDifferences(), ElementsAre("KeySet https://a")) << "another set";
}

TEST_F(QuestionTableTest, ATrustBundleIsAPartOfItsOwn) {
  builder_.SetTrustBundle(std::make_shared<const model::TrustBundle>(model::TrustBundle{"root"}));
  EXPECT_THAT(TakeDifferences(), ElementsAre("TrustBundle"));
  EXPECT_THAT(TakeDifferences(), IsEmpty());
}

class NobodyAsked : public model::SecretReviewer {
  void Want(const model::ClusterAccount& /*account*/) const override {}
};

TEST_F(QuestionTableTest, SecretReadersConcernTheirAccounts) {
  using model::SecretAccess;
  const auto reviewer = std::make_shared<const NobodyAsked>();
  const auto set = [&](std::map<model::ClusterAccount, SecretAccess> verdicts) {
    builder_.SetSecretReaders(
        std::make_shared<const model::SecretReaders>(model::SecretReaders{reviewer, std::move(verdicts)}));
  };
  set({});
  EXPECT_THAT(TakeDifferences(), ElementsAre("SecretReviewer"));
  set({{{"", "a/gw"}, SecretAccess::kAllowed}, {{"east", "a/gw"}, SecretAccess::kDenied}});
  EXPECT_THAT(TakeDifferences(), UnorderedElementsAre("SecretAccess a/gw", "SecretAccess east a/gw"));
  set({{{"", "a/gw"}, SecretAccess::kAllowed}, {{"east", "a/gw"}, SecretAccess::kAllowed}});
  EXPECT_THAT(TakeDifferences(), ElementsAre("SecretAccess east a/gw"));
  set({{{"east", "a/gw"}, SecretAccess::kAllowed}});
  EXPECT_THAT(TakeDifferences(), ElementsAre("SecretAccess a/gw"));
}

TEST_F(QuestionTableTest, GatewaysOfNetworksAreNetworks) {
  registry_.network_gateways.push_back({.network = "n", .cluster = {}, .address = "1.2.3.4", .port = 1});
  registry_.changes.network_gateways = true;
  EXPECT_THAT(TakeDifferences(), ElementsAre("Networks"));
  registry_.changes.network_gateways = true;
  EXPECT_THAT(TakeDifferences(), IsEmpty());
}

}  // namespace
}  // namespace fairlead::mesh
