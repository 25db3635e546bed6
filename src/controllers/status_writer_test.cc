#include "controllers/status_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "base/clock.h"
#include "base/eventually_fixture.h"
#include "base/json.h"
#include "base/strings.h"
#include "config/read/json_reader.h"
#include "config/read/stored_object.h"
#include "controllers/verdict_sweep.h"
#include "source/cluster/api_server_fake.h"

namespace fairlead::controllers {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kRoutes[] = "/apis/gateway.networking.k8s.io/v1/httproutes";
constexpr char kEntries[] = "/apis/networking.istio.io/v1/serviceentries";
constexpr char kTime[] = "2026-01-02T03:04:05Z";

const std::vector<gateway_api::VerdictCondition>& Verdicts() {
  static const auto* verdicts =
      new std::vector<gateway_api::VerdictCondition>{{"rejected", "AcceptedByProxies", "Rejected"}};
  return *verdicts;
}

class StatusWriterTest : public ::testing::Test {
 protected:
  StatusWriterTest() {
    server_.Serve(kRoutes);
    server_.Serve(kEntries);
    kube::ServerAccess access;
    access.server = server_.url();
    access.proxy = "";
    writer_ = std::make_unique<kube::ApiWriter>(
        kube::ApiWriter::Options{.first_backoff = 5ms, .most_backoff = 20ms}, access, &client_);
    StatusWriter::Options options;
    options.statuses = [this] {
      std::lock_guard lock(mutex_);
      return statuses_;
    };
    options.leads = [this](config::Kind) { return leads_.load(); };
    options.verdicts = Verdicts();
    options.now = [] { return std::string(kTime); };
    options.quiet = 5ms;
    options.first_retry = 20ms;
    status_writer_ = std::make_unique<StatusWriter>(std::move(options), writer_.get());
  }
  ~StatusWriterTest() override { writer_->Stop(); }

  static OrderedJson Status(const std::string& text) { return *ParseOrderedJson(text); }
  static std::string Accepted(const std::string& message) {
    return StrCat(R"({"parents":[{"parentRef":{"name":"g"},"controllerName":"c","conditions":[)",
                  R"({"type":"Accepted","status":"True","reason":"Accepted","message":")", message,
                  "\"}]}]}");
  }
  // The object as the watch brings it.
  config::ConfigPtr Read(config::Kind kind, const std::string& path, const std::string& name) {
    const config::KindInfo& info = config::InfoOf(kind);
    config::JsonReader reader;
    const auto tree = reader.Read(server_.Get(path, "n", name));
    EXPECT_TRUE(tree.ok());
    const std::string api_version = path.substr(6, path.rfind('/') - 6);
    config::StoredObject stored = config::ReadStored(info, api_version, tree->root());
    EXPECT_NE(stored.object, nullptr);
    return stored.object;
  }
  void PutRoute(const std::string& name) {
    server_.Put(kRoutes, "n", name, R"("spec":{"parentRefs":[{"name":"g"}]})", R"("generation":1)");
  }
  void Want(const config::ConfigPtr& object, const std::string& status) {
    {
      std::lock_guard lock(mutex_);
      const gateway_api::StatusKey key{config::InfoOf(object->kind()).name, object->ns(), object->name()};
      if (status.empty()) {
        statuses_.Erase(key);
      } else {
        statuses_.Set(key, std::make_shared<const gateway_api::StatusOf>(
                               gateway_api::StatusOf{object, Status(status)}));
      }
    }
    status_writer_->OnPublished();
  }
  void WantRoute(const std::string& name, const std::string& message) {
    Want(Read(config::Kind::kHttpRoute, kRoutes, name), Accepted(message));
  }
  std::string Route(const std::string& name = "r") { return server_.Get(kRoutes, "n", name); }
  bool WaitFor(const std::string& text, const std::string& name = "r") {
    return Eventually([&] { return Route(name).find(text) != std::string::npos; });
  }
  size_t Writes() { return server_.CountRequests("PATCH"); }

  source::ApiServerFake server_;
  fetch::Client client_;
  std::mutex mutex_;
  gateway_api::Statuses statuses_;
  std::atomic<bool> leads_{true};
  std::unique_ptr<kube::ApiWriter> writer_;
  std::unique_ptr<StatusWriter> status_writer_;
};

TEST_F(StatusWriterTest, AStatusIsWrittenWithTimesAndOnlyOnce) {
  PutRoute("r");
  WantRoute("r", "fine");
  ASSERT_TRUE(WaitFor("\"fine\"")) << Route();
  EXPECT_THAT(Route(), HasSubstr(StrCat(R"("lastTransitionTime":")", kTime)));
  EXPECT_THAT(server_.Requests().back(), HasSubstr("/namespaces/n/httproutes/r/status"));
  WantRoute("r", "fine");  // as the watch brings it back
  status_writer_->OnLeading();
  std::this_thread::sleep_for(60ms);
  EXPECT_EQ(Writes(), 1u);
}

TEST_F(StatusWriterTest, WithoutTheLeadNothingIsWrittenAndAllOfItAfterwards) {
  leads_ = false;
  PutRoute("r");
  WantRoute("r", "fine");
  std::this_thread::sleep_for(50ms);
  EXPECT_EQ(Writes(), 0u);
  leads_ = true;
  status_writer_->OnLeading();
  EXPECT_TRUE(WaitFor("\"fine\""));
}

TEST_F(StatusWriterTest, AnObjectThatChangedMeanwhileWaitsForItsNextVersion) {
  PutRoute("r");
  const config::ConfigPtr old = Read(config::Kind::kHttpRoute, kRoutes, "r");
  server_.Put(kRoutes, "n", "r", R"("spec":{"parentRefs":[{"name":"h"}]})", R"("generation":2)");
  Want(old, Accepted("of the old one"));
  ASSERT_TRUE(Eventually([&] { return Writes() > 0; }));
  std::this_thread::sleep_for(50ms);
  EXPECT_THAT(Route(), Not(HasSubstr("of the old one")));
  WantRoute("r", "of the new one");
  EXPECT_TRUE(WaitFor("of the new one"));
}

TEST_F(StatusWriterTest, AVersionThatDiffersInNothingThatIsReadIsNoHindrance) {
  PutRoute("r");
  const config::ConfigPtr old = Read(config::Kind::kHttpRoute, kRoutes, "r");
  server_.Put(kRoutes, "n", "r", R"("spec":{"parentRefs":[{"name":"g"}]})",
              R"("generation":1,"managedFields":[{"manager":"other"}])");
  Want(old, Accepted("fine"));
  EXPECT_TRUE(WaitFor("\"fine\"")) << Route();
}

TEST_F(StatusWriterTest, ABusyServerGetsItLater) {
  PutRoute("r");
  server_.RefuseWrites(500, 8);
  WantRoute("r", "fine");
  EXPECT_TRUE(WaitFor("\"fine\""));
}

TEST_F(StatusWriterTest, WhatIsRefusedIsNotRepeatedButTheOthersAreWritten) {
  PutRoute("r");
  PutRoute("s");
  server_.Refuse("/apis/gateway.networking.k8s.io/v1/namespaces/n/httproutes/r/status", 403);
  WantRoute("r", "fine");
  WantRoute("s", "fine");
  ASSERT_TRUE(WaitFor("\"fine\"", "s"));
  ASSERT_TRUE(Eventually([&] { return server_.CountRequests("PATCH") == 2; }));
  status_writer_->OnPublished();
  std::this_thread::sleep_for(60ms);
  EXPECT_EQ(Writes(), 2u);
}

TEST_F(StatusWriterTest, ALeaderThatLosesInTheMiddleWritesNothingMore) {
  for (int i = 0; i < 30; ++i) PutRoute(StrCat("r", i));
  server_.DelayWrites(30ms);
  for (int i = 0; i < 30; ++i) WantRoute(StrCat("r", i), "fine");
  ASSERT_TRUE(Eventually([&] { return Writes() > 3; }));
  leads_ = false;
  std::this_thread::sleep_for(60ms);  // those that were sent
  const size_t written = Writes();
  EXPECT_LT(written, 30u);
  std::this_thread::sleep_for(100ms);
  EXPECT_EQ(Writes(), written);
  server_.DelayWrites(0ms);
  for (int i = 0; i < 30; ++i) WantRoute(StrCat("r", i), "fine");
  leads_ = true;
  status_writer_->OnLeading();
  ASSERT_TRUE(Eventually([&] {
    for (int i = 0; i < 30; ++i) {
      if (Route(StrCat("r", i)).find("\"fine\"") == std::string::npos) return false;
    }
    return true;
  }));
  EXPECT_EQ(Writes(), 30u) << "each once";
}

TEST_F(StatusWriterTest, ManyChangesOfAnObjectAreOneWrite) {
  PutRoute("r");
  constexpr auto kDelay = 100ms;
  server_.DelayWrites(kDelay);
  const auto begin = Clock::now();
  for (int i = 0; i < 50; ++i) WantRoute("r", StrCat("number ", i));
  // As the watch brings what each write made.
  EXPECT_TRUE(Eventually([&] {
    WantRoute("r", "number 49");
    return Route().find("number 49") != std::string::npos;
  }));
  EXPECT_LE(Writes(), static_cast<size_t>((Clock::now() - begin) / kDelay) + 2) << "one at a time";
}

TEST_F(StatusWriterTest, AddressesOfAServiceEntryLeaveTheRestOfItsStatus) {
  server_.Put(kEntries, "n", "e", R"("spec":{"hosts":["a.com"]},"status":{"conditions":[{"type":"Other"}]})",
              R"("generation":1)");
  Want(Read(config::Kind::kServiceEntry, kEntries, "e"),
       R"({"addresses":[{"host":"a.com","value":"240.240.0.1"}]})");
  EXPECT_TRUE(
      Eventually([&] { return server_.Get(kEntries, "n", "e").find("240.240.0.1") != std::string::npos; }));
  EXPECT_THAT(server_.Get(kEntries, "n", "e"), HasSubstr("Other"));
}

TEST_F(StatusWriterTest, VerdictsOfProxiesComeAndGoAndOthersConditionsStay) {
  server_.Put(kEntries, "n", "e", R"("spec":{"hosts":["a.com"]},"status":{"conditions":[{"type":"Other"}]})",
              R"("generation":1)");
  const auto now = [&] { return server_.Get(kEntries, "n", "e"); };
  Want(
      Read(config::Kind::kServiceEntry, kEntries, "e"),
      R"({"conditions":[{"type":"AcceptedByProxies","status":"False","reason":"Rejected","message":"no"}]})");
  ASSERT_TRUE(Eventually([&] { return now().find("AcceptedByProxies") != std::string::npos; }));
  EXPECT_THAT(now(), HasSubstr("Other"));
  Want(Read(config::Kind::kServiceEntry, kEntries, "e"), "");
  EXPECT_TRUE(Eventually([&] { return now().find("AcceptedByProxies") == std::string::npos; })) << now();
  EXPECT_THAT(now(), HasSubstr("Other"));
}

TEST_F(StatusWriterTest, AVerdictGoesThoughAddressesStay) {
  server_.Put(kEntries, "n", "e", R"("spec":{"hosts":["a.com"]})", R"("generation":1)");
  const auto has = [&](const char* text) {
    return server_.Get(kEntries, "n", "e").find(text) != std::string::npos;
  };
  const std::string addresses = R"("addresses":[{"host":"a.com","value":"240.240.0.1"}])";
  Want(Read(config::Kind::kServiceEntry, kEntries, "e"),
       StrCat("{", addresses,
              R"(,"conditions":[{"type":"AcceptedByProxies","status":"False","reason":"Rejected"}]})"));
  ASSERT_TRUE(Eventually([&] { return has("240.240.0.1") && has("AcceptedByProxies"); }));
  Want(Read(config::Kind::kServiceEntry, kEntries, "e"), StrCat("{", addresses, "}"));
  EXPECT_TRUE(Eventually([&] { return !has("AcceptedByProxies"); }));
  EXPECT_TRUE(has("240.240.0.1"));
}

// What an earlier leader left.
TEST_F(StatusWriterTest, VerdictsThatNobodyKnowsAnyMoreAreSwept) {
  const auto put = [&](const std::string& name, const std::string& type) {
    server_.Put(kEntries, "n", name,
                StrCat(R"("spec":{"hosts":["a.com"]},"status":{"conditions":[{"type":")", type, R"("}]})"),
                R"("generation":1)");
  };
  config::ObjectStore objects;
  for (const char* name : {"e1", "e2", "e3", "e4"}) {
    put(name, name == std::string("e2") ? "Other" : "AcceptedByProxies");
    const config::ConfigPtr object = Read(config::Kind::kServiceEntry, kEntries, name);
    const config::ObjectChange change{KeyOf(*object), object};
    objects.Apply({&change, 1});
  }
  Want(
      objects.Find(config::Kind::kServiceEntry, "n", "e3"),
      R"({"conditions":[{"type":"AcceptedByProxies","status":"False","reason":"Rejected","message":"no"}]})");
  const auto has = [&](const char* name, const char* text) {
    return server_.Get(kEntries, "n", name).find(text) != std::string::npos;
  };
  ASSERT_TRUE(Eventually([&] { return has("e3", "Rejected"); }));
  VerdictSweep sweep(
      {.leads = [this] { return leads_.load(); },
       .objects = [&] { return objects; },
       .verdicts = Verdicts(),
       .found = [this](const config::ConfigPtr& object) { status_writer_->OnVerdictFound(object); },
       .delay = 1ms,
       .chunk = 2},
      writer_.get());
  sweep.OnLeading();
  EXPECT_TRUE(Eventually([&] { return !has("e1", "AcceptedByProxies") && !has("e4", "AcceptedByProxies"); }));
  EXPECT_TRUE(has("e2", "Other"));
  EXPECT_TRUE(has("e3", "Rejected")) << "it is still so";
  writer_->Stop();
}

}  // namespace
}  // namespace fairlead::controllers
