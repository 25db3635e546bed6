#include "source/cluster/remote_clusters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/escaping.h"
#include "base/eventually_fixture.h"
#include "base/metrics.h"
#include "base/strings.h"
#include "source/cluster/api_server_fake.h"
#include "source/file/source_fake.h"

namespace fairlead::source {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kSecrets[] = "/api/v1/namespaces/system/secrets";
constexpr char kNamespaces[] = "/api/v1/namespaces";

std::string Kubeconfig(const std::string& server, const std::string& user = "token: t") {
  return StrCat(
      "{current-context: c, contexts: [{name: c, context: {cluster: k, user: u}}], clusters: [{name: k, ",
      "cluster: {server: '", server, "'}}], users: [{name: u, user: {", user, "}}]}");
}

std::string Base64(const std::string& bytes) {
  std::string text;
  absl::Base64Escape(ToAbsl(bytes), &text);
  return text;
}

// A server with Secrets, and two others.
class RemoteClustersTest : public ::testing::Test {
 protected:
  RemoteClustersTest() {
    own_.Serve(kSecrets);
    east_.Serve(kNamespaces);
    west_.Serve(kNamespaces);
    options_.access.server = own_.url();
    options_.access.proxy = "";
    options_.ns = "system";
    options_.rules.own_cluster = "main";
    options_.timeout = 20s;
    for (auto* watches : {&options_.loop.watches, &options_.clusters.loop.watches}) {
      watches->first_backoff = 20ms;
      watches->most_backoff = 100ms;
    }
    options_.clusters.watch_definitions = false;
  }
  ~RemoteClustersTest() override {
    if (source_ != nullptr) source_->Stop();
  }
  void Start() {
    source_ = std::make_unique<RemoteClusters>(options_, &client_);
    ASSERT_TRUE(source_->Start(&sink_).ok());
  }
  void StartAndSync() {
    Start();
    ASSERT_TRUE(sink_.WaitForSync()) << ::testing::PrintToString(source_->Awaited());
  }
  // Each entry a key and its bytes.
  void PutSecret(const std::string& name, const std::vector<std::pair<std::string, std::string>>& data) {
    std::string fields;
    for (const auto& [key, bytes] : data)
      StrAppend(&fields, fields.empty() ? "" : ",", "\"", key, "\":\"", Base64(bytes), "\"");
    own_.Put(kSecrets, "system", name, StrCat(R"("data":{)", fields, "}"),
             R"("labels":{"istio/multiCluster":"true"})");
  }
  static void PutNamespace(ApiServerFake& server, const std::string& name, const std::string& v) {
    server.Put(kNamespaces, "", name, "", StrCat(R"("labels":{"v":")", v, R"("})"));
  }
  // "east of system/remote: synced", each.
  std::vector<std::string> States() const {
    std::vector<std::string> texts;
    for (const RemoteClusters::State& state : source_->States())
      texts.push_back(StrCat(state.id, " of ", state.secret, ": ", state.status));
    return texts;
  }
  static double RemoteCount() {
    return metrics::GetGauge("istiod_managed_clusters", "", {{"cluster_type", "remote"}}).Value();
  }

  ApiServerFake own_, east_, west_;
  RemoteClusters::Options options_;
  RecordingSink sink_;
  fetch::Client client_;
  std::unique_ptr<RemoteClusters> source_;
};

TEST_F(RemoteClustersTest, WithoutSecretsThereIsNothingToWaitFor) {
  StartAndSync();
  EXPECT_THAT(States(), IsEmpty());
  EXPECT_EQ(own_.CountRequests(
                StrCat(kSecrets, "?resourceVersion=0&limit=500&labelSelector=istio%2FmultiCluster%3Dtrue")),
            1u);
}

TEST_F(RemoteClustersTest, EachKeyOfASecretIsRead) {
  PutNamespace(east_, "a", "1");
  PutNamespace(west_, "b", "1");
  PutSecret("remote", {{"east", Kubeconfig(east_.url())}, {"west", Kubeconfig(west_.url())}});
  StartAndSync();
  EXPECT_TRUE(sink_.WaitForObjects("a=1 b=1"));
  EXPECT_EQ(sink_.Find("a")->cluster(), "east");
  EXPECT_EQ(sink_.Find("b")->cluster(), "west");
  EXPECT_THAT(States(), ElementsAre("east of system/remote: synced", "west of system/remote: synced"));
  EXPECT_EQ(RemoteCount(), 2);
  PutNamespace(east_, "a", "2");
  EXPECT_TRUE(sink_.WaitForObjects("a=2 b=1"));
  EXPECT_THAT(source_->Awaited(), IsEmpty());
}

TEST_F(RemoteClustersTest, AClusterComesAndGoesWithItsKey) {
  PutNamespace(east_, "a", "1");
  PutNamespace(west_, "b", "1");
  StartAndSync();
  PutSecret("remote", {{"east", Kubeconfig(east_.url())}, {"west", Kubeconfig(west_.url())}});
  EXPECT_TRUE(sink_.WaitForObjects("a=1 b=1"));
  PutSecret("remote", {{"west", Kubeconfig(west_.url())}});
  EXPECT_TRUE(sink_.WaitForObjects("b=1"));
  own_.Delete(kSecrets, "system", "remote");
  EXPECT_TRUE(sink_.WaitForObjects(""));
  EXPECT_TRUE(Eventually([this] { return States().empty() && RemoteCount() == 0; }));
}

TEST_F(RemoteClustersTest, AnotherKubeconfigTakesThePlaceWithoutAGap) {
  PutNamespace(east_, "same", "1");
  PutNamespace(east_, "old", "1");
  PutNamespace(west_, "same", "1");
  PutNamespace(west_, "new", "1");
  PutSecret("remote", {{"east", Kubeconfig(east_.url())}});
  StartAndSync();
  EXPECT_TRUE(sink_.WaitForObjects("old=1 same=1"));
  const size_t batches = sink_.batches();
  PutSecret("remote", {{"east", Kubeconfig(west_.url())}});
  EXPECT_TRUE(sink_.WaitForObjects("new=1 same=1"));
  EXPECT_EQ(sink_.batches(), batches + 1) << "all at once";
  EXPECT_THAT(sink_.History("same"), ElementsAre("1")) << "what is the same is not told again";
  PutNamespace(east_, "late", "1");  // the earlier connection says nothing any more
  PutNamespace(west_, "new", "2");
  EXPECT_TRUE(sink_.WaitForObjects("new=2 same=1"));
}

TEST_F(RemoteClustersTest, TheEarlierKubeconfigServesUntilTheNextOneDoes) {
  options_.timeout = 300ms;
  PutNamespace(east_, "a", "1");
  PutNamespace(west_, "b", "1");
  PutSecret("remote", {{"east", Kubeconfig(east_.url())}});
  StartAndSync();
  EXPECT_TRUE(sink_.WaitForObjects("a=1"));
  west_.Refuse("", 401);
  PutSecret("remote", {{"east", Kubeconfig(west_.url())}});
  EXPECT_TRUE(sink_.WaitForDiagnostic("the earlier kubeconfig stays in effect"));
  PutNamespace(east_, "a", "2");
  EXPECT_TRUE(sink_.WaitForObjects("a=2"));
  EXPECT_THAT(States(), ElementsAre("east of system/remote: timeout"));
  west_.Refuse("", 0);
  EXPECT_TRUE(sink_.WaitForObjects("b=1"));
  EXPECT_TRUE(sink_.WaitForDiagnostic(""));
  EXPECT_THAT(States(), ElementsAre("east of system/remote: synced"));
}

TEST_F(RemoteClustersTest, AKubeconfigThatIsTakenBackIsNoChange) {
  options_.timeout = 300ms;
  PutNamespace(east_, "a", "1");
  PutSecret("remote", {{"east", Kubeconfig(east_.url())}});
  StartAndSync();
  PutSecret("remote", {{"east", Kubeconfig("http://127.0.0.1:1")}});
  EXPECT_TRUE(sink_.WaitForDiagnostic("the earlier kubeconfig stays in effect"));
  PutSecret("remote", {{"east", Kubeconfig(east_.url())}});
  EXPECT_TRUE(sink_.WaitForDiagnostic(""));
  EXPECT_THAT(States(), ElementsAre("east of system/remote: synced"));
  EXPECT_THAT(sink_.History("a"), ElementsAre("1"));
  EXPECT_EQ(east_.CountRequests("namespaces?resourceVersion=0&limit"), 1u) << "the connection stays";
  EXPECT_EQ(east_.CountRequests("namespaces?limit"), 0u) << "the same";
}

TEST_F(RemoteClustersTest, ABrokenKubeconfigIsNamedByItsSecretAndKey) {
  PutNamespace(east_, "a", "1");
  PutSecret("remote", {{"east", Kubeconfig(east_.url())}, {"west", "5"}, {"main", "x"}});
  PutSecret("run", {{"north", Kubeconfig("http://a", "exec: {command: /bin/false}")}});
  StartAndSync();
  EXPECT_TRUE(sink_.WaitForObjects("a=1")) << "the others go on";
  EXPECT_TRUE(sink_.WaitForDiagnostic("error: Secret system/remote: data.west: kubeconfig:1: "));
  EXPECT_TRUE(sink_.WaitForDiagnostic("Secret system/remote: data.main: this is the control plane's own"));
  EXPECT_TRUE(sink_.WaitForDiagnostic(
      "Secret system/run: data.north: kubeconfig:1: users[0].user.exec: this is not accepted"));
  PutSecret("remote", {{"east", "current-context: none"}});
  EXPECT_TRUE(sink_.WaitForDiagnostic("the earlier kubeconfig of the cluster stays in effect"));
  PutNamespace(east_, "a", "2");
  EXPECT_TRUE(sink_.WaitForObjects("a=2"));
  for (const std::string& text : sink_.EverSaid()) EXPECT_THAT(text, testing::Not(HasSubstr("token")));
}

TEST_F(RemoteClustersTest, AClusterThatDoesNotAnswerHoldsTheStartUpForSoLong) {
  options_.timeout = 500ms;
  auto& timeouts = metrics::GetCounter("remote_cluster_sync_timeouts_total", "", {{"cluster", "late"}});
  const double before = timeouts.Value();
  east_.Refuse("", 503);
  PutNamespace(east_, "a", "1");
  PutSecret("remote", {{"late", Kubeconfig(east_.url())}});
  Start();
  EXPECT_TRUE(Eventually([this] {
    const auto awaited = source_->Awaited();
    return awaited.size() == 1 && awaited[0].starts_with("cluster late: ");
  }));
  EXPECT_TRUE(sink_.WaitForSync());
  EXPECT_TRUE(
      sink_.WaitForDiagnostic("Secret system/remote: data.late: the cluster was not read within 500ms"));
  EXPECT_EQ(timeouts.Value(), before + 1);
  EXPECT_THAT(States(), ElementsAre("late of system/remote: timeout"));
  east_.Refuse("", 0);
  EXPECT_TRUE(sink_.WaitForObjects("a=1"));
  EXPECT_TRUE(sink_.WaitForDiagnostic(""));
  EXPECT_EQ(metrics::GetGauge("istiod_remote_cluster_sync_status", "",
                              {{"cluster", "late"}, {"cluster_type", "remote"}, {"status", "synced"}})
                .Value(),
            1);
}

TEST_F(RemoteClustersTest, WhatALostClusterSaidLastStays) {
  PutNamespace(east_, "a", "1");
  PutSecret("remote", {{"east", Kubeconfig(east_.url())}});
  StartAndSync();
  EXPECT_TRUE(sink_.WaitForObjects("a=1"));
  east_.Refuse("", 503);
  east_.CutWatches();
  EXPECT_TRUE(sink_.WaitForDiagnostic("cluster east: the API server"));
  PutNamespace(east_, "a", "2");
  EXPECT_EQ(sink_.Objects(), "a=1");
  east_.Refuse("", 0);
  EXPECT_TRUE(sink_.WaitForObjects("a=2"));
  EXPECT_TRUE(sink_.WaitForDiagnostic(""));
}

TEST_F(RemoteClustersTest, WhileTheSecretsCannotBeReadTheClustersStay) {
  PutNamespace(east_, "a", "1");
  PutSecret("remote", {{"east", Kubeconfig(east_.url())}});
  StartAndSync();
  own_.Refuse("", 403);
  own_.CutWatches();
  EXPECT_TRUE(sink_.WaitForDiagnostic("Secrets with kubeconfigs of namespace system cannot be read from"));
  PutNamespace(east_, "a", "2");
  EXPECT_TRUE(sink_.WaitForObjects("a=2"));
  own_.Refuse("", 0);
  EXPECT_TRUE(sink_.WaitForDiagnostic(""));
}

TEST_F(RemoteClustersTest, StopsWhileClustersAreWaitedFor) {
  east_.Refuse("", 503);
  PutSecret("remote", {{"east", Kubeconfig(east_.url())}});
  Start();
  EXPECT_TRUE(Eventually([this] { return !States().empty(); }));
  const auto before = std::chrono::steady_clock::now();
  source_->Stop();
  EXPECT_LT(std::chrono::steady_clock::now() - before, 2s);
}

}  // namespace
}  // namespace fairlead::source
