#include "controllers/root_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "base/eventually_fixture.h"
#include "base/strings.h"
#include "config/read/json_reader.h"
#include "config/read/stored_object.h"
#include "controllers/trust_bundle_writer.h"
#include "model/mesh_config.h"
#include "source/cluster/api_server_fake.h"

namespace fairlead::controllers {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

constexpr char kNamespaces[] = "/api/v1/namespaces";
constexpr char kConfigMaps[] = "/api/v1/configmaps";
constexpr char kName[] = "istio-ca-root-cert";

class RootWriterTest : public ::testing::Test {
 protected:
  RootWriterTest() {
    server_.Serve(kNamespaces);
    server_.Serve(kConfigMaps);
    kube::ServerAccess access;
    access.server = server_.url();
    access.proxy = "";
    writer_ = std::make_unique<kube::ApiWriter>(
        kube::ApiWriter::Options{.first_backoff = 5ms, .most_backoff = 20ms}, access, &client_);
    SetMesh("");
  }
  ~RootWriterTest() override { writer_->Stop(); }
  void Start() {
    options_.leads = [this] { return leads_.load(); };
    options_.view = [this] {
      std::lock_guard lock(mutex_);
      return view_;
    };
    options_.quiet = 5ms;
    options_.first_retry = 20ms;
    roots_ = std::make_unique<RootWriter>(options_, writer_.get());
    roots_->SetRoots("PEM 1");
  }
  void SetMesh(const std::string& text) {
    std::lock_guard lock(mutex_);
    view_.mesh = model::ParseMeshConfig(text, "mesh.yaml").mesh;
  }
  // As the watch would bring it.
  void Watch(config::Kind kind, const std::string& json) {
    config::JsonReader reader;
    const auto tree = reader.Read(json);
    const config::StoredObject stored = config::ReadStored(config::InfoOf(kind), "v1", tree->root());
    const config::ObjectChange change{*stored.key, stored.object};
    {
      std::lock_guard lock(mutex_);
      view_.objects.Apply({&change, 1});
    }
    if (roots_ != nullptr) roots_->OnPublished();
  }
  void AddNamespace(const std::string& name, const std::string& metadata = "") {
    server_.Put(kNamespaces, "", name, "", metadata);
    Watch(config::Kind::kNamespace, server_.Get(kNamespaces, "", name));
  }
  std::string RootIn(const std::string& ns) { return server_.Get(kConfigMaps, ns, kName); }
  bool WaitFor(const std::string& text, const std::string& ns) {
    return Eventually([&] { return RootIn(ns).find(text) != std::string::npos; });
  }
  size_t Writes() { return server_.CountRequests("POST") + server_.CountRequests("PATCH"); }

  source::ApiServerFake server_;
  fetch::Client client_;
  std::mutex mutex_;
  RootWriter::View view_;
  std::atomic<bool> leads_{true};
  RootWriter::Options options_;
  std::unique_ptr<kube::ApiWriter> writer_;
  std::unique_ptr<RootWriter> roots_;
};

TEST_F(RootWriterTest, EachNamespaceGetsTheRootsOnce) {
  AddNamespace("a");
  AddNamespace("kube-public");
  Start();
  ASSERT_TRUE(WaitFor("PEM 1", "a"));
  EXPECT_THAT(RootIn("a"), HasSubstr(R"("istio.io/config":"true")"));
  AddNamespace("b");
  ASSERT_TRUE(WaitFor("PEM 1", "b"));
  Watch(config::Kind::kConfigMap, RootIn("a"));
  std::this_thread::sleep_for(50ms);
  EXPECT_EQ(Writes(), 2u);
  EXPECT_EQ(RootIn("kube-public"), "");
}

TEST_F(RootWriterTest, WhatIsEditedOrDeletedIsRepairedAndOtherKeysStay) {
  AddNamespace("a");
  Start();
  ASSERT_TRUE(WaitFor("PEM 1", "a"));
  Watch(config::Kind::kConfigMap, RootIn("a"));
  server_.Put(kConfigMaps, "a", kName, R"("data":{"root-cert.pem":"mine","other":"kept"})");
  Watch(config::Kind::kConfigMap, RootIn("a"));
  ASSERT_TRUE(WaitFor("PEM 1", "a"));
  EXPECT_THAT(RootIn("a"), HasSubstr("kept"));
  Watch(config::Kind::kConfigMap, RootIn("a"));
  std::this_thread::sleep_for(50ms);
  server_.Delete(kConfigMaps, "a", kName);
  const config::ObjectChange gone{{config::Kind::kConfigMap, "a", kName}, nullptr};
  {
    std::lock_guard lock(mutex_);
    view_.objects.Apply({&gone, 1});
  }
  roots_->OnPublished();
  EXPECT_TRUE(WaitFor("PEM 1", "a"));
}

TEST_F(RootWriterTest, NewRootsGoEverywhere) {
  AddNamespace("a");
  Start();
  ASSERT_TRUE(WaitFor("PEM 1", "a"));
  roots_->SetRoots("PEM 2");
  EXPECT_TRUE(WaitFor("PEM 2", "a")) << "though the watch has not brought the first";
}

TEST_F(RootWriterTest, OnlySelectedNamespacesGetThem) {
  SetMesh("discoverySelectors: [{matchLabels: {mesh: 'yes'}}]");
  AddNamespace("in", R"("labels":{"mesh":"yes"})");
  AddNamespace("out");
  AddNamespace("going", R"("labels":{"mesh":"yes"},"deletionTimestamp":"2026-01-01T00:00:00Z")");
  Start();
  ASSERT_TRUE(WaitFor("PEM 1", "in"));
  std::this_thread::sleep_for(30ms);
  EXPECT_EQ(Writes(), 1u);
}

TEST_F(RootWriterTest, AReplicaThatDoesNotLeadWritesNothingUntilItDoes) {
  leads_ = false;
  AddNamespace("a");
  Start();
  std::this_thread::sleep_for(50ms);
  EXPECT_EQ(Writes(), 0u);
  leads_ = true;
  roots_->OnLeading();
  EXPECT_TRUE(WaitFor("PEM 1", "a"));
}

TEST_F(RootWriterTest, BusyServersGetThemLaterAndRefusalsAreNotRepeated) {
  server_.RefuseWrites(500, 7);
  AddNamespace("a");
  Start();
  EXPECT_TRUE(WaitFor("PEM 1", "a"));
  server_.RefuseWrites(403, 1'000'000);
  const size_t before = Writes();
  AddNamespace("b");
  ASSERT_TRUE(Eventually([&] { return Writes() == before + 1; }));
  roots_->OnPublished();
  std::this_thread::sleep_for(60ms);
  EXPECT_EQ(Writes(), before + 1);
}

TEST_F(RootWriterTest, AClusterTrustBundleHasTheRootsAndIsRepaired) {
  constexpr char kBundles[] = "/apis/certificates.k8s.io/v1alpha1/clustertrustbundles";
  constexpr char kBundle[] = "istio.io:istiod-ca:root-cert";
  server_.Serve(kBundles);
  TrustBundleWriter bundles({.leads = [this] { return leads_.load(); }, .check = 30ms}, writer_.get());
  bundles.SetRoots("PEM 1");
  const auto has = [&](const std::string& text) {
    return Eventually([&] { return server_.Get(kBundles, "", kBundle).find(text) != std::string::npos; });
  };
  EXPECT_TRUE(has("PEM 1")) << "in the version that the server has";
  EXPECT_THAT(server_.Get(kBundles, "", kBundle), HasSubstr(R"("signerName":"istio.io/istiod-ca")"));
  server_.Put(kBundles, "", kBundle, R"("spec":{"trustBundle":"mine"})");
  EXPECT_TRUE(has("PEM 1"));
  bundles.SetRoots("PEM 2");
  EXPECT_TRUE(has("PEM 2"));
  writer_->Stop();
}

}  // namespace
}  // namespace fairlead::controllers
