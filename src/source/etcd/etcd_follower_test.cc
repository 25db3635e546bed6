#include "source/etcd/etcd_follower.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "base/eventually_fixture.h"
#include "base/strings.h"
#include "proto/wire.h"
#include "source/etcd/etcd_objects.h"
#include "source/etcd/etcd_peer_fake.h"
#include "source/file/source_fake.h"

namespace fairlead::source {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class EtcdFollowerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!EtcdPeerFake::IsThere()) GTEST_SKIP() << "no etcd: scripts/setup.sh cluster installs it";
    etcd_ = std::make_unique<EtcdPeerFake>();
  }
  void TearDown() override {
    if (source_ != nullptr) source_->Stop();
  }
  void StartAndSync(EtcdOptions options) {
    source_ = std::make_unique<PlatformSource>(PlatformSource::Options{.name = "etcd://test"},
                                               std::make_unique<EtcdFollower>(std::move(options)));
    ASSERT_TRUE(source_->Start(&sink_).ok());
    ASSERT_TRUE(sink_.WaitForSync()) << ::testing::PrintToString(source_->Awaited());
  }
  void StartAndSync() { StartAndSync(etcd_->Options()); }

  std::unique_ptr<EtcdPeerFake> etcd_;
  RecordingSink sink_;
  std::unique_ptr<PlatformSource> source_;
};

TEST_F(EtcdFollowerTest, ABrokenValueLeavesItsLastGoodOne) {
  etcd_->Put("a", "1");
  StartAndSync();
  const std::string key = "ServiceEntry.networking.istio.io/ns/a";
  etcd_->Set(key,
             "apiVersion: networking.istio.io/v1\nkind: ServiceEntry\nmetadata: {name: a, namespace: "
             "ns}\nspec: {hots: [a]}\n");
  EXPECT_TRUE(sink_.WaitForDiagnostic("unknown field"));
  EXPECT_THAT(sink_.Diagnostics().front(), HasSubstr(StrCat(etcd_->prefix(), key, ":4")));
  EXPECT_NE(sink_.Find("a"), nullptr);
  etcd_->Put("a", "2");
  EXPECT_TRUE(sink_.WaitForDiagnostic(""));
}

TEST_F(EtcdFollowerTest, ATransactionTakesEffectAtOnce) {
  StartAndSync();
  const size_t before = sink_.batches();
  const auto manifest = [](const std::string& name) {
    return StrCat("{\"apiVersion\": \"v1\", \"kind\": \"Namespace\", \"metadata\": {\"name\": \"", name,
                  "\"}}");
  };
  std::vector<EtcdWrite> writes;
  for (const char* name : {"a", "b", "c"})
    writes.push_back({StrCat(etcd_->prefix(), "Namespace/", name), manifest(name)});
  ASSERT_TRUE(etcd_->client().Write(writes)->succeeded);
  EXPECT_TRUE(Eventually([&] { return sink_.All().size() == 3; }));
  EXPECT_EQ(sink_.batches(), before + 1);
}

TEST_F(EtcdFollowerTest, WhatHasALeaseGoesWithIt) {
  ASSERT_TRUE(etcd_->client().Call("/etcdserverpb.Lease/LeaseGrant", EncodeLease(600, 77)).ok());
  etcd_->Set("Namespace/leased",
             "{\"apiVersion\": \"v1\", \"kind\": \"Namespace\", \"metadata\": {\"name\": \"leased\"}}", 77);
  StartAndSync();
  ASSERT_THAT(sink_.All(), SizeIs(1));
  ASSERT_TRUE(etcd_->client().Call("/etcdserverpb.Lease/LeaseRevoke", EncodeLease(77, 0)).ok());
  EXPECT_TRUE(Eventually([&] { return sink_.All().empty(); }));
}

TEST_F(EtcdFollowerTest, ManyKeysComeInPages) {
  for (int i = 0; i < 25; ++i) etcd_->Put(StrCat("s", i), "1");
  EtcdOptions options = etcd_->Options();
  options.page = 4;
  StartAndSync(options);
  EXPECT_THAT(sink_.All(), SizeIs(25));
}

TEST_F(EtcdFollowerTest, ASilentWatchIsAskedHowFarItIs) {
  EtcdOptions options = etcd_->Options();
  options.silence = 100ms;
  StartAndSync(options);
  std::this_thread::sleep_for(500ms);
  etcd_->Put("a", "1");
  EXPECT_TRUE(Eventually([&] { return sink_.Find("a") != nullptr; }));
  EXPECT_THAT(sink_.EverSaid(), IsEmpty());
}

TEST_F(EtcdFollowerTest, WritesAreAllOrNone) {
  const std::string key = etcd_->prefix() + "k";
  EtcdClient& client = etcd_->client();
  const auto created = client.Write({{key, "1", 0}});
  ASSERT_TRUE(created.ok() && created->succeeded);
  const auto lost = client.Write({{key, "2", 0}, {key + "2", "x"}});
  ASSERT_TRUE(lost.ok());
  EXPECT_FALSE(lost->succeeded);
  ASSERT_THAT(lost->keys, SizeIs(1));
  EXPECT_EQ(lost->keys.front().mod_revision, created->revision);
  EXPECT_THAT(client.Read({key + "2"})->keys, IsEmpty());
  EXPECT_TRUE(client.Write({{key, "3", created->revision}})->succeeded);
  EXPECT_EQ(client.Read({key})->keys.front().value, "3");
}

TEST_F(EtcdFollowerTest, TheNextMemberIsAskedWhereOneIsAway) {
  EtcdOptions options = etcd_->Options();
  options.url.addresses.insert(options.url.addresses.begin(), {"127.0.0.1", 1});
  EtcdClient client(options);
  EXPECT_TRUE(client.Read({"x"}).ok());
}

TEST(EtcdObjectsTest, KeysAndObjects) {
  const auto object = [](std::string_view key) {
    const auto found = ObjectOfEtcdKey(key, "/p/");
    return found ? config::Describe(*found) : "none";
  };
  EXPECT_EQ(object("/p/VirtualService/shop/web"), "VirtualService shop/web");
  EXPECT_EQ(object("/p/Namespace/shop"), "Namespace shop");
  for (const char* key : {"/p/VirtualService/web", "/p/Nothing/shop/web", "/x/VirtualService/shop/web", "/p/",
                          "/p/VirtualService//web", "/p/VirtualService/shop/", "/p/VirtualService/shop/web/x",
                          "/p/Namespace/a/b"})
    EXPECT_EQ(object(key), "none") << key;
  for (const config::KindInfo& kind : config::AllKinds()) {
    const config::ObjectKey key{kind.kind, kind.namespaced ? "ns" : "", "name"};
    const auto back = ObjectOfEtcdKey(EtcdKeyOf(key, "/p/"), "/p/");
    EXPECT_TRUE(back && *back == key) << EtcdKeyOf(key, "/p/");
  }
}

TEST(EtcdObjectsTest, AValueIsTheObjectOfItsKey) {
  constexpr char kText[] = "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n";
  const auto read = [](std::string_view key, std::string_view value) {
    return ReadEtcdValue("etcd://h:2379", "/p/", key, value, nullptr, false);
  };
  EXPECT_THAT(read("/p/Namespace/shop", kText).objects, SizeIs(1));
  EXPECT_THAT(read("/p/Namespace/other", kText).diagnostics.front().message,
              HasSubstr("is not one Namespace other"));
  EXPECT_THAT(read("/p/Other/shop", kText).diagnostics.front().code, "wrong-key");
  EXPECT_THAT(read("/p/Namespace/shop", "").diagnostics.front().code, "wrong-value");
  EXPECT_THAT(read("/p/Namespace/shop", StrCat(kText, "---\n", kText)).objects, SizeIs(1));
  const std::string policy =
      "apiVersion: security.istio.io/v1\nkind: AuthorizationPolicy\nmetadata: {name: p, namespace: "
      "ns}\nspec: {actoin: DENY}\n";
  EXPECT_THAT(read("/p/AuthorizationPolicy/ns/p", policy).objects, IsEmpty());
  const PlatformPart denied =
      ReadEtcdValue("etcd://h:2379", "/p/", "/p/AuthorizationPolicy/ns/p", policy, nullptr, true);
  EXPECT_THAT(denied.objects, SizeIs(1));
}

TEST(EtcdMessagesTest, WhatIsMalformedGivesNothing) {
  EXPECT_FALSE(DecodeRange("\x12\xff"));
  EXPECT_FALSE(DecodeRange(std::string_view("\x12\x02\x0a\x7f", 4)));
  EXPECT_FALSE(DecodeNews("\x5a\x03\x12\x01\xff"));
  EXPECT_FALSE(DecodeToken(""));
  EXPECT_TRUE(DecodeOutcome("")->keys.empty());
  EXPECT_EQ(EndOfPrefix("a/"), "a0");
  EXPECT_EQ(EndOfPrefix("a\xff"), "b");
  EXPECT_EQ(EndOfPrefix(""), std::string(1, '\0'));
}

TEST(EtcdOptionsTest, MistakesAreNamed) {
  const auto why = [](std::string_view url) { return std::string(ParseEtcdOptions(url).status().message()); };
  EXPECT_THAT(why("etcd://h"), HasSubstr("etcd://h:2379/PREFIX"));
  EXPECT_THAT(why("etcd://h/p?user=u"), HasSubstr("user needs the other one"));
  EXPECT_THAT(why("etcd://h/p?tokenFile=t"), HasSubstr("user and passwordFile"));
  EXPECT_EQ(ParseEtcdOptions("etcd://a,b:1/p/?tls")->Prefix(), "/p/");
}

}  // namespace
}  // namespace fairlead::source
