#include "source/etcd/etcd_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <nlohmann/json.hpp>
#include <thread>

#include "base/eventually_fixture.h"
#include "base/json.h"
#include "base/strings.h"
#include "kube/api_writer.h"
#include "source/etcd/etcd_follower.h"
#include "source/etcd/etcd_objects.h"
#include "source/etcd/etcd_peer_fake.h"
#include "source/etcd/sealed_text.h"
#include "source/file/source_fake.h"

namespace fairlead::source {
namespace {

using namespace std::chrono_literals;
using kube::ApiAnswer;
using kube::ApiRequest;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;
using Json = nlohmann::json;
using Verb = ApiRequest::Verb;

constexpr char kLeases[] = "/apis/coordination.k8s.io/v1/namespaces/istio-system/leases";
constexpr char kEntries[] = "/apis/networking.istio.io/v1/namespaces/ns/workloadentries";
constexpr char kServiceEntry[] = "/apis/networking.istio.io/v1/namespaces/ns/serviceentries/a";
constexpr char kSecrets[] = "/api/v1/namespaces/istio-system/secrets";

class EtcdStoreTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!EtcdPeerFake::IsThere()) GTEST_SKIP() << "no etcd: scripts/setup.sh cluster installs it";
    etcd_ = std::make_unique<EtcdPeerFake>();
    folder_.Write("key", std::string(32, 'k'));
    folder_.Write("other", std::string(32, 'o'));
    for (const char* name : {"key", "other"}) chmod((folder_ / name).c_str(), 0600);
  }
  std::unique_ptr<EtcdStore> Open(const std::string& key = "key", int64_t entry_seconds = 600) {
    EtcdStore::Options options;
    options.etcd = etcd_->Options();
    options.etcd.writes = true;
    if (!key.empty()) options.etcd.ca_key_file = folder_ / key;
    options.entry_seconds = entry_seconds;
    auto store = EtcdStore::Open(std::move(options));
    EXPECT_TRUE(store.ok()) << store.status();
    return *std::move(store);
  }
  static ApiAnswer Ask(EtcdStore& store, Verb verb, const std::string& path, const Json& body = nullptr) {
    return store.AskAndWait({.verb = verb, .path = path, .body = body.is_null() ? "" : JsonText(body)});
  }
  static std::string VersionOf(const ApiAnswer& answer) {
    const auto json = ParseJson(answer.body);
    return json ? json->value("/metadata/resourceVersion"_json_pointer, "") : "";
  }
  static Json Lock(const std::string& holder, const std::string& version = "", int seconds = 30) {
    Json lock = {{"metadata", {{"name", "l"}, {"namespace", "istio-system"}}},
                 {"spec", {{"holderIdentity", holder}, {"leaseDurationSeconds", seconds}}}};
    if (!version.empty()) lock["metadata"]["resourceVersion"] = version;
    return lock;
  }
  static Json Entry() {
    return {{"apiVersion", "networking.istio.io/v1"},
            {"kind", "WorkloadEntry"},
            {"metadata",
             {{"name", "vms-1"},
              {"namespace", "ns"},
              {"annotations", {{"istio.io/autoRegistrationGroup", "vms"}}}}},
            {"spec", {{"address", "10.0.0.7"}}}};
  }
  std::string Control(const std::string& key) const {
    return StrCat(etcd_->prefix().substr(0, etcd_->prefix().size() - 1), "-control/", key);
  }
  std::string Value(const std::string& key) {
    const auto found = etcd_->client().Read({key});
    return found.ok() && !found->keys.empty() ? found->keys.front().value : "";
  }

  TestFolder folder_;
  std::unique_ptr<EtcdPeerFake> etcd_;
};

TEST_F(EtcdStoreTest, ALockIsOnesAndOnlyItsHolderRenewsIt) {
  const auto a = Open(), b = Open();
  const std::string path = StrCat(kLeases, "/l");
  EXPECT_TRUE(absl::IsNotFound(Ask(*a, Verb::kGet, path).status));
  const ApiAnswer made = Ask(*a, Verb::kCreate, kLeases, Lock("a"));
  ASSERT_TRUE(made.status.ok()) << made.status;
  EXPECT_TRUE(absl::IsAlreadyExists(Ask(*b, Verb::kCreate, kLeases, Lock("b")).status));
  const ApiAnswer renewed = Ask(*a, Verb::kUpdate, path, Lock("a", VersionOf(made)));
  ASSERT_TRUE(renewed.status.ok()) << renewed.status;
  EXPECT_TRUE(absl::IsAborted(Ask(*b, Verb::kUpdate, path, Lock("b", VersionOf(made))).status));
  EXPECT_THAT(Ask(*b, Verb::kGet, path).body, HasSubstr(R"("holderIdentity":"a")"));
  // Given back, it is gone at once.
  ASSERT_TRUE(Ask(*a, Verb::kUpdate, path, Lock("", VersionOf(renewed))).status.ok());
  EXPECT_TRUE(absl::IsNotFound(Ask(*b, Verb::kGet, path).status));
}

TEST_F(EtcdStoreTest, ALockGoesWithAHolderThatIsLost) {
  const auto b = Open();
  {
    const auto a = Open();
    ASSERT_TRUE(Ask(*a, Verb::kCreate, kLeases, Lock("a", "", 1)).status.ok());
  }
  EXPECT_TRUE(
      Eventually([&] { return absl::IsNotFound(Ask(*b, Verb::kGet, StrCat(kLeases, "/l")).status); }));
  EXPECT_TRUE(Ask(*b, Verb::kCreate, kLeases, Lock("b")).status.ok());
}

TEST_F(EtcdStoreTest, AStatusIsNoChangeOfItsObject) {
  etcd_->Set(
      "ServiceEntry/ns/a",
      "apiVersion: networking.istio.io/v1\nkind: ServiceEntry\nmetadata: {name: a, namespace: ns}\nspec: "
      "{hosts: [a.example.com], ports: [{number: 80, name: http, protocol: HTTP}], resolution: DNS}\n");
  RecordingSink sink;
  EtcdOptions options = etcd_->Options();
  options.writes = true;
  PlatformSource source(PlatformSource::Options{.name = "etcd://test"},
                        std::make_unique<EtcdFollower>(options));
  ASSERT_TRUE(source.Start(&sink).ok());
  ASSERT_TRUE(sink.WaitForSync());
  const config::ConfigPtr object = sink.Find("a");
  ASSERT_NE(object, nullptr);
  EXPECT_EQ(object->meta().generation, 1);
  const size_t batches = sink.batches();

  const auto store = Open();
  const std::string version = object->meta().resource_version;
  const auto patch = [](const std::string& of, const std::string& said) {
    return Json{{"metadata", {{"resourceVersion", of}}},
                {"status", {{"conditions", Json::array({{{"type", "X"}, {"status", said}}})}}}};
  };
  const std::string path = StrCat(kServiceEntry, "/status");
  ASSERT_TRUE(Ask(*store, Verb::kMergePatch, path, patch(version, "True")).status.ok());
  const ApiAnswer read = Ask(*store, Verb::kGet, kServiceEntry);
  EXPECT_EQ(VersionOf(read), version);
  EXPECT_THAT(read.body, HasSubstr(R"("status":"True")"));
  EXPECT_TRUE(absl::IsAborted(Ask(*store, Verb::kMergePatch, path, patch("1", "False")).status));
  // The object changes, and only that is seen.
  etcd_->Set(
      "ServiceEntry/ns/a",
      "apiVersion: networking.istio.io/v1\nkind: ServiceEntry\nmetadata: {name: a, namespace: ns}\nspec: "
      "{hosts: [b.example.com], ports: [{number: 80, name: http, protocol: HTTP}], resolution: DNS}\n");
  ASSERT_TRUE(Eventually([&] { return sink.Find("a")->meta().generation == 2; }));
  EXPECT_EQ(sink.batches(), batches + 1);
  EXPECT_TRUE(absl::IsAborted(Ask(*store, Verb::kMergePatch, path, patch(version, "False")).status));
  source.Stop();
}

TEST_F(EtcdStoreTest, StatusesOfObjectsThatAreGoneAreSwept) {
  for (const char* name : {"a", "b"}) etcd_->Set(StrCat("ServiceEntry/ns/", name), "kind: ServiceEntry");
  const auto store = Open();
  for (const char* name : {"a", "b"}) {
    const std::string path = StrCat("/apis/networking.istio.io/v1/namespaces/ns/serviceentries/", name);
    const Json patch = {{"metadata", {{"resourceVersion", VersionOf(Ask(*store, Verb::kGet, path))}}},
                        {"status", {{"x", 1}}}};
    ASSERT_TRUE(Ask(*store, Verb::kMergePatch, path + "/status", patch).status.ok());
  }
  ASSERT_TRUE(etcd_->client().Write({{etcd_->prefix() + "ServiceEntry/ns/a"}}).ok());
  const auto left = store->SweepStatuses();
  ASSERT_TRUE(left.ok()) << left.status();
  ASSERT_THAT(*left, SizeIs(1));
  EXPECT_EQ(config::Describe(left->front()), "ServiceEntry ns/b");
  EXPECT_EQ(Value(Control("status/ServiceEntry/ns/a")), "");
  EXPECT_THAT(Value(Control("status/ServiceEntry/ns/b")), HasSubstr("\"x\":1"));
}

TEST_F(EtcdStoreTest, RegisteredEntriesAreObjectsThatOutliveTheirReplicaForAWhile) {
  const auto b = Open();
  const std::string path = StrCat(kEntries, "/vms-1"), key = etcd_->prefix() + "WorkloadEntry/ns/vms-1";
  const auto patch = [](const std::string& version, const std::string& replica) {
    return Json{
        {"metadata",
         {{"resourceVersion", version}, {"annotations", {{"istio.io/workloadController", replica}}}}}};
  };
  {
    const auto a = Open("", 2);
    ASSERT_TRUE(Ask(*a, Verb::kCreate, kEntries, Entry()).status.ok());
    EXPECT_TRUE(absl::IsAlreadyExists(Ask(*b, Verb::kCreate, kEntries, Entry()).status));
    EXPECT_THAT(ReadEtcdValue("etcd://h:1", etcd_->prefix(), key, Value(key), nullptr, false).objects,
                SizeIs(1));
    // Kept alive meanwhile.
    std::this_thread::sleep_for(6s);
    const ApiAnswer read = Ask(*a, Verb::kGet, path);
    ASSERT_TRUE(read.status.ok()) << read.status;
    EXPECT_TRUE(absl::IsAborted(Ask(*a, Verb::kMergePatch, path, patch("1", "a")).status));
    ASSERT_TRUE(Ask(*a, Verb::kMergePatch, path, patch(VersionOf(read), "a")).status.ok());
  }
  EXPECT_TRUE(Eventually([&] { return Value(key).empty(); }));
  // One that another replica has taken over stays.
  {
    const auto a = Open("", 2);
    ASSERT_TRUE(Ask(*a, Verb::kCreate, kEntries, Entry()).status.ok());
    ASSERT_TRUE(
        Ask(*b, Verb::kMergePatch, path, patch(VersionOf(Ask(*b, Verb::kGet, path)), "b")).status.ok());
  }
  std::this_thread::sleep_for(6s);
  EXPECT_THAT(Value(key), HasSubstr(R"("istio.io/workloadController":"b")"));
  const Json stale = {{"preconditions", {{"resourceVersion", "1"}}}};
  EXPECT_TRUE(absl::IsAborted(Ask(*b, Verb::kDelete, path, stale).status));
  EXPECT_TRUE(Ask(*b, Verb::kDelete, path).status.ok());
  EXPECT_EQ(Value(key), "");
}

TEST_F(EtcdStoreTest, SecretsAreSealed) {
  const auto a = Open(), b = Open(), other = Open("other"), none = Open("");
  const Json secret = {{"metadata", {{"name", "ca"}}},
                       {"stringData", {{"ca-key.pem", "PRIVATE"}, {"x", "1"}}}};
  const std::string path = StrCat(kSecrets, "/ca");
  EXPECT_TRUE(absl::IsNotFound(Ask(*a, Verb::kGet, path).status));
  ASSERT_TRUE(Ask(*a, Verb::kCreate, kSecrets, secret).status.ok());
  EXPECT_TRUE(absl::IsAlreadyExists(Ask(*b, Verb::kCreate, kSecrets, secret).status));
  EXPECT_THAT(Value(Control("secrets/istio-system/ca")), Not(HasSubstr("PRIVATE")));
  EXPECT_TRUE(absl::IsNotFound(Ask(*none, Verb::kGet, path).status));
  const ApiAnswer wrong = Ask(*other, Verb::kGet, path);
  EXPECT_TRUE(absl::IsFailedPrecondition(wrong.status)) << wrong.status;
  const ApiAnswer read = Ask(*b, Verb::kGet, path);
  EXPECT_THAT(read.body, HasSubstr(StrCat(R"("ca-key.pem":")", EncodeBase64("PRIVATE"))));
  const Json patch = {{"metadata", {{"resourceVersion", VersionOf(read)}}}, {"stringData", {{"x", "2"}}}};
  ASSERT_TRUE(Ask(*a, Verb::kMergePatch, path, patch).status.ok());
  EXPECT_TRUE(absl::IsAborted(Ask(*b, Verb::kMergePatch, path, patch).status));
  EXPECT_THAT(Ask(*b, Verb::kGet, path).body, HasSubstr(StrCat(R"("x":")", EncodeBase64("2"))));
}

TEST_F(EtcdStoreTest, AChangedSecretIsTold) {
  const auto a = Open(), b = Open();
  std::atomic<int> told{0};
  b->WatchSecrets([&told] { ++told; });
  ASSERT_TRUE(Eventually([&] { return told == 1; }));  // what was before the watch
  ASSERT_TRUE(
      Ask(*a, Verb::kCreate, kSecrets, {{"metadata", {{"name", "ca"}}}, {"stringData", Json::object()}})
          .status.ok());
  EXPECT_TRUE(Eventually([&] { return told == 2; }));
}

TEST_F(EtcdStoreTest, WhatNobodyKnowsIsNotThere) {
  const auto store = Open();
  for (const char* path : {"/", "", "/api/v1", "/apis/x/y", "/apis/x/v1/namespaces/n/things/a",
                           "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/x"})
    EXPECT_TRUE(absl::IsNotFound(Ask(*store, Verb::kGet, path).status)) << path;
}

TEST_F(EtcdStoreTest, AWriterAsksItAsItAsksAnApiServer) {
  const auto store = Open();
  kube::ApiWriter writer({}, [&](ApiRequest request, std::function<void(fetch::WholeAnswer)> done) {
    store->Ask(std::move(request), std::move(done));
  });
  EXPECT_TRUE(
      writer.SendAndWait({.verb = Verb::kCreate, .path = kEntries, .body = JsonText(Entry())}).status.ok());
  EXPECT_TRUE(absl::IsAlreadyExists(
      writer.SendAndWait({.verb = Verb::kCreate, .path = kEntries, .body = JsonText(Entry())}).status));
  etcd_->SetAway(true);
  ApiRequest read{.path = StrCat(kEntries, "/vms-1")};
  read.tries = 2;
  EXPECT_TRUE(absl::IsUnavailable(writer.SendAndWait(read).status));
  etcd_->SetAway(false);
  read.tries = 10;
  EXPECT_TRUE(writer.SendAndWait(read).status.ok());
  writer.Stop();
}

TEST(SealedTextTest, OpensWithItsKeyInItsPlaceAlone) {
  const std::string sealed = *Seal("k1", "/a", "text");
  EXPECT_EQ(*Unseal("k1", "/a", sealed), "text");
  EXPECT_NE(sealed, *Seal("k1", "/a", "text"));
  EXPECT_FALSE(Unseal("k2", "/a", sealed).ok());
  EXPECT_FALSE(Unseal("k1", "/b", sealed).ok());
  EXPECT_FALSE(Unseal("k1", "/a", sealed.substr(0, sealed.size() - 4)).ok());
  EXPECT_FALSE(Unseal("k1", "/a", "").ok());
  EXPECT_EQ(*Unseal("k", "", *Seal("k", "", "")), "");
}

TEST(SealedTextTest, AKeyIsLongAndNotEverybodys) {
  TestFolder folder;
  folder.Write("short", "x");
  folder.Write("open", std::string(40, 'x'));
  chmod((folder / "short").c_str(), 0600);
  chmod((folder / "open").c_str(), 0604);
  EXPECT_THAT(std::string(ReadSealingKey(folder / "short").status().message()), HasSubstr("has 1 bytes"));
  EXPECT_THAT(std::string(ReadSealingKey(folder / "open").status().message()),
              HasSubstr("read by everybody"));
}

}  // namespace
}  // namespace fairlead::source
