#include "controllers/election.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>

#include "base/eventually_fixture.h"
#include "base/strings.h"
#include "source/cluster/api_server_fake.h"

namespace fairlead::controllers {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kLeases[] = "/apis/coordination.k8s.io/v1/leases";
constexpr char kConfigMaps[] = "/api/v1/configmaps";
constexpr char kWebhooks[] = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations";

class ElectionTest : public ::testing::Test {
 protected:
  // One replica.
  struct Replica {
    Replica(const std::string& url, ElectionOptions options)
        : writer({.first_backoff = 5ms, .most_backoff = 20ms}, Access(url), &client),
          election(std::move(options), &writer, {[this] { ++won; }, [this] { ++lost; }}) {
      election.Start();
    }
    // As if it were killed.
    ~Replica() { writer.Stop(); }
    static kube::ServerAccess Access(const std::string& url) {
      kube::ServerAccess access;
      access.server = url;
      access.proxy = "";
      return access;
    }
    std::atomic<int> won{0}, lost{0};
    fetch::Client client;
    kube::ApiWriter writer;
    Election election;
  };

  ElectionTest() {
    server_.Serve(kLeases);
    server_.Serve(kWebhooks);
  }
  static ElectionOptions Options(const std::string& identity, const std::string& revision = "default") {
    ElectionOptions options;
    options.ns = "istio-system";
    options.lock = "istio-leader";
    options.identity = identity;
    options.revision = revision;
    options.lease = 1s;
    options.renew_limit = 500ms;
    options.retry = 50ms;
    return options;
  }
  std::unique_ptr<Replica> Start(ElectionOptions options) {
    return std::make_unique<Replica>(server_.url(), std::move(options));
  }
  std::string Lease(const std::string& name = "istio-leader") {
    return server_.Get(kLeases, "istio-system", name);
  }
  // A Lease of somebody who does not renew it.
  void PutLease(const std::string& holder, const std::string& renewed, const std::string& key = "default") {
    server_.Put(kLeases, "istio-system", "istio-leader",
                StrCat(R"("spec":{"holderIdentity":")", holder, R"(","leaseDurationSeconds":1,"renewTime":")",
                       renewed, R"(","acquireTime":")", renewed, R"(","leaseTransitions":3})"),
                StrCat(R"("annotations":{"leader.istio.io/holder-key":")", key, R"("})"));
  }

  source::ApiServerFake server_;
};

TEST_F(ElectionTest, OneOfTwoLeadsAndTheOtherFollowsWhenItsLeaseIsOver) {
  auto first = Start(Options("one"));
  ASSERT_TRUE(Eventually([&] { return first->election.Leads(); }));
  auto second = Start(Options("two"));
  std::this_thread::sleep_for(300ms);
  EXPECT_FALSE(second->election.Leads());
  EXPECT_THAT(Lease(), HasSubstr(R"("holderIdentity":"one")"));
  EXPECT_THAT(Lease(), HasSubstr(R"("leader.istio.io/holder-key":"default")"));
  first.reset();
  const auto killed = Clock::now();
  ASSERT_TRUE(Eventually([&] { return second->election.Leads(); }));
  EXPECT_GE(Clock::now() - killed, 800ms) << "not before the lease was over";
  EXPECT_LE(Clock::now() - killed, 2s);
  EXPECT_THAT(Lease(), HasSubstr(R"("leaseTransitions":1)"));
}

TEST_F(ElectionTest, ClocksOfOthersDoNotCount) {
  PutLease("ahead", "2126-01-01T00:00:00.000000Z");
  const auto begin = Clock::now();
  auto one = Start(Options("one"));
  ASSERT_TRUE(Eventually([&] { return one->election.Leads(); }));
  EXPECT_GE(Clock::now() - begin, 950ms);
  EXPECT_LE(Clock::now() - begin, 2s);
  EXPECT_THAT(Lease(), HasSubstr(R"("leaseTransitions":4)"));
}

TEST_F(ElectionTest, AClockThatIsBehindDoesNotLoseALease) {
  PutLease("behind", "1999-01-01T00:00:00.000000Z");
  auto one = Start(Options("one"));
  std::this_thread::sleep_for(500ms);
  PutLease("behind", "1999-01-01T00:00:01.000000Z");
  std::this_thread::sleep_for(700ms);
  EXPECT_FALSE(one->election.Leads()) << "it was renewed";
}

TEST_F(ElectionTest, ALeaderThatCannotRenewStopsByItself) {
  auto one = Start(Options("one"));
  ASSERT_TRUE(Eventually([&] { return one->election.Leads(); }));
  server_.RefuseWrites(500, 1'000'000);
  EXPECT_TRUE(Eventually([&] { return !one->election.Leads(); }, 700ms));
  EXPECT_TRUE(Eventually([&] { return one->lost == 1; }));
  server_.RefuseWrites(500, 0);
  EXPECT_TRUE(Eventually([&] { return one->election.Leads(); }));
  EXPECT_EQ(one->election.terms(), 2u);
}

TEST_F(ElectionTest, ALeaderWhoseLeaseIsTakenStops) {
  auto one = Start(Options("one"));
  ASSERT_TRUE(Eventually([&] { return one->election.Leads(); }));
  PutLease("thief", "2026-01-01T00:00:00.000000Z");
  EXPECT_TRUE(Eventually([&] { return !one->election.Leads(); }, 400ms));
  EXPECT_TRUE(Eventually([&] { return one->lost == 1; }));
}

TEST_F(ElectionTest, ALeaseThatIsDeletedIsMadeAgain) {
  auto one = Start(Options("one"));
  ASSERT_TRUE(Eventually([&] { return one->election.Leads(); }));
  server_.Delete(kLeases, "istio-system", "istio-leader");
  EXPECT_TRUE(Eventually([&] { return !Lease().empty(); }));
  EXPECT_TRUE(one->election.Leads());
  EXPECT_EQ(one->lost, 0);
}

TEST_F(ElectionTest, TheDefaultRevisionTakesTheLock) {
  auto canary = Start(Options("canary-1", "canary"));
  ASSERT_TRUE(Eventually([&] { return canary->election.Leads(); }));
  auto stable = Start(Options("stable-1", "stable"));
  std::this_thread::sleep_for(300ms);
  EXPECT_FALSE(stable->election.Leads()) << "no revision is the default";
  server_.Put(kWebhooks, "", "istio-revision-tag-default", "", R"("labels":{"istio.io/rev":"stable"})");
  EXPECT_TRUE(Eventually([&] { return stable->election.Leads(); }, 600ms));
  EXPECT_TRUE(Eventually([&] { return !canary->election.Leads(); }));
  std::this_thread::sleep_for(300ms);
  EXPECT_TRUE(stable->election.Leads());
  EXPECT_FALSE(canary->election.Leads());
}

TEST_F(ElectionTest, WhoResidesInAnotherClusterLeavesTheLockToThoseWhoAreThere) {
  ElectionOptions of_other = Options("far-1");
  of_other.other_cluster = "east";
  auto far = Start(of_other);
  ASSERT_TRUE(Eventually([&] { return far->election.Leads(); }));
  EXPECT_THAT(Lease(), HasSubstr("\"^default\""));
  of_other.identity = "far-2";
  auto another = Start(of_other);
  std::this_thread::sleep_for(300ms);
  EXPECT_FALSE(another->election.Leads()) << "they are equals";
  auto near = Start(Options("near"));
  EXPECT_TRUE(Eventually([&] { return near->election.Leads(); }, 600ms));
  EXPECT_TRUE(Eventually([&] { return !far->election.Leads(); }));
  std::this_thread::sleep_for(300ms);
  EXPECT_TRUE(near->election.Leads());
  EXPECT_FALSE(far->election.Leads() || another->election.Leads());
}

TEST_F(ElectionTest, RevisionsWithLocksOfTheirOwnDoNotMeet) {
  ElectionOptions of_one = Options("one", "blue"), of_two = Options("two", "green");
  of_one.per_revision = of_two.per_revision = true;
  auto one = Start(of_one), two = Start(of_two);
  EXPECT_TRUE(Eventually([&] { return one->election.Leads() && two->election.Leads(); }));
  EXPECT_THAT(Lease("istio-leader-blue"), HasSubstr("\"one\""));
  EXPECT_THAT(Lease("istio-leader-green"), HasSubstr("\"two\""));
  EXPECT_THAT(Lease("istio-leader-green"), Not(HasSubstr("holder-key")));
}

TEST_F(ElectionTest, ALeaderThatGoesGivesTheLeaseBack) {
  ElectionOptions patient = Options("one");
  patient.lease = 60s;
  patient.renew_limit = 30s;
  auto one = Start(patient);
  ASSERT_TRUE(Eventually([&] { return one->election.Leads(); }));
  auto two = Start(Options("two"));
  std::atomic<bool> released{false};
  one->election.Release([&] { released = true; });
  EXPECT_FALSE(one->election.Leads());
  EXPECT_TRUE(Eventually([&] { return released.load(); }, 2s));
  EXPECT_TRUE(Eventually([&] { return two->election.Leads(); }, 1s));
}

TEST_F(ElectionTest, WithoutElectionsTheOneReplicaLeads) {
  ElectionOptions alone = Options("one");
  alone.enabled = false;
  auto one = Start(alone);
  EXPECT_TRUE(Eventually([&] { return one->election.Leads(); }));
  EXPECT_EQ(Lease(), "");
}

// istiod has some of its locks there. It and Fairlead take turns by the same record.
TEST_F(ElectionTest, ALockInAConfigMapIsSharedWithIstiod) {
  server_.Serve(kConfigMaps);
  const auto put = [&](const std::string& renewed) {
    server_.Put(
        kConfigMaps, "istio-system", "istio-leader", R"("data":{"more":"stays"})",
        StrCat(R"("annotations":{"control-plane.alpha.kubernetes.io/leader":)",
               R"("{\"holderIdentity\":\"istiod-1\",\"holderKey\":\"default\",\"leaseDurationSeconds\":1,)",
               R"(\"acquireTime\":\"2026-01-01T00:00:00Z\",\"renewTime\":\")", renewed,
               R"(\",\"leaderTransitions\":3}"})"));
  };
  put("2026-01-01T00:00:00Z");
  ElectionOptions options = Options("one");
  options.object = LockObject::kConfigMap;
  auto one = Start(options);
  std::this_thread::sleep_for(600ms);
  put("2026-01-01T00:00:01Z");
  std::this_thread::sleep_for(600ms);
  EXPECT_FALSE(one->election.Leads()) << "istiod renewed it";
  ASSERT_TRUE(Eventually([&] { return one->election.Leads(); }));
  const std::string map = server_.Get(kConfigMaps, "istio-system", "istio-leader");
  EXPECT_THAT(map, HasSubstr(R"(\"holderIdentity\":\"one\")"));
  EXPECT_THAT(map, HasSubstr(R"(\"holderKey\":\"default\")"));
  EXPECT_THAT(map, HasSubstr(R"(\"leaderTransitions\":4)"));
  EXPECT_THAT(map, HasSubstr("stays"));
  EXPECT_EQ(Lease(), "") << "no Lease beside it";
  std::atomic<bool> released{false};
  one->election.Release([&] { released = true; });
  ASSERT_TRUE(Eventually([&] { return released.load(); }));
  EXPECT_THAT(server_.Get(kConfigMaps, "istio-system", "istio-leader"),
              HasSubstr(R"(\"holderIdentity\":\"\")"));
}

TEST(LeaseTest, ARecordGoesIntoALockAndTheRestStays) {
  for (const LockObject kind : {LockObject::kLease, LockObject::kConfigMap}) {
    nlohmann::json lock = {{"metadata", {{"name", "l"}, {"labels", {{"a", "b"}}}}}, {"spec", {{"more", 1}}}};
    const LeaseRecord record{"me", "rev", "t1", "t2", 30, 7};
    SetRecord(kind, record, &lock);
    EXPECT_EQ(RecordOf(kind, lock), record);
    EXPECT_EQ(lock["metadata"]["labels"]["a"], "b");
    EXPECT_EQ(lock["spec"]["more"], 1);
  }
  EXPECT_EQ(RecordOf(LockObject::kLease, {{"spec", {{"holderIdentity", 7}, {"leaseDurationSeconds", "x"}}}}),
            LeaseRecord());
  for (const char* text : {"", "{", "[]", R"({"holderIdentity": 7})"}) {
    nlohmann::json map;
    map["metadata"]["annotations"]["control-plane.alpha.kubernetes.io/leader"] = text;
    EXPECT_EQ(RecordOf(LockObject::kConfigMap, map), LeaseRecord()) << text;
  }
  EXPECT_EQ(MicroTimeText(std::chrono::system_clock::time_point(std::chrono::microseconds(1'500'000))),
            "1970-01-01T00:00:01.500000Z");
}

}  // namespace
}  // namespace fairlead::controllers
