#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "istio/mesh/v1alpha1/network.pb.h"
#include "istio/networking/v1alpha3/gateway.pb.h"
#include "istio/security/v1beta1/authorization_policy.pb.h"
#include "mesh/mesh_fixture.h"
#include "mesh/view/question_table.h"
#include "mesh/view/reads.h"
#include "model/settings_parts.h"

// Every row of every question, in random pairs of meshes: the answers differ exactly where the row's
// difference says so, and what is decided by a wider question is. A new row is checked without being named
// here; what moves its answer has to be among the changes.
namespace fairlead::mesh {
namespace {

using config::Kind;

constexpr const char* kNamespaces[] = {"istio-system", "a", "b"};
constexpr Kind kKinds[] = {Kind::kSidecar, Kind::kGateway, Kind::kAuthorizationPolicy,
                           Kind::kPeerAuthentication, Kind::kTelemetry};

class NoReviewer : public model::SecretReviewer {
  void Want(const model::ClusterAccount& /*account*/) const override {}
};

class QuestionsPropertyTest : public MeshFixture {
 protected:
  QuestionsPropertyTest() {
    for (const char* ns : kNamespaces) AddService(ns, "s0", {80});
    NewSettings();
  }

  int Dice(int sides) { return std::uniform_int_distribution<int>(0, sides - 1)(random_); }
  std::string Pick(std::initializer_list<const char*> texts) { return *(texts.begin() + Dice(texts.size())); }
  std::string Namespace() { return kNamespaces[Dice(std::size(kNamespaces))]; }
  std::string Name() { return StrCat("o", Dice(2)); }
  std::string Host() { return StrCat("s", Dice(2), ".", Namespace(), ".svc.cluster.local"); }
  std::string Address() { return StrCat("10.0.0.", Dice(3)); }

  void NewSettings() {
    last_settings_ = model::WithPrevious(settings_, last_settings_);
    builder_.SetSettings(last_settings_);
  }
  void ChangeSettings() {
    auto& mesh = NewMeshConfig();
    mesh.set_proxy_listen_port(Dice(2));
    mesh.mutable_default_config()->set_discovery_address(Pick({"a", "b"}));
    if (Dice(2) == 0) mesh.set_trust_domain(Pick({"a.local", "b.local"}));
    auto networks = std::make_shared<istio::mesh::v1alpha1::MeshNetworks>();
    if (Dice(2) == 0)
      (*networks->mutable_networks())["n"].add_endpoints()->set_from_cidr(
          Pick({"10.1.0.0/16", "10.2.0.0/16"}));
    settings_.networks = networks;
    NewSettings();
  }
  void ChangeService() {
    if (services_.size() > 3 && Dice(3) == 0)
      return RemoveService(services_[Dice(static_cast<int>(services_.size()))]);
    if (Dice(2) == 0) {
      AddExternal(Namespace(), Host(), {80}, Dice(2));
      return;
    }
    const size_t old = Dice(static_cast<int>(services_.size()));
    auto changed = std::make_shared<model::Service>(*services_[old]);
    changed->ports[0].port = 80 + Dice(2);
    ReplaceService(services_[old], changed);
  }
  void ChangeEndpoints() {
    const model::ServiceKey key{Host(), Namespace()};
    auto endpoints = std::make_shared<model::ServiceEndpoints>();
    auto workload = std::make_shared<model::Workload>();
    workload->tls_mode = Pick({"", "istio", "disabled"});
    workload->labels["networking.istio.io/tunnel"] = Pick({"", "http"});
    endpoints->shards.resize(1);
    endpoints->shards[0].endpoints.resize(1);
    endpoints->shards[0].endpoints[0].weight = Dice(3);
    endpoints->shards[0].endpoints[0].workload = workload;
    endpoints->service_accounts = {Pick({"x", "y"})};
    if (Dice(4) == 0) {
      registry_.endpoints.Erase(key);
    } else {
      registry_.endpoints[key] = endpoints;
    }
    registry_.changes.endpoints.push_back(key);
  }
  void ChangeRouting() {
    PutVirtualService(
        Namespace(), Name(),
        StrCat("hosts: '", Host(), "' ", Pick({"", "gateways: 'a/g' ", "gateways: 'b/g' gateways: 'mesh' "}),
               Pick({"", "export_to: '.'", "export_to: 'a'", "export_to: 'b' export_to: '.'"})));
    if (Dice(2) == 0) PutDestinationRule(Namespace(), Name(), StrCat("host: '", Host(), "'"), Dice(2));
  }
  void ChangePolicies() {
    PutPeerAuthentication(Namespace(), Name(), Pick({"mtls { mode: STRICT }", "mtls { mode: DISABLE }"}),
                          Dice(3));
    Put(Kind::kAuthorizationPolicy, Namespace(), Name(), istio::security::v1beta1::AuthorizationPolicy());
    PutSidecar(Namespace(), Name(), Pick({"", "egress { hosts: './*' }", "egress { hosts: '*/*' }"}));
  }
  void ChangeGateway() {
    Put(Kind::kGateway, Namespace(), Name(),
        Parse<istio::networking::v1alpha3::Gateway>(StrCat(
            "servers { hosts: '*' port { number: ", 80 + Dice(2), " protocol: 'HTTP' name: 'http' } }")));
  }
  void RemoveObject() {
    const Kind kinds[] = {Kind::kVirtualService,     Kind::kDestinationRule,     Kind::kSidecar,
                          Kind::kPeerAuthentication, Kind::kAuthorizationPolicy, Kind::kGateway};
    for (int i = 0; i < 6; ++i) Remove(kinds[Dice(std::size(kinds))], Namespace(), Name());
  }
  void ChangeWorkloads() {
    if (workloads_.size() > 3) {
      registry_.workloads.Erase(workloads_.front());
      registry_.changes.workloads.push_back({workloads_.front(), nullptr});
      workloads_.erase(workloads_.begin());
    } else {
      AddPod(Namespace(), StrCat("p", pods_++), Address(), {});
    }
  }
  void ChangeExternalTargets() {
    const Interned address(Address());
    if (Dice(3) == 0) {
      registry_.external_targets.Erase(address);
    } else {
      registry_.external_targets[address] = std::make_shared<const model::ExternalTargets>(1);
    }
    registry_.changes.external_targets = true;
  }
  void ChangeFacts() {
    model::KeySets keys;
    for (const char* uri : {"https://a", "https://b"}) {
      if (Dice(2) == 0) keys[{uri, {}}] = std::make_shared<const std::string>("k");
    }
    builder_.SetKeySets(std::make_shared<const model::KeySets>(keys));
    builder_.SetTrustBundle(std::make_shared<const model::TrustBundle>(model::TrustBundle{"root"}));
    model::SecretReaders readers;
    if (Dice(2) == 0) readers.reviewer = std::make_shared<const NoReviewer>();
    for (const char* account : {"a/g", "b/g"}) {
      if (Dice(2) == 0)
        readers.verdicts[{"", account}] =
            Dice(2) == 0 ? model::SecretAccess::kAllowed : model::SecretAccess::kDenied;
    }
    builder_.SetSecretReaders(std::make_shared<const model::SecretReaders>(std::move(readers)));
    registry_.network_gateways.resize(Dice(2), {.network = "n", .cluster = {}, .address = "1.2.3.4"});
    registry_.changes.network_gateways = true;
  }
  void ChangeWritten() {
    config::ObjectMeta meta;
    meta.ns = Namespace();
    meta.name = Name();
    constexpr const char* kClusters[] = {"", "east", "west"};
    meta.cluster = kClusters[written_hash_ % 3];
    const bool gone = written_hash_ % 4 == 3;
    const auto object = std::make_shared<config::ConfigObject>(kKinds[Dice(std::size(kKinds))], meta,
                                                               config::Origin(), nullptr, ++written_hash_);
    const auto changes =
        written_.Apply(std::vector<config::ObjectChange>{{config::KeyOf(*object), gone ? nullptr : object}});
    last_written_ = std::make_shared<const WrittenObjects>(last_written_.get(), written_, changes);
    builder_.SetWritten(last_written_);
  }
  void Step() {
    const std::function<void()> steps[] = {
        [this] { ChangeSettings(); }, [this] { ChangeService(); },   [this] { ChangeEndpoints(); },
        [this] { ChangeRouting(); },  [this] { ChangePolicies(); },  [this] { ChangeGateway(); },
        [this] { RemoveObject(); },   [this] { ChangeWorkloads(); }, [this] { ChangeExternalTargets(); },
        [this] { ChangeFacts(); },    [this] { ChangeWritten(); }};
    steps[Dice(std::size(steps))]();
  }

  // Names that occur in meshes, whatever they name.
  static const std::vector<Interned>& Names() {
    static const auto* const names = [] {
      auto* all = new std::vector<Interned>{
          "",          "o0",        "o1",       "p0",       "p1",       "p2",      "a/g",  "b/g",
          "https://a", "https://b", "10.0.0.0", "10.0.0.1", "10.0.0.2", "nowhere", "east", "west"};
      for (const char* ns : kNamespaces) {
        all->push_back(ns);
        for (int i = 0; i < 2; ++i) all->push_back(StrCat("s", i, ".", ns, ".svc.cluster.local"));
      }
      return all;
    }();
    return *names;
  }
  template <typename Row, typename Check>
  static void ForEachKey(Check&& check) {
    using S = Signature<Row>;
    std::vector<Key> keys = {Key()};
    if constexpr (S::kOfKind) keys.assign(std::begin(kKinds), std::end(kKinds));
    if constexpr (S::kOfSettingsPart) {
      keys.clear();
      for (size_t i = 0; i < model::kSettingsPartCount; ++i)
        keys.push_back(static_cast<model::SettingsPart>(i));
    }
    for (Key key : keys) {
      for (const Interned& a : S::kNames > 0 ? Names() : std::vector<Interned>{{}}) {
        for (const Interned& b : S::kNames > 1 ? Names() : std::vector<Interned>{{}}) {
          key.a = a;
          key.b = b;
          check(Question{kPartOf<Row>, key});
        }
      }
    }
  }
  static std::string Describe(const Question& question) {
    return StrCat(InfoOf(question.part).name, " ", int{question.key.sub}, " ", question.key.a.str(), " ",
                  question.key.b.str());
  }
  static bool SameAnswer(const World& before, const World& after, const Question& question) {
    const RowInfo& row = InfoOf(question.part);
    return row.is_same(after, question.key, row.ask(before, question.key));
  }

  // Of the rows about the snapshot.
  using Visited = absl::flat_hash_set<Question>;
  template <typename Row>
  void CheckRow(const World& before, const World& after, const Visited& visited) {
    if constexpr (!Signature<Row>::kOfClient) {
      ForEachKey<Row>([&](const Question& question) {
        const RowInfo& row = InfoOf(question.part);
        const bool differs = !SameAnswer(before, after, question);
        moved_[row.name] |= differs;
        const Question told = row.difference == nullptr ? *Watched(question) : question;
        EXPECT_EQ(told == question, row.wider == nullptr);
        EXPECT_TRUE(!differs || visited.contains(told)) << Describe(question);
        EXPECT_TRUE(differs || told != question || !visited.contains(told)) << Describe(question);
      });
    }
  }
  template <typename... Row>
  void CheckRows(Rows<Row...>, const MeshSnapshot& before, const MeshSnapshot& after) {
    Visited visited;
    ForEachDifference(&before, after, [&](const Question& question) {
      EXPECT_TRUE(visited.insert(question).second) << "twice: " << Describe(question);
      EXPECT_FALSE(SameAnswer({before}, {after}, question)) << Describe(question);
    });
    (CheckRow<Row>({before}, {after}, visited), ...);
  }

  // Of the rows about clients, for any two of them.
  template <typename Row>
  void CheckClientRow(const World& one, const World& other) {
    if constexpr (Signature<Row>::kOfClient) {
      ForEachKey<Row>([&](const Question& question) {
        EXPECT_TRUE(SameAnswer(one, one, question)) << Describe(question);
        moved_[InfoOf(question.part).name] |= !SameAnswer(one, other, question);
        const Question wider = Wider(one, question);
        if (wider == question || !SameAnswer(one, other, wider)) return;
        EXPECT_TRUE(SameAnswer(one, other, question)) << Describe(question);
      });
    }
  }
  template <typename... Row>
  void CheckClientRows(Rows<Row...>, const World& one, const World& other) {
    (CheckClientRow<Row>(one, other), ...);
  }

  std::mt19937 random_{20240202};
  model::SettingsPtr last_settings_;
  config::ObjectStore written_;
  std::shared_ptr<const WrittenObjects> last_written_;
  uint64_t written_hash_ = 0;
  int pods_ = 0;
  std::map<std::string_view, bool> moved_;  // rows whose answer was seen to differ
};

TEST_F(QuestionsPropertyTest, AnswersDifferWhereTheDifferenceSaysSo) {
  SnapshotPtr before = Build();
  for (int round = 0; round < 60; ++round) {
    for (int steps = Dice(6); steps > 0; --steps) Step();
    const SnapshotPtr after = Build();
    CheckRows(AllRows(), *before, *after);
    ASSERT_FALSE(HasFailure()) << "round " << round;
    if (Dice(3) > 0) before = after;
  }
  for (const auto& [name, moved] : moved_) EXPECT_TRUE(moved) << name << ": no change moved its answer";
}

TEST_F(QuestionsPropertyTest, WhatAWiderQuestionDecidesIsTheSameForClientsThatShareIt) {
  std::vector<model::ProxyPtr> proxies;
  for (const char* name : {"p0", "p1"}) {
    for (const model::ProxyType type : {model::ProxyType::kRouter, model::ProxyType::kSidecar}) {
      auto proxy = std::make_shared<model::Proxy>(*MakeProxy("a", name, StrCat("10.0.0.", name)));
      proxy->type = type;
      if (name[1] == '1') proxy->metadata.labels["app"] = "x";
      proxy->proxy_class = model::ClassOf(*proxy);
      proxies.push_back(proxy);
    }
  }
  std::vector<std::pair<SnapshotPtr, ProxyScopePtr>> clients;
  for (int round = 0; round < 12; ++round) {
    ChangeRouting();
    PutDestinationRule("a", "o0",
                       StrCat("host: '", Host(), "' ",
                              Pick({"", "workload_selector { match_labels { key: 'app' value: 'x' } }"})));
    Step();
    const SnapshotPtr snapshot = Build();
    // Routers all: questions about what a router serves are asked of nobody else.
    for (const model::ProxyPtr& proxy : proxies) {
      if (proxy->type == model::ProxyType::kRouter)
        clients.push_back({snapshot, ComputeProxyScope(*snapshot, proxy)});
    }
  }
  for (const auto& [snapshot, scope] : clients) {
    for (const auto& [other_snapshot, other] : clients) {
      CheckClientRows(AllRows(), {*snapshot, scope.get()}, {*other_snapshot, other.get()});
    }
    ASSERT_FALSE(HasFailure());
  }
  for (const char* name : {"Imports", "Imported", "Rule"}) EXPECT_TRUE(moved_[name]) << name;
}

}  // namespace
}  // namespace fairlead::mesh
