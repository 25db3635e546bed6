#include "mesh/view/view.h"

#include <gmock/gmock.h>

#include "istio/security/v1beta1/authorization_policy.pb.h"
#include "mesh/mesh_fixture.h"

// What a view notes of what it is asked, and where that holds.
namespace fairlead::mesh {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

class ViewTest : public MeshFixture {
 protected:
  ViewTest() {
    AddService("a", "web", {80});
    AddService("a", "api", {80});
    SetEndpoints(1, "istio");
    snapshot_ = Build();
  }
  void SetEndpoints(uint32_t weight, std::string_view tls_mode) {
    auto workload = std::make_shared<model::Workload>();
    workload->tls_mode = tls_mode;
    auto endpoints = std::make_shared<model::ServiceEndpoints>();
    endpoints->shards.resize(1);
    endpoints->shards[0].endpoints.resize(1);
    endpoints->shards[0].endpoints[0].port_name = "http-80";
    endpoints->shards[0].endpoints[0].weight = weight;
    endpoints->shards[0].endpoints[0].workload = std::move(workload);
    registry_.endpoints[{kWeb, "a"}] = std::move(endpoints);
    registry_.changes.endpoints.push_back({kWeb, "a"});
  }
  // "row a b" of questions.
  static std::string Text(const Question& question) {
    std::string text(InfoOf(question.part).name);
    for (const Interned& name : {question.key.a, question.key.b}) {
      if (!name.empty()) StrAppend(&text, " ", name.str());
    }
    return text;
  }
  template <typename Use>
  ReadsPtr Record(Use&& use) {
    View view({*snapshot_, client_.get()});
    use(view);
    return view.Take();
  }
  // As whoever takes the reads over notes them.
  static std::vector<std::string> WiderOf(const ReadsPtr& reads) {
    std::vector<std::string> texts;
    for (const Question& question : reads->wider()) texts.push_back(Text(question));
    return texts;
  }
  static std::vector<std::string> OfClient(const ReadsPtr& reads) {
    std::vector<std::string> texts;
    for (const Reads::Read& read : reads->of_client()) texts.push_back(Text(read.question));
    return texts;
  }
  void SetClient(LabelMap labels) {
    auto proxy = std::make_shared<model::Proxy>(*MakeProxy("a", "p", "10.0.0.1"));
    proxy->metadata.labels = std::move(labels);
    client_ = ComputeProxyScope(*snapshot_, proxy);
  }
  bool HoldsNow(const ReadsPtr& reads) const { return reads->Hold({*snapshot_, client_.get()}); }

  static constexpr const char* kWeb = "web.a.svc.cluster.local";
  SnapshotPtr snapshot_;
  ProxyScopePtr client_;
};

TEST_F(ViewTest, MissesAreNoted) {
  const ReadsPtr reads = Record([](View& view) { EXPECT_EQ(view.Services("b"), nullptr); });
  EXPECT_TRUE(HoldsNow(reads));
  AddService("c", "web", {80});
  snapshot_ = Build();
  EXPECT_TRUE(HoldsNow(reads));
  AddService("b", "web", {80});
  snapshot_ = Build();
  EXPECT_FALSE(HoldsNow(reads));
}

TEST_F(ViewTest, AnEarlierMeshHoldsAgain) {
  const SnapshotPtr first = snapshot_;
  const ReadsPtr reads = Record([](View& view) { view.Services("a"); });
  AddService("a", "new", {80});
  snapshot_ = Build();
  EXPECT_FALSE(HoldsNow(reads));
  snapshot_ = first;
  EXPECT_TRUE(HoldsNow(reads));
}

TEST_F(ViewTest, TheWiderQuestionIsNotedByWhoTakesOver) {
  EXPECT_THAT(WiderOf(Record([](View& view) { view.Endpoints(kWeb, "a"); })), ElementsAre("Endpoints a"));
  EXPECT_THAT(WiderOf(Record([](View& view) { view.NamedService(kWeb, "a"); })), ElementsAre("Services a"));
  EXPECT_THAT(WiderOf(Record([](View& view) { view.Destination(kWeb, "b"); })),
              ElementsAre(std::string("Host ") + kWeb));
  const ReadsPtr inner = Record([](View& view) { view.Endpoints(kWeb, "a"); });
  const ReadsPtr outer = Record([&](View& view) { view.Add(*inner); });
  EXPECT_THAT(WiderOf(outer), ElementsAre("Endpoints a"));
}

TEST_F(ViewTest, WhatIsAskedWidelyHoldsWhileTheWiderAnswerDoes) {
  const ReadsPtr narrow = Record([](View& view) { EXPECT_NE(view.NamedService(kWeb, "a"), nullptr); });
  const ReadsPtr wide = Record([](View& view) { EXPECT_NE(view.FindService(kWeb, "a"), nullptr); });
  AddService("a", "new", {80});
  snapshot_ = Build();
  EXPECT_TRUE(HoldsNow(narrow));
  EXPECT_FALSE(HoldsNow(wide));
}

TEST_F(ViewTest, TraitsOfEndpointsOutliveWeights) {
  const auto port = snapshot_->services->Find(kWeb, "a")->ports[0];
  const ReadsPtr reads = Record([&](View& view) {
    EXPECT_TRUE(view.TraitsOfEndpoints(kWeb, "a").NoneRefusesMutualTls(port));
    EXPECT_FALSE(view.TraitsOfEndpoints(kWeb, "a").AllTakeTunnels(port));
    EXPECT_FALSE(view.TraitsOfEndpoints("unknown", "a").NoneRefusesMutualTls(port));
  });
  SetEndpoints(2, "istio");
  snapshot_ = Build();
  EXPECT_TRUE(HoldsNow(reads));
  SetEndpoints(2, "disabled");
  snapshot_ = Build();
  EXPECT_FALSE(HoldsNow(reads));
  Record([&](View& view) { EXPECT_FALSE(view.TraitsOfEndpoints(kWeb, "a").NoneRefusesMutualTls(port)); });
}

TEST_F(ViewTest, OfAClientOnlyWhatIsAskedCounts) {
  SetClient({{"app", "web"}, {"version", "v1"}});
  const ReadsPtr reads = Record([](View& view) {
    EXPECT_EQ(view.Label("app"), "web");
    EXPECT_EQ(view.FindLabel("absent"), std::nullopt);
    EXPECT_EQ(view.client_namespace(), "a");
    EXPECT_TRUE(view.IsLabelled());
    EXPECT_TRUE(view.HasAddress("10.0.0.1"));
    EXPECT_EQ(view.identity(), std::nullopt);
  });
  EXPECT_THAT(OfClient(reads), UnorderedElementsAre("Label app", "Label absent", "Namespace", "IsLabelled",
                                                    "HasAddress 10.0.0.1", "Identity"));
  SetClient({{"app", "web"}, {"version", "v2"}});
  EXPECT_TRUE(HoldsNow(reads));
  SetClient({{"app", "web"}, {"absent", ""}});
  EXPECT_FALSE(HoldsNow(reads)) << "a label that is empty is not one that is absent";
}

TEST_F(ViewTest, WhatFollowsFromTheImportsIsNotNotedBesides) {
  SetClient({});
  EXPECT_THAT(OfClient(Record([](View& view) { EXPECT_NE(view.Imported(kWeb), nullptr); })),
              ElementsAre(std::string("Imported ") + kWeb));
  EXPECT_THAT(OfClient(Record([](View& view) {
                EXPECT_FALSE(view.imports().services.empty());
                EXPECT_NE(view.Imported(kWeb), nullptr);
                EXPECT_EQ(view.Rule(kWeb), nullptr);
              })),
              ElementsAre("Imports"));
}

TEST_F(ViewTest, PoliciesNoteTheLabelsThatTheySelectBy) {
  istio::security::v1beta1::AuthorizationPolicy policy;
  (*policy.mutable_selector()->mutable_match_labels())["app"] = "web";
  Put(config::Kind::kAuthorizationPolicy, "a", "p", policy);
  snapshot_ = Build();
  SetClient({{"app", "web"}, {"version", "v1"}});
  const ReadsPtr reads =
      Record([](View& view) { EXPECT_EQ(view.Policies(config::Kind::kAuthorizationPolicy).size(), 1u); });
  EXPECT_THAT(OfClient(reads), UnorderedElementsAre("Namespace", "Label app"));
  SetClient({{"app", "api"}});
  EXPECT_FALSE(HoldsNow(reads));
  Record([](View& view) { EXPECT_THAT(view.Policies(config::Kind::kAuthorizationPolicy), IsEmpty()); });
}

TEST_F(ViewTest, WhatNoQuestionNamesHoldsNowhere) {
  EXPECT_FALSE(HoldsNow(Record([](View& view) { view.MarkUnrepeatable(); })));
}

}  // namespace
}  // namespace fairlead::mesh
