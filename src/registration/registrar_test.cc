#include "registration/registrar.h"

#include <gtest/gtest.h>

#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/eventually_fixture.h"
#include "registration/memory_store.h"
#include "registration/test_world.h"

namespace fairlead::registration {
namespace {

using namespace std::chrono_literals;
using config::ConfigPtr;
using config::Kind;

const EntryName kName{"shop", "vms-10.0.0.7"};

// The mesh as far as registration is concerned: what sources hand over, and what it tells observers.
class MeshFake : public source::Sink {
 public:
  void OnChanges(std::vector<config::ObjectChange> changes) override {
    std::lock_guard lock(mutex_);
    changes_ += changes.size();
    objects_.Apply(changes);
    if (observer_) observer_(changes);
  }
  void Replace(Kind /*kind*/, std::vector<ConfigPtr> /*objects*/) override {}
  void OnDiagnostics(std::vector<config::Diagnostic> /*diagnostics*/) override {}
  void Synced(Kind /*kind*/) override {}
  void OnSynced() override {}

  void Observe(std::function<void(const std::vector<config::ObjectChange>&)> observer) {
    std::lock_guard lock(mutex_);
    observer_ = std::move(observer);
  }
  config::ObjectStore objects() {
    std::lock_guard lock(mutex_);
    return objects_;
  }
  void Put(const ConfigPtr& object) { OnChanges({{config::KeyOf(*object), object}}); }
  ConfigPtr Entry(const EntryName& name = kName) {
    return objects().Find(Kind::kWorkloadEntry, Interned(name.ns), Interned(name.name));
  }
  size_t changes() {
    std::lock_guard lock(mutex_);
    return changes_;
  }

 private:
  std::mutex mutex_;
  config::ObjectStore objects_;
  size_t changes_ = 0;
  std::function<void(const std::vector<config::ObjectChange>&)> observer_;
};

class RegistrarTest : public ::testing::Test {
 protected:
  RegistrarTest() {
    options_.rules.replica = "istiod-1";
    options_.grace = 60ms;
    options_.sweep_every = 50ms;
    options_.between_health = 300ms;
    options_.between_cleanups = 1ms;
    options_.objects = [this] { return mesh_.objects(); };
    mesh_.Put(TestGroup(""));
  }
  ~RegistrarTest() override {
    source_->Stop();
    store_.Stop();
  }
  void Start() {
    ASSERT_TRUE(source_->Start(&mesh_).ok());
    registrar_ = std::make_unique<Registrar>(options_, &store_);
    mesh_.Observe([this](const auto& changes) { registrar_->OnChanges(changes); });
  }
  absl::Status Connect(uint64_t stream, const model::ProxyPtr& proxy = TestProxy()) {
    const auto answer = std::make_shared<std::promise<absl::Status>>();
    const bool asked =
        registrar_->OnConnected(stream, proxy, std::chrono::system_clock::now(),
                                [answer](const absl::Status& status) { answer->set_value(status); });
    if (!asked) return absl::UnimplementedError("of no concern");
    auto future = answer->get_future();
    if (future.wait_for(10s) != std::future_status::ready) return absl::DeadlineExceededError("no answer");
    return future.get();
  }
  std::string Annotation(const char* name, const EntryName& entry = kName) {
    const ConfigPtr object = mesh_.Entry(entry);
    return object == nullptr ? "no entry" : std::string(LabelOr(object->meta().annotations, name));
  }
  std::string HealthOf(const EntryName& entry = kName) {
    const ConfigPtr object = mesh_.Entry(entry);
    if (object == nullptr || object->status() == nullptr) return "";
    for (const auto& condition : object->status()->conditions) {
      if (condition.type == kHealthy) return condition.status;
    }
    return "";
  }

  MeshFake mesh_;
  MemoryStore store_;
  std::unique_ptr<source::Source> source_ = store_.MakeSource();
  Registrar::Options options_;
  std::unique_ptr<Registrar> registrar_;
};

TEST_F(RegistrarTest, AProxyIsServedOnceItsEntryIsMade) {
  Start();
  ASSERT_TRUE(Connect(1).ok());
  EXPECT_EQ(Annotation(kControllerAnnotation), "istiod-1");
  EXPECT_EQ(Annotation(kGroupAnnotation), "vms");
  EXPECT_EQ(LabelOr(mesh_.Entry()->meta().labels, "app"), "template");
}

TEST_F(RegistrarTest, OtherProxiesAreOfNoConcern) {
  options_.registers = false;
  Start();
  EXPECT_TRUE(absl::IsUnimplemented(Connect(1)));
}

TEST_F(RegistrarTest, TheEntryGoesAfterTheGracePeriod) {
  options_.grace = 300ms;
  Start();
  ASSERT_TRUE(Connect(1).ok());
  const auto left = Clock::now();
  registrar_->OnDisconnected(1);
  ASSERT_TRUE(Eventually([&] { return !Annotation(kDisconnectedAnnotation).empty(); }));
  EXPECT_EQ(Annotation(kConnectedAnnotation), "");
  ASSERT_TRUE(Eventually([&] { return mesh_.Entry() == nullptr; }));
  EXPECT_GE(Clock::now() - left, 250ms);
}

TEST_F(RegistrarTest, AProxyThatComesBackKeepsItsEntry) {
  options_.grace = 200ms;
  Start();
  ASSERT_TRUE(Connect(1).ok());
  registrar_->OnDisconnected(1);
  ASSERT_TRUE(Eventually([&] { return !Annotation(kDisconnectedAnnotation).empty(); }));
  ASSERT_TRUE(Connect(2).ok());
  EXPECT_EQ(Annotation(kDisconnectedAnnotation), "");
  std::this_thread::sleep_for(500ms);
  EXPECT_NE(mesh_.Entry(), nullptr);
}

TEST_F(RegistrarTest, TheEntryStaysUntilTheLastStreamOfItsProxyEnds) {
  Start();
  ASSERT_TRUE(Connect(1).ok());
  ASSERT_TRUE(Connect(2).ok());
  registrar_->OnDisconnected(1);
  std::this_thread::sleep_for(200ms);
  ASSERT_NE(mesh_.Entry(), nullptr);
  EXPECT_EQ(Annotation(kDisconnectedAnnotation), "");
  registrar_->OnDisconnected(2);
  EXPECT_TRUE(Eventually([&] { return mesh_.Entry() == nullptr; }));
}

TEST_F(RegistrarTest, AStreamOfAnotherIdentityIsRefusedAndTheFirstGoesOn) {
  Start();
  ASSERT_TRUE(Connect(1).ok());
  EXPECT_TRUE(absl::IsPermissionDenied(Connect(2, TestProxy("", "", "shop", "thief"))));
  registrar_->OnDisconnected(2);
  std::this_thread::sleep_for(150ms);
  EXPECT_NE(mesh_.Entry(), nullptr);
  EXPECT_EQ(Annotation(kDisconnectedAnnotation), "");
}

TEST_F(RegistrarTest, AProxyOfNoGroupIsRefused) {
  Start();
  EXPECT_TRUE(absl::IsFailedPrecondition(Connect(1, TestProxy(R"("AUTO_REGISTER_GROUP": "none")"))));
  EXPECT_TRUE(absl::IsInvalidArgument(Connect(2, TestProxy(R"("AUTO_REGISTER_GROUP": "../x")"))));
}

TEST_F(RegistrarTest, HealthIsAConditionOfTheEntry) {
  Start();
  ASSERT_TRUE(Connect(1).ok());
  registrar_->OnHealth(1, false, "connection refused");
  ASSERT_TRUE(Eventually([&] { return HealthOf() == "False"; }));
  registrar_->OnHealth(1, true, "");
  EXPECT_TRUE(Eventually([&] { return HealthOf() == "True"; }));
  registrar_->OnHealth(9, false, "of a stream without an entry");
}

TEST_F(RegistrarTest, AFloodOfHealthCostsAWriteNowAndThen) {
  Start();
  ASSERT_TRUE(Connect(1).ok());
  const size_t before = mesh_.changes();
  for (int i = 0; i < 1000; ++i) registrar_->OnHealth(1, i % 2 == 1, "flaps");
  ASSERT_TRUE(Eventually([&] { return HealthOf() == "True"; })) << "the last word counts";
  std::this_thread::sleep_for(400ms);
  EXPECT_EQ(HealthOf(), "True");
  EXPECT_LE(mesh_.changes() - before, 4u);
}

TEST_F(RegistrarTest, AnEntryThatSomebodyDeletesIsMadeAgain) {
  Start();
  ASSERT_TRUE(Connect(1).ok());
  const size_t before = mesh_.changes();
  store_.Run(
      [this] { store_.Write(kName, {.kind = Step::Kind::kDelete}, nullptr, [](const absl::Status&) {}); },
      {});
  EXPECT_TRUE(Eventually([&] { return mesh_.changes() >= before + 2 && mesh_.Entry() != nullptr; }));
}

// An entry of a file, which its author wrote with health checks.
class WrittenEntryTest : public RegistrarTest {
 protected:
  WrittenEntryTest() { Start(); }
  static ConfigPtr Written(const std::string& port) {
    return TestObject(
        Kind::kWorkloadEntry,
        R"({"metadata":{"name":"db","namespace":"shop","annotations":{"proxy.istio.io/health-checks-enabled":"true"}},)"
        R"("spec":{"address":"10.0.0.7","serviceAccount":"vm","ports":{"http":)" +
            port + "}}}");
  }
  static model::ProxyPtr Proxy() { return TestProxy(R"("AUTO_REGISTER_GROUP": "", "WORKLOAD_ENTRY": "db")"); }
  void Read(const ConfigPtr& object) { tap_->OnChanges({{config::KeyOf(*object), object}}); }

  const EntryName name_{"shop", "db"};
  std::unique_ptr<source::Sink> tap_ = store_.Tap(&mesh_);
};

TEST_F(WrittenEntryTest, HasTheHealthThatItsProxyReports) {
  Read(Written("1"));
  ASSERT_TRUE(Connect(1, Proxy()).ok());
  EXPECT_EQ(Annotation(kControllerAnnotation, name_), "istiod-1");
  registrar_->OnHealth(1, false, "down");
  ASSERT_TRUE(Eventually([&] { return HealthOf(name_) == "False"; }));
  Read(Written("2"));  // the file changes: the health stays
  EXPECT_EQ(HealthOf(name_), "False");
  EXPECT_EQ(Annotation(kControllerAnnotation, name_), "istiod-1");
  registrar_->OnDisconnected(1);
  EXPECT_TRUE(Eventually([&] { return HealthOf(name_).empty(); })) << "nobody knows it any more";
  EXPECT_NE(mesh_.Entry(name_), nullptr);
}

TEST_F(WrittenEntryTest, OneThatIsNotThereRefusesItsProxy) {
  EXPECT_TRUE(absl::IsNotFound(Connect(1, Proxy())));
}

TEST_F(WrittenEntryTest, WhatWasAddedGoesWithTheFile) {
  Read(Written("1"));
  ASSERT_TRUE(Connect(1, Proxy()).ok());
  tap_->OnChanges({{config::KeyOf(*Written("1")), nullptr}});
  Read(Written("1"));
  EXPECT_TRUE(Eventually([&] { return Annotation(kControllerAnnotation, name_) == "istiod-1"; }))
      << "its proxy is still here";
}

}  // namespace
}  // namespace fairlead::registration
