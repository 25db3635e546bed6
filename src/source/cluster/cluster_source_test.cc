#include "source/cluster/cluster_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/eventually_fixture.h"
#include "base/strings.h"
#include "source/cluster/api_server_fake.h"
#include "source/file/source_fake.h"

namespace fairlead::source {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr char kNamespaces[] = "/api/v1/namespaces";
constexpr char kVirtualServices[] = "/apis/networking.istio.io/v1/virtualservices";
constexpr char kPolicies[] = "/apis/security.istio.io/v1/authorizationpolicies";

// What every API server is to be to a source, and what a source makes of it.
class ClusterSourceTest : public ::testing::Test {
 protected:
  ClusterSourceTest() {
    server_.Serve(kNamespaces);
    options_.access.server = server_.url();
    options_.access.proxy = "";
    options_.loop.watches.first_backoff = 20ms;
    options_.loop.watches.most_backoff = 100ms;
    options_.rediscover = 100ms;
  }
  ~ClusterSourceTest() override {
    if (source_ != nullptr) source_->Stop();
  }
  void Start() {
    source_ = std::make_unique<ClusterSource>(options_, &client_);
    ASSERT_TRUE(source_->Start(&sink_).ok());
  }
  void StartAndSync() {
    Start();
    ASSERT_TRUE(sink_.WaitForSync()) << ::testing::PrintToString(source_->Awaited());
  }
  void PutNamespace(const std::string& name, const std::string& v) {
    server_.Put(kNamespaces, "", name, "", StrCat(R"("labels":{"v":")", v, R"("})"));
  }
  void PutVirtualService(const std::string& name, const std::string& spec, const std::string& v = "1") {
    server_.Put(kVirtualServices, "n", name, StrCat(R"("spec":)", spec),
                StrCat(R"("labels":{"v":")", v, R"("})"));
  }
  // Not all that is waited for is said to the sink.
  bool WaitForRequest(std::string_view part, size_t count = 1) {
    return Eventually([&] { return server_.CountRequests(part) >= count; });
  }
  bool WaitUntilGone(std::string_view name) {
    return Eventually([&] { return sink_.Find(name) == nullptr; });
  }
  bool WaitUntilThere(std::string_view name) {
    return Eventually([&] { return sink_.Find(name) != nullptr; });
  }

  ApiServerFake server_;
  ClusterSource::Options options_;
  RecordingSink sink_;
  fetch::Client client_;
  std::unique_ptr<ClusterSource> source_;
};

TEST_F(ClusterSourceTest, WhatIsThereIsReadThenWhatChanges) {
  PutNamespace("a", "1");
  PutNamespace("b", "1");
  StartAndSync();
  EXPECT_TRUE(sink_.WaitForObjects("a=1 b=1"));
  EXPECT_THAT(source_->Awaited(), IsEmpty());
  PutNamespace("c", "1");
  PutNamespace("a", "2");
  server_.Delete(kNamespaces, "", "b");
  EXPECT_TRUE(sink_.WaitForObjects("a=2 c=1")) << sink_.Objects();
}

TEST_F(ClusterSourceTest, ManyObjectsComeInChunks) {
  options_.loop.watches.chunk = 7;
  std::string expected;
  for (int i = 10; i < 60; ++i) {
    PutNamespace(StrCat("n", i), "1");
    StrAppend(&expected, expected.empty() ? "" : " ", "n", i, "=1");
  }
  StartAndSync();
  EXPECT_TRUE(sink_.WaitForObjects(expected));
  EXPECT_EQ(server_.CountRequests("namespaces?limit=7&continue="), 7u);
}

TEST_F(ClusterSourceTest, KindsComeAsStreamingListsWhereTheServerHasThem) {
  options_.loop.watches.streaming = true;
  server_.SetStreaming(true);
  PutNamespace("a", "1");
  PutNamespace("b", "1");
  StartAndSync();
  EXPECT_TRUE(sink_.WaitForObjects("a=1 b=1"));
  PutNamespace("a", "2");
  EXPECT_TRUE(sink_.WaitForObjects("a=2 b=1"));
  EXPECT_EQ(server_.CountRequests("namespaces?limit"), 0u);
  server_.Hang(true);
  server_.Delete(kNamespaces, "", "b");
  server_.Compact();
  server_.Hang(false);
  server_.CutWatches();
  EXPECT_TRUE(sink_.WaitForObjects("a=2")) << sink_.Objects();
}

TEST_F(ClusterSourceTest, AServerWithoutStreamingListsIsListed) {
  options_.loop.watches.streaming = true;
  PutNamespace("a", "1");
  StartAndSync();
  EXPECT_TRUE(sink_.WaitForObjects("a=1"));
  EXPECT_EQ(server_.CountRequests("?sendInitialEvents"), 1u) << "one kind learns it for all";
  EXPECT_GT(server_.CountRequests("?resourceVersion=0"), 1u);
}

TEST_F(ClusterSourceTest, ObjectsKnowTheirCluster) {
  options_.cluster = "west";
  PutNamespace("a", "1");
  StartAndSync();
  ASSERT_TRUE(sink_.WaitForObjects("a=1"));
  EXPECT_EQ(sink_.Find("a")->cluster(), "west");
}

TEST_F(ClusterSourceTest, AfterACompactionWhatVanishedGoes) {
  PutNamespace("a", "1");
  PutNamespace("b", "1");
  StartAndSync();
  ASSERT_TRUE(WaitForRequest("namespaces?watch=1"));
  server_.Hang(true);
  server_.Delete(kNamespaces, "", "a");
  PutNamespace("c", "1");
  server_.Compact();
  server_.Hang(false);
  server_.CutWatches();
  EXPECT_TRUE(sink_.WaitForObjects("b=1 c=1")) << sink_.Objects();
  EXPECT_THAT(sink_.History("b"), ElementsAre("1")) << "what did not change is not told again";
}

TEST_F(ClusterSourceTest, AWatchThatIsCutGoesOnWhereItWas) {
  PutNamespace("a", "1");
  StartAndSync();
  for (int i = 2; i < 6; ++i) {
    server_.CutWatches();
    PutNamespace("a", StrCat(i));
    EXPECT_TRUE(sink_.WaitForObjects(StrCat("a=", i)));
  }
  EXPECT_EQ(server_.CountRequests("namespaces?resourceVersion=0&limit"), 1u);
  EXPECT_EQ(server_.CountRequests("namespaces?limit"), 0u) << "nothing is listed again";
}

TEST_F(ClusterSourceTest, AHangingWatchIsGivenUp) {
  options_.loop.watches.silence = 500ms;
  PutNamespace("a", "1");
  StartAndSync();
  ASSERT_TRUE(WaitForRequest("namespaces?watch=1"));
  server_.Hang(true);
  PutNamespace("a", "2");
  ASSERT_TRUE(WaitForRequest("namespaces?watch=1", 2));
  server_.Hang(false);
  EXPECT_TRUE(sink_.WaitForObjects("a=2"));
}

TEST_F(ClusterSourceTest, AServerThatRefusesIsAskedAgain) {
  for (const int status : {500, 429, 503, 401}) {
    server_.Refuse("", status);
    if (source_ == nullptr) Start();
    server_.CutWatches();
    std::this_thread::sleep_for(100ms);
    server_.Refuse("", 0);
    PutNamespace("a", StrCat(status));
    EXPECT_TRUE(sink_.WaitForObjects(StrCat("a=", status))) << status;
    EXPECT_TRUE(sink_.WaitForDiagnostic("")) << status;
  }
}

TEST_F(ClusterSourceTest, AServerThatIsNotThereIsWaitedFor) {
  options_.access.server = "http://127.0.0.1:1";
  Start();
  EXPECT_TRUE(sink_.WaitForDiagnostic("unreachable-cluster"));
  EXPECT_TRUE(Eventually([this] { return !source_->Awaited().empty(); }));
}

TEST_F(ClusterSourceTest, WhatWasSaidStaysWhileThereAreNoNews) {
  PutNamespace("a", "1");
  StartAndSync();
  server_.Refuse("", 503);
  server_.CutWatches();
  EXPECT_TRUE(sink_.WaitForDiagnostic("no news"));
  EXPECT_EQ(sink_.Objects(), "a=1");
}

TEST_F(ClusterSourceTest, AForbiddenKindIsNamedAndTheOthersGoOn) {
  server_.Serve("/api/v1/secrets");
  server_.Refuse("/api/v1/secrets", 403);
  PutNamespace("a", "1");
  Start();
  EXPECT_TRUE(sink_.WaitForObjects("a=1"));
  EXPECT_TRUE(sink_.WaitForDiagnostic("Secret cannot be read from"));
  EXPECT_TRUE(Eventually([this] {
    const auto awaited = source_->Awaited();
    return awaited.size() == 1 && awaited[0].starts_with("Secret 403: no /api/v1/secrets");
  }));
  server_.Refuse("/api/v1/secrets", 0);
  EXPECT_TRUE(sink_.WaitForSync());
  EXPECT_TRUE(sink_.WaitForDiagnostic(""));
}

TEST_F(ClusterSourceTest, AKindMayComeAndGo) {
  StartAndSync();
  server_.Define("networking.istio.io", "v1", "virtualservices");
  PutVirtualService("web", R"({"hosts":["web"]})");
  EXPECT_TRUE(WaitUntilThere("web"));
  server_.Undefine("networking.istio.io", "v1", "virtualservices");
  EXPECT_TRUE(WaitUntilGone("web"));
  server_.Define("networking.istio.io", "v1", "virtualservices");
  PutVirtualService("again", R"({"hosts":["web"]})");
  EXPECT_TRUE(WaitUntilThere("again"));
}

TEST_F(ClusterSourceTest, AnObjectThatCannotBeReadKeepsItsLastGoodVersion) {
  server_.Define("networking.istio.io", "v1", "virtualservices");
  PutVirtualService("web", R"({"hosts":["web"]})", "1");
  StartAndSync();
  ASSERT_TRUE(WaitUntilThere("web"));
  PutVirtualService("web", R"({"hosts":5})", "2");
  EXPECT_TRUE(sink_.WaitForDiagnostic("VirtualService n/web: spec.hosts: expected a list"));
  EXPECT_TRUE(sink_.WaitForDiagnostic("serving an earlier version"));
  EXPECT_THAT(sink_.History("web"), ElementsAre("1"));
  PutVirtualService("web", R"({"hosts":["new"],"fromTheFuture":{}})", "3");
  EXPECT_TRUE(sink_.WaitForDiagnostic(""));
  EXPECT_THAT(sink_.History("web"), ElementsAre("1", "3"));
}

TEST_F(ClusterSourceTest, APolicyThatCannotBeReadDeniesWhereThatIsWanted) {
  options_.deny_lost = true;
  server_.Define("security.istio.io", "v1", "authorizationpolicies");
  server_.Put(kPolicies, "n", "p", R"("spec":{"rules":5})");
  StartAndSync();
  EXPECT_TRUE(sink_.WaitForDiagnostic("every request to the workloads of namespace n is denied"));
  EXPECT_EQ(sink_.All().size(), 1u);
  server_.Put(kPolicies, "n", "p", R"("spec":{})");
  EXPECT_TRUE(WaitUntilThere("p"));
  EXPECT_EQ(sink_.All().size(), 1u);
}

TEST_F(ClusterSourceTest, OneNamespaceAloneMayBeWatched) {
  options_.only_namespace = "shop";
  server_.Serve("/api/v1/namespaces/shop/services");
  server_.Serve("/api/v1/services");
  Start();
  EXPECT_TRUE(WaitForRequest("/api/v1/namespaces/shop/services?"));
  EXPECT_EQ(server_.CountRequests("/api/v1/services?"), 0u);
}

TEST_F(ClusterSourceTest, KindsOfClusterSetsMayHaveAnotherGroup) {
  options_.mcs_group = "net.gke.io";
  options_.mcs_version = "v1";
  server_.Define("net.gke.io", "v1", "serviceimports");
  server_.Define("multicluster.x-k8s.io", "v1alpha1", "serviceimports");
  server_.Put("/apis/net.gke.io/v1/serviceimports", "shop", "web", R"("spec":{"ips":["10.0.0.1"]})");
  StartAndSync();
  EXPECT_TRUE(WaitUntilThere("web"));
  EXPECT_EQ(server_.CountRequests("multicluster.x-k8s.io/v1alpha1/serviceimports"), 0u);
  server_.Undefine("net.gke.io", "v1", "serviceimports");
  EXPECT_TRUE(WaitUntilGone("web"));
}

TEST_F(ClusterSourceTest, AnOptionalKindMayBeForbidden) {
  options_.optional = {config::Kind::kWorkloadEntry};
  server_.Define("networking.istio.io", "v1", "workloadentries");
  server_.Refuse("/apis/networking.istio.io/v1/workloadentries", 403);
  StartAndSync();
  EXPECT_TRUE(sink_.WaitForDiagnostic("WorkloadEntry of networking.istio.io cannot be read"));
}

TEST_F(ClusterSourceTest, IgnoredKindsAreNotWatched) {
  options_.ignored = {config::Kind::kNamespace};
  StartAndSync();
  EXPECT_EQ(server_.CountRequests("namespaces"), 0u);
}

TEST_F(ClusterSourceTest, OlderServersAndThoseThatHideDefinitionsAreReadToo) {
  server_.SetAggregated(false);
  server_.Refuse(kube::kDefinitionsPath, 403);
  server_.Define("networking.istio.io", "v1", "virtualservices");
  PutVirtualService("web", R"({"hosts":["web"]})");
  PutNamespace("a", "1");
  StartAndSync();
  EXPECT_TRUE(WaitUntilThere("web"));
  EXPECT_TRUE(WaitUntilThere("a"));
  server_.Define("networking.istio.io", "v1", "sidecars");
  server_.Put("/apis/networking.istio.io/v1/sidecars", "n", "late", R"("spec":{})");
  EXPECT_TRUE(WaitUntilThere("late")) << "it is asked again from time to time";
}

TEST_F(ClusterSourceTest, SecretsOfOtherProgramsAreNotAskedFor) {
  server_.Serve("/api/v1/secrets");
  StartAndSync();
  EXPECT_EQ(server_.CountRequests(
                "/api/v1/secrets?resourceVersion=0&limit=500&fieldSelector=type!%3Dhelm.sh%2Frelease.v1"),
            1u);
}

TEST_F(ClusterSourceTest, RequestsShowWhoAsks) {
  options_.access.token = "t0ken";
  StartAndSync();
  EXPECT_EQ(server_.authorization(), "Bearer t0ken");
}

TEST_F(ClusterSourceTest, IstiosObjectsOfAnotherRevisionAreNotThere) {
  options_.revision = "canary";
  server_.Define("networking.istio.io", "v1", "virtualservices");
  const auto put = [this](const std::string& name, const std::string& revision) {
    server_.Put(kVirtualServices, "n", name, R"("spec":{"hosts":["web"]})",
                revision.empty() ? "" : StrCat(R"("labels":{"istio.io/rev":")", revision, R"("})"));
  };
  put("own", "canary");
  put("other", "stable");
  put("all", "");
  server_.Put(kNamespaces, "", "labelled", "", R"("labels":{"istio.io/rev":"stable"})");
  StartAndSync();
  EXPECT_TRUE(WaitUntilThere("own") && WaitUntilThere("all"));
  EXPECT_TRUE(WaitUntilThere("labelled")) << "Kubernetes' own kinds are everybody's";
  EXPECT_EQ(sink_.Find("other"), nullptr);
  put("own", "stable");
  put("other", "canary");
  EXPECT_TRUE(WaitUntilGone("own"));
  EXPECT_TRUE(WaitUntilThere("other"));
}

TEST_F(ClusterSourceTest, LocksOfLeadersAreNoPartOfTheMesh) {
  constexpr char kConfigMaps[] = "/api/v1/configmaps";
  server_.Serve(kConfigMaps);
  const std::string lock = R"("annotations":{"control-plane.alpha.kubernetes.io/leader":"{}"})";
  server_.Put(kConfigMaps, "n", "lock", R"("data":{})", lock);
  server_.Put(kConfigMaps, "n", "roots", R"("data":{"root-cert.pem":"x"})");
  server_.Put(kConfigMaps, "n", "later", R"("data":{"a":"b"})");
  StartAndSync();
  EXPECT_TRUE(WaitUntilThere("roots") && WaitUntilThere("later"));
  EXPECT_EQ(sink_.Find("lock"), nullptr);
  server_.Put(kConfigMaps, "n", "later", R"("data":{"a":"b"})", lock);
  EXPECT_TRUE(WaitUntilGone("later"));
}

TEST_F(ClusterSourceTest, WithoutARevisionAllObjectsAreThere) {
  server_.Define("networking.istio.io", "v1", "virtualservices");
  server_.Put(kVirtualServices, "n", "other", R"("spec":{"hosts":["web"]})",
              R"("labels":{"istio.io/rev":"stable"})");
  StartAndSync();
  EXPECT_TRUE(WaitUntilThere("other"));
}

TEST_F(ClusterSourceTest, AtRestNothingIsAsked) {
  PutNamespace("a", "1");
  StartAndSync();
  ASSERT_TRUE(WaitForRequest("namespaces?watch=1"));
  ASSERT_TRUE(WaitForRequest("customresourcedefinitions?watch=1"));
  const size_t before = server_.Requests().size();
  std::this_thread::sleep_for(500ms);
  EXPECT_EQ(server_.Requests().size(), before);
}

TEST_F(ClusterSourceTest, StopsWhileItWaits) {
  StartAndSync();
  const auto before = std::chrono::steady_clock::now();
  source_->Stop();
  EXPECT_LT(std::chrono::steady_clock::now() - before, 2s);
}

}  // namespace
}  // namespace fairlead::source
