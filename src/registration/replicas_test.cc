#include <gtest/gtest.h>

#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>

#include "base/eventually_fixture.h"
#include "base/json.h"
#include "base/strings.h"
#include "registration/cluster_store.h"
#include "registration/registrar.h"
#include "registration/test_world.h"
#include "source/cluster/api_server_fake.h"

// Replicas that register proxies in one API server.
namespace fairlead::registration {
namespace {

using namespace std::chrono_literals;
using config::Kind;

constexpr char kEntries[] = "/apis/networking.istio.io/v1/workloadentries";
constexpr char kEntry[] = "vms-10.0.0.7";

class ReplicasTest : public ::testing::Test {
 protected:
  struct Replica {
    std::unique_ptr<ClusterStore> store;
    std::unique_ptr<Registrar> registrar;
  };
  ReplicasTest() {
    server_.Serve(kEntries);
    Put(TestGroup());
  }
  ~ReplicasTest() override {
    for (auto& [name, replica] : replicas_) replica.store->Stop();
  }
  Replica& Start(const std::string& name) {
    kube::ServerAccess access;
    access.server = server_.url();
    access.proxy = "";
    ClusterStore::Options options;
    options.writer.first_backoff = 5ms;
    options.writer.most_backoff = 20ms;
    options.objects = [this] { return Objects(); };
    Registrar::Options registrar;
    registrar.rules.replica = name;
    registrar.grace = 150ms;
    registrar.sweep_every = 100ms;
    registrar.between_health = 10ms;
    registrar.between_cleanups = 1ms;
    registrar.first_retry = 50ms;
    registrar.most_retry = 100ms;
    registrar.objects = options.objects;
    Replica& replica = replicas_[name];
    replica.store = std::make_unique<ClusterStore>(std::move(options), access, &client_);
    replica.registrar = std::make_unique<Registrar>(std::move(registrar), replica.store.get());
    return replica;
  }
  absl::Status Connect(Replica& replica, uint64_t stream, const model::ProxyPtr& proxy = TestProxy(),
                       std::chrono::milliseconds ahead = 0ms) {
    const auto answer = std::make_shared<std::promise<absl::Status>>();
    replica.registrar->OnConnected(stream, proxy, std::chrono::system_clock::now() + ahead,
                                   [answer](const absl::Status& status) { answer->set_value(status); });
    auto future = answer->get_future();
    if (future.wait_for(20s) != std::future_status::ready) return absl::DeadlineExceededError("no answer");
    return future.get();
  }
  config::ObjectStore Objects() {
    std::lock_guard lock(mutex_);
    return objects_;
  }
  void Put(const config::ConfigPtr& object) { Tell({config::KeyOf(*object), object}); }
  void Tell(const config::ObjectChange& change) {
    {
      std::lock_guard lock(mutex_);
      objects_.Apply({&change, 1});
    }
    for (auto& [name, replica] : replicas_) replica.registrar->OnChanges({&change, 1});
  }
  // As each replica's watch would bring it.
  void Watch() {
    const std::string text = server_.Get(kEntries, "shop", kEntry);
    Tell({{Kind::kWorkloadEntry, Interned("shop"), Interned(kEntry)},
          text.empty() ? nullptr : TestObject(Kind::kWorkloadEntry, text)});
  }
  nlohmann::json Entry() {
    return ParseJson(server_.Get(kEntries, "shop", kEntry)).value_or(nlohmann::json::object());
  }
  std::string Annotation(const char* key) {
    const auto entry = Entry();
    if (!entry.contains("metadata")) return "no entry";
    return JsonString(entry["metadata"]["annotations"], key);
  }

  source::ApiServerFake server_;
  fetch::Client client_;
  std::mutex mutex_;
  config::ObjectStore objects_;
  std::map<std::string, Replica> replicas_;
};

TEST_F(ReplicasTest, TheEntryIsMadeWithItsGroupAsOwner) {
  ASSERT_TRUE(Connect(Start("istiod-1"), 1).ok());
  const auto entry = Entry();
  EXPECT_EQ(entry["apiVersion"], "networking.istio.io/v1");
  EXPECT_EQ(entry["spec"]["address"], "10.0.0.7");
  EXPECT_EQ(entry["spec"]["ports"]["http"], 8080);
  EXPECT_EQ(entry["metadata"]["labels"]["class"], "group");
  EXPECT_EQ(entry["metadata"]["ownerReferences"][0]["uid"], "u-1");
  EXPECT_EQ(entry["metadata"]["ownerReferences"][0]["controller"], true);
  EXPECT_EQ(Annotation(kControllerAnnotation), "istiod-1");
}

TEST_F(ReplicasTest, AProxyThatMovesIsNotDeletedByTheReplicaThatItLeft) {
  Replica& first = Start("istiod-1");
  Replica& second = Start("istiod-2");
  ASSERT_TRUE(Connect(first, 1).ok());
  ASSERT_TRUE(Connect(second, 1).ok());
  first.registrar->OnDisconnected(1);
  first.registrar->Drain(5s);
  std::this_thread::sleep_for(400ms);
  EXPECT_EQ(Annotation(kControllerAnnotation), "istiod-2");
  EXPECT_EQ(Annotation(kDisconnectedAnnotation), "");
  EXPECT_EQ(server_.CountRequests("POST "), 1u);
  EXPECT_EQ(server_.CountRequests("DELETE "), 0u);
}

TEST_F(ReplicasTest, AProxyThatMovesToAReplicaWhoseClockIsAnHourBehindKeepsItsEntry) {
  Replica& first = Start("istiod-1");
  Replica& second = Start("istiod-2");
  ASSERT_TRUE(Connect(first, 1, TestProxy(), 3600s).ok());
  ASSERT_TRUE(Connect(second, 1).ok());
  first.registrar->OnDisconnected(1);
  first.registrar->Drain(5s);
  Watch();  // tells the second one that the first took the proxy for gone
  EXPECT_TRUE(Eventually([&] { return Annotation(kControllerAnnotation) == "istiod-2"; }));
  std::this_thread::sleep_for(400ms);
  EXPECT_EQ(Annotation(kDisconnectedAnnotation), "");
  EXPECT_NE(Annotation(kConnectedAnnotation), "no entry");
}

TEST_F(ReplicasTest, AWriteThatConflictsIsDecidedAgain) {
  Replica& replica = Start("istiod-1");
  ASSERT_TRUE(Connect(replica, 1).ok());
  server_.RefuseWrites(409, 3);
  replica.registrar->OnDisconnected(1);
  EXPECT_TRUE(Eventually([&] { return server_.CountRequests("PATCH ") >= 4; }));
  EXPECT_TRUE(Eventually([&] { return Annotation(kConnectedAnnotation).empty(); }));
}

TEST_F(ReplicasTest, HealthIsWrittenToTheStatusAlone) {
  Replica& replica = Start("istiod-1");
  ASSERT_TRUE(Connect(replica, 1).ok());
  replica.registrar->OnHealth(1, false, "no answer");
  ASSERT_TRUE(Eventually([&] { return Entry().contains("status"); }));
  const auto condition = Entry()["status"]["conditions"][0];
  EXPECT_EQ(condition["type"], "Healthy");
  EXPECT_EQ(condition["status"], "False");
  EXPECT_EQ(condition["message"], "no answer");
  EXPECT_EQ(server_.CountRequests("/status"), 1u);
}

TEST_F(ReplicasTest, WhatAReplicaThatIsGoneLeftBehindIsDeleted) {
  server_.Put(
      kEntries, "shop", kEntry, R"("spec":{"address":"10.0.0.7"})",
      R"("annotations":{"istio.io/autoRegistrationGroup":"vms","istio.io/workloadController":"istiod-0",)"
      R"("istio.io/disconnectedAt":"2026-01-02T03:04:05Z"})");
  Start("istiod-1");
  Start("istiod-2");
  Watch();
  ASSERT_TRUE(Eventually([&] { return Entry().empty(); }));
  Watch();
  std::this_thread::sleep_for(300ms);
  EXPECT_LE(server_.CountRequests("DELETE "), 2u);
}

TEST_F(ReplicasTest, AnEntryOfAConnectionThatMayLastForEverStays) {
  server_.Put(
      kEntries, "shop", kEntry, R"("spec":{"address":"10.0.0.7"})",
      R"("annotations":{"istio.io/autoRegistrationGroup":"vms","istio.io/workloadController":"istiod-0",)"
      R"("istio.io/connectedAt":"2026-01-02T03:04:05Z"})");
  Start("istiod-1");
  Watch();
  std::this_thread::sleep_for(400ms);
  EXPECT_FALSE(Entry().empty());
}

TEST_F(ReplicasTest, AnEntryThatSomebodyDeletesIsMadeAgain) {
  ASSERT_TRUE(Connect(Start("istiod-1"), 1).ok());
  Watch();
  server_.Delete(kEntries, "shop", kEntry);
  Watch();
  EXPECT_TRUE(Eventually([&] { return !Entry().empty(); }));
}

TEST_F(ReplicasTest, AKnownProxyIsServedWhileTheApiServerIsNotAndRegisteredAfterwards) {
  Replica& replica = Start("istiod-1");
  server_.Put(kEntries, "shop", kEntry, R"("spec":{"address":"10.0.0.7","serviceAccount":"vm"})",
              R"("annotations":{"istio.io/autoRegistrationGroup":"vms"})");
  Watch();
  server_.Refuse("", 500);
  EXPECT_TRUE(Connect(replica, 1).ok());
  EXPECT_TRUE(absl::IsUnavailable(Connect(replica, 2, TestProxy(R"("INSTANCE_IPS": "10.0.0.8")"))))
      << "not known";
  server_.Refuse("", 0);
  EXPECT_TRUE(Eventually([&] { return Annotation(kControllerAnnotation) == "istiod-1"; }));
}

}  // namespace
}  // namespace fairlead::registration
