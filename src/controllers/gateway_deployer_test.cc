#include "controllers/gateway_deployer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/eventually_fixture.h"
#include "base/json.h"
#include "base/strings.h"
#include "config/read/manifests.h"
#include "model/mesh_config.h"
#include "source/cluster/api_server_fake.h"

namespace fairlead::controllers {
namespace {

using namespace std::chrono_literals;
using Json = nlohmann::json;

constexpr char kGateways[] = "/apis/gateway.networking.k8s.io/v1/gateways";
constexpr char kDeployments[] = "/apis/apps/v1/deployments";
constexpr char kServices[] = "/api/v1/services";
constexpr char kAccounts[] = "/api/v1/serviceaccounts";
constexpr char kScalers[] = "/apis/autoscaling/v2/horizontalpodautoscalers";
constexpr char kBudgets[] = "/apis/policy/v1/poddisruptionbudgets";

// Makes a Deployment and a Service of what it is asked, as a template might.
class Engine : public injection::TemplateEngine {
 public:
  absl::StatusOr<Json> Load(const injection::TemplateSet& /*set*/) override { return Json::object(); }
  void Prepare(const injection::TemplateSet& /*set*/) override {}
  absl::StatusOr<Json> Run(const injection::TemplateSetPtr& /*set*/,
                           const std::vector<std::string>& /*templates*/,
                           const std::string& request) override {
    ++runs_;
    const Json asked = ParseJson(request)->at("gateway");
    const Json& gateway = asked["gateway"]["metadata"];
    const Json metadata = {{"name", asked["deploymentName"]},
                           {"namespace", namespace_.empty() ? gateway["namespace"] : Json(namespace_)},
                           {"labels", asked["infrastructureLabels"]}};
    const Json deployment = {{"apiVersion", "apps/v1"},
                             {"kind", "Deployment"},
                             {"metadata", metadata},
                             {"spec",
                              {{"selector", {{"matchLabels", {{"gateway", gateway["name"]}}}}},
                               {"template", {{"metadata", {{"labels", {{"gateway", gateway["name"]}}}}}}}}}};
    const Json service = {{"apiVersion", "v1"},
                          {"kind", "Service"},
                          {"metadata", metadata},
                          {"spec", {{"ports", asked["ports"]}, {"type", asked["serviceType"]}}}};
    return Json{{"objects", {deployment, service}}};
  }
  int runs() const { return runs_; }
  void SetNamespace(std::string ns) { namespace_ = std::move(ns); }

 private:
  std::atomic<int> runs_{0};
  std::string namespace_;
};

class GatewayDeployerTest : public ::testing::Test {
 protected:
  GatewayDeployerTest() {
    for (const char* path : {kGateways, kDeployments, kServices, kAccounts, kScalers, kBudgets})
      server_.Serve(path);
    access_.server = server_.url();
    access_.proxy = "";
    writer_ = std::make_unique<kube::ApiWriter>(
        kube::ApiWriter::Options{.first_backoff = 5ms, .most_backoff = 20ms}, access_, &client_);
    auto set = std::make_shared<injection::TemplateSet>();
    auto configuration = std::make_shared<injection::InjectorConfiguration>();
    configuration->set = std::move(set);
    configuration->mesh = model::DefaultMeshConfig();
    templates_ = {configuration, std::make_shared<const injection::PodSurroundings>(), &engine_};
    settings_.cluster = "Kubernetes";
    settings_.revision = "default";
    options_.view = [this]() -> GatewayDeployer::View {
      std::lock_guard lock(mutex_);
      return {objects_, settings_};
    };
    options_.templates = [this] {
      std::lock_guard lock(mutex_);
      return templates_;
    };
    options_.leads = [this] { return leads_.load(); };
    options_.quiet = 5ms;
    options_.patience = 50ms;
    options_.first_retry = 20ms;
  }
  ~GatewayDeployerTest() override {
    if (deployer_ != nullptr) deployer_->Halt();
    writer_->Stop();
    deployer_ = nullptr;
  }
  void Start() {
    deployer_ = std::make_unique<GatewayDeployer>(options_, access_, &client_, writer_.get());
    deployer_->OnPublished();
  }
  // The same object in the server and in the copy of the mesh.
  void Apply(const std::string& manifest) {
    const config::ParseResult parsed =
        config::ParseManifests(manifest, "test.yaml", config::Admission::kPassed);
    std::vector<config::ObjectChange> changes;
    for (const auto& object : parsed.objects) {
      changes.push_back({KeyOf(*object), object});
      if (object->kind() == config::Kind::kKubernetesGateway)
        server_.Put(kGateways, object->ns().str(), object->name().str());
    }
    std::lock_guard lock(mutex_);
    objects_.Apply(changes);
  }
  void Publish() { deployer_->OnPublished(); }
  Json Get(const char* path, const std::string& name) {
    const std::string text = server_.Get(path, "shop", name);
    return text.empty() ? Json() : *ParseJson(text);
  }
  bool Has(const char* path, const std::string& name) {
    return Eventually([&] { return !Get(path, name).is_null(); });
  }
  size_t Applied() { return server_.CountRequests("fieldManager=istio.io"); }
  // Nothing is applied for a while.
  bool IsQuiet() {
    const size_t before = Applied();
    std::this_thread::sleep_for(300ms);
    return Applied() == before;
  }

  source::ApiServerFake server_;
  fetch::Client client_;
  kube::ServerAccess access_;
  std::unique_ptr<kube::ApiWriter> writer_;
  Engine engine_;
  std::mutex mutex_;
  config::ObjectStore objects_;
  GatewayPlanSettings settings_;
  GatewayDeployer::Templates templates_;
  std::atomic<bool> leads_{true};
  GatewayDeployer::Options options_;
  std::unique_ptr<GatewayDeployer> deployer_;
};

std::string Gateway(const std::string& name, const std::string& metadata = "", const std::string& spec = "") {
  return StrCat("apiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {name: ", name,
                ", namespace: shop", metadata, "}\nspec: {gatewayClassName: istio", spec,
                ", listeners: [{name: http, port: 80, protocol: HTTP}]}\n---\n");
}

TEST_F(GatewayDeployerTest, AGatewayGetsItsObjectsOnce) {
  Apply(Gateway("front", ", labels: {tier: edge}"));
  Start();
  ASSERT_TRUE(Has(kServices, "front-istio"));
  const Json service = Get(kServices, "front-istio");
  EXPECT_EQ(service["metadata"]["labels"]["gateway.istio.io/managed"], "istio.io-gateway-controller");
  EXPECT_EQ(service["metadata"]["labels"]["tier"], "edge");
  EXPECT_EQ(service["spec"]["type"], "LoadBalancer");
  EXPECT_EQ(service["spec"]["ports"][1]["name"], "http");
  EXPECT_TRUE(Has(kDeployments, "front-istio"));
  EXPECT_TRUE(IsQuiet());
  EXPECT_EQ(Applied(), 2);
  Publish();
  EXPECT_TRUE(IsQuiet());
  EXPECT_EQ(engine_.runs(), 1);
}

TEST_F(GatewayDeployerTest, WhatIsEditedOrDeletedIsRepaired) {
  Apply(Gateway("front"));
  Start();
  ASSERT_TRUE(Has(kServices, "front-istio"));
  ASSERT_TRUE(IsQuiet());
  Json edited = Get(kServices, "front-istio");
  const Json whole = edited;
  edited["spec"]["type"] = "ClusterIP";
  server_.Put(kServices, "shop", "front-istio", StrCat(R"("spec":)", JsonText(edited["spec"])),
              R"("labels":{"gateway.istio.io/managed":"istio.io-gateway-controller"})");
  EXPECT_TRUE(Eventually([&] { return Get(kServices, "front-istio")["spec"]["type"] == "LoadBalancer"; }));
  ASSERT_TRUE(IsQuiet());
  server_.Delete(kDeployments, "shop", "front-istio");
  EXPECT_TRUE(Eventually([&] { return !Get(kDeployments, "front-istio").is_null(); }, 3s));
  EXPECT_TRUE(IsQuiet());
}

TEST_F(GatewayDeployerTest, AnObjectThatIsEditedAllTheTimeIsRepairedEverLessOften) {
  options_.free_repairs = 1;
  options_.first_repair_wait = 400ms;
  Apply(Gateway("front"));
  Start();
  ASSERT_TRUE(Has(kServices, "front-istio"));
  ASSERT_TRUE(IsQuiet());
  const size_t before = Applied();
  const auto end = Clock::now() + 1500ms;
  while (Clock::now() < end) {
    if (Get(kServices, "front-istio")["spec"]["type"] == "LoadBalancer")
      server_.Put(kServices, "shop", "front-istio", R"("spec":{"type":"ClusterIP"})",
                  R"("labels":{"gateway.istio.io/managed":"istio.io-gateway-controller"})");
    std::this_thread::sleep_for(5ms);
  }
  EXPECT_GE(Applied() - before, 2);
  EXPECT_LE(Applied() - before, 5);
}

TEST_F(GatewayDeployerTest, ThatOfSomebodyElseIsLeftAlone) {
  server_.Put(kServices, "shop", "front-istio", R"("spec":{"type":"ExternalName"})");
  Apply(Gateway("front"));
  Start();
  ASSERT_TRUE(Has(kDeployments, "front-istio"));
  EXPECT_TRUE(IsQuiet());
  EXPECT_EQ(Get(kServices, "front-istio")["spec"]["type"], "ExternalName");
}

TEST_F(GatewayDeployerTest, OnlyTheLeaderDeploys) {
  leads_ = false;
  Apply(Gateway("front"));
  Start();
  EXPECT_TRUE(IsQuiet());
  leads_ = true;
  Publish();
  ASSERT_TRUE(Has(kServices, "front-istio"));
  leads_ = false;
  Apply(Gateway("back"));
  Publish();
  EXPECT_TRUE(IsQuiet());
  EXPECT_TRUE(Get(kServices, "back-istio").is_null());
}

TEST_F(GatewayDeployerTest, OthersGatewaysAreLeftAlone) {
  Apply(Gateway("newer", ", annotations: {gateway.istio.io/controller-version: '6'}"));
  Apply(Gateway("unknown", ", annotations: {gateway.istio.io/controller-version: new}"));
  Apply(Gateway("revision", ", labels: {istio.io/rev: other}"));
  Apply(Gateway("manual", "", ", addresses: [{type: Hostname, value: own.shop.svc.cluster.local}]"));
  Apply(Gateway("ours", ", annotations: {gateway.istio.io/controller-version: '5'}"));
  Start();
  ASSERT_TRUE(Has(kServices, "ours-istio"));
  EXPECT_TRUE(IsQuiet());
  EXPECT_EQ(Applied(), 2);
}

TEST_F(GatewayDeployerTest, OnlySelectedNamespacesCount) {
  auto configuration = std::make_shared<injection::InjectorConfiguration>(*templates_.configuration);
  configuration->mesh =
      model::ParseMeshConfig("discoverySelectors: [{matchLabels: {mesh: 'on'}}]", "mesh.yaml").mesh;
  templates_.configuration = configuration;
  Apply("apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n---\n" + Gateway("front"));
  Start();
  EXPECT_TRUE(IsQuiet());
  EXPECT_EQ(Applied(), 0);
  Apply("apiVersion: v1\nkind: Namespace\nmetadata: {name: shop, labels: {mesh: 'on'}}\n");
  Publish();
  EXPECT_TRUE(Has(kServices, "front-istio"));
}

TEST_F(GatewayDeployerTest, ATemplateWritesNowhereElse) {
  engine_.SetNamespace("bank");
  Apply(Gateway("front"));
  Start();
  EXPECT_TRUE(Eventually([&] { return engine_.runs() > 0; }));
  EXPECT_TRUE(IsQuiet());
  EXPECT_EQ(server_.Get(kServices, "bank", "front-istio"), "");
}

TEST_F(GatewayDeployerTest, ARefusalIsTriedAgain) {
  server_.RefuseWrites(422, 3);
  Apply(Gateway("front", ", annotations: {gateway.istio.io/controller-version: '5'}"));
  Start();
  EXPECT_TRUE(Has(kDeployments, "front-istio"));
  EXPECT_TRUE(Has(kServices, "front-istio"));
}

TEST_F(GatewayDeployerTest, AChangedGatewayIsAppliedAnew) {
  Apply(Gateway("front"));
  Start();
  ASSERT_TRUE(Has(kServices, "front-istio"));
  ASSERT_TRUE(IsQuiet());
  Apply(Gateway("front", ", annotations: {networking.istio.io/service-type: ClusterIP}"));
  Publish();
  EXPECT_TRUE(Eventually([&] { return Get(kServices, "front-istio")["spec"]["type"] == "ClusterIP"; }));
}

TEST_F(GatewayDeployerTest, NothingIsAppliedBeforeThereAreTemplates) {
  const GatewayDeployer::Templates templates = templates_;
  templates_ = {};
  Apply(Gateway("front"));
  Start();
  EXPECT_TRUE(IsQuiet());
  {
    std::lock_guard lock(mutex_);
    templates_ = templates;
  }
  EXPECT_TRUE(Has(kServices, "front-istio"));
}

}  // namespace
}  // namespace fairlead::controllers
