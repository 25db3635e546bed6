#include "app/settings_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <filesystem>

#include "istio/mesh/v1alpha1/config.pb.h"
#include "istio/mesh/v1alpha1/network.pb.h"
#include "source/file/source_fake.h"

namespace fairlead::app {
namespace {

using ::testing::HasSubstr;

// Keeps what was handed out last.
class SettingsFilesTest : public ::testing::Test {
 protected:
  void Start() {
    SettingsFiles::Options options;
    options.mesh_config = folder_ / "mesh.yaml";
    options.networks_config = folder_ / "networks.yaml";
    options.domain = "cluster.local";
    options.kept = kept_.get();
    files_ = std::make_unique<SettingsFiles>(
        options,
        [this](model::SettingsPtr settings) {
          std::lock_guard lock(mutex_);
          settings_ = std::move(settings);
          ++handed_out_;
        },
        [this](const std::vector<config::Diagnostic>& diagnostics) {
          std::lock_guard lock(mutex_);
          diagnostics_.clear();
          for (const config::Diagnostic& one : diagnostics) diagnostics_ += ToText(one) + "\n";
          changed_.notify_all();
        });
    files_->Start();
  }
  // Waits until the diagnostics have a text, "" for none.
  bool WaitForDiagnostic(std::string_view text) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(20), [&] {
      return text.empty() ? diagnostics_.empty() : diagnostics_.find(text) != std::string::npos;
    });
  }
  int ListenPort() {
    std::lock_guard lock(mutex_);
    return settings_->mesh->proxy_listen_port();
  }
  size_t Networks() {
    std::lock_guard lock(mutex_);
    return settings_->networks->networks().size();
  }

  source::TestFolder folder_;
  std::unique_ptr<source::LastGood> kept_;  // null unless a test opens it
  std::mutex mutex_;
  std::condition_variable changed_;
  model::SettingsPtr settings_;
  int handed_out_ = 0;
  std::string diagnostics_;
  std::unique_ptr<SettingsFiles> files_;  // stops before what it calls goes
};

TEST_F(SettingsFilesTest, ABadFileKeepsTheLastGoodSettings) {
  folder_.Write("mesh.yaml", "proxyListenPort: 15101\n");
  folder_.Write("networks.yaml", "networks: {a: {gateways: [{address: 1.2.3.4, port: 1}]}}\n");
  Start();
  EXPECT_EQ(ListenPort(), 15101);
  EXPECT_EQ(Networks(), 1u);
  EXPECT_EQ(diagnostics_, "");
  folder_.Replace("mesh.yaml", "connectTimeout: 10s\nproxyListenPort: 0\n");
  EXPECT_TRUE(
      WaitForDiagnostic("mesh.yaml:2: error: proxyListenPort: port 0 is not in 1..65535 (invalid-value)"));
  EXPECT_EQ(ListenPort(), 15101);
  folder_.Replace("networks.yaml", "networks: {a: {gateways: [{address: 1.2.3.4}]}, b: {}}\n");
  EXPECT_TRUE(WaitForDiagnostic("networks.yaml:1: error: networks.a.gateways[0].port: port 0"));
  EXPECT_EQ(Networks(), 1u);
  folder_.Replace("networks.yaml", "networks: {a: {}, b: {}}\n");
  folder_.Replace("mesh.yaml", "proxyListenPort: 15102\n");
  EXPECT_TRUE(WaitForDiagnostic(""));
  EXPECT_EQ(ListenPort(), 15102);
  EXPECT_EQ(Networks(), 2u);
}

TEST_F(SettingsFilesTest, ACommentIsNoReasonToHandSettingsOut) {
  folder_.Write("mesh.yaml", "proxyListenPort: 15101\n");
  Start();
  folder_.Replace("mesh.yaml", "# The port of the listener.\nproxyListenPort: 15101\nunknownField: 1\n");
  ASSERT_TRUE(WaitForDiagnostic("unknownField"));
  std::lock_guard lock(mutex_);
  EXPECT_EQ(handed_out_, 1);
}

TEST_F(SettingsFilesTest, ABadFileAtTheStartMeansTheDefaults) {
  folder_.Write("mesh.yaml", "trustDomain: a_b\n");
  Start();
  EXPECT_EQ(ListenPort(), 15001);
  EXPECT_THAT(diagnostics_, HasSubstr("trustDomain"));
}

TEST_F(SettingsFilesTest, AFileThatIsBrokenAtTheStartIsTakenAsItWasGood) {
  kept_ = *source::LastGood::Open(folder_ / "state");
  folder_.Write("mesh.yaml", "proxyListenPort: 15999\n");
  Start();
  files_.reset();
  kept_->Flush();
  folder_.Write("mesh.yaml", "proxyListenPort: [\n");
  Start();
  EXPECT_EQ(ListenPort(), 15999);
  EXPECT_TRUE(WaitForDiagnostic("mesh.yaml: warning: serving the version of 20"));
  ASSERT_EQ(files_->Diagnostics().size(), 2u);
  files_.reset();
  std::filesystem::remove(folder_ / "mesh.yaml");
  Start();
  EXPECT_NE(ListenPort(), 15999);
}

TEST_F(SettingsFilesTest, AConfigMapCountsWhereThereIsNoFile) {
  folder_.Write("networks.yaml", "networks: {}");
  Start();
  files_->SetMesh("ConfigMap a/istio mesh", "proxyListenPort: 17001");
  EXPECT_EQ(ListenPort(), 17001);
  files_->SetMesh("ConfigMap a/istio mesh", "proxyListenPort: [");
  EXPECT_TRUE(WaitForDiagnostic("ConfigMap a/istio mesh:"));
  EXPECT_EQ(ListenPort(), 17001) << "what it said last";
  files_->SetNetworks("ConfigMap a/istio meshNetworks", "networks: {n: {endpoints: [], gateways: []}}");
  EXPECT_EQ(Networks(), 0u) << "the file counts";
}

TEST_F(SettingsFilesTest, TheMeshsOwnSettingsAreLaidOverSharedOnes) {
  Start();
  files_->SetMesh(
      "ConfigMap a/istio mesh",
      "{proxyListenPort: 17001, trustDomainAliases: [own], defaultConfig: {proxyMetadata: {A: own}}}");
  files_->SetSharedMesh(
      "ConfigMap a/all mesh",
      "{proxyListenPort: 17002, proxyHttpPort: 17003, trustDomainAliases: [shared], defaultConfig: "
      "{proxyMetadata: {A: shared, B: shared}}, extensionProviders: [{name: one, envoyFileAccessLog: {path: "
      "/dev/null}}]}");
  EXPECT_EQ(ListenPort(), 17001);
  const istio::mesh::v1alpha1::MeshConfig& mesh = *settings_->mesh;
  EXPECT_EQ(mesh.proxy_http_port(), 17003);
  EXPECT_THAT(mesh.trust_domain_aliases(), testing::ElementsAre("own", "shared"));
  EXPECT_THAT(mesh.default_config().proxy_metadata(),
              testing::UnorderedElementsAre(testing::Pair("A", "own"), testing::Pair("B", "shared")));
  EXPECT_EQ(mesh.extension_providers().rbegin()->name(), "one");
  files_->SetMesh("ConfigMap a/istio mesh", "{}");
  EXPECT_EQ(ListenPort(), 17002);
  files_->SetSharedMesh("ConfigMap a/all mesh", "proxyListenPort: [");
  EXPECT_TRUE(WaitForDiagnostic("ConfigMap a/all mesh:"));
  EXPECT_EQ(ListenPort(), 17002) << "what it said last";
}

TEST_F(SettingsFilesTest, SharedSettingsCountAlone) {
  folder_.Write("networks.yaml", "networks: {}");
  Start();
  files_->SetSharedMesh("ConfigMap a/all mesh", "proxyListenPort: 17002");
  EXPECT_EQ(ListenPort(), 17002);
  files_->SetSharedNetworks("ConfigMap a/all meshNetworks", "networks: {n: {endpoints: [], gateways: []}}");
  EXPECT_EQ(Networks(), 1u) << "in place of the file's";
}

}  // namespace
}  // namespace fairlead::app
