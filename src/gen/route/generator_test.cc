#include "gen/generator.h"

#include <google/protobuf/any.pb.h>
#include <gtest/gtest.h>

#include "envoy/config/route/v3/route.pb.h"
#include "gen/route/test_objects.h"
#include "istio/mesh/v1alpha1/proxy.pb.h"
#include "istio/networking/v1alpha3/sidecar.pb.h"

namespace fairlead::gen::route {
namespace {

class RouteGeneratorTest : public ::testing::Test {
 protected:
  RouteGeneratorTest() {
    snapshot_.settings = TestSettings();
    sidecar_ = MakeSidecarScope();
    sidecar_->egress.back().services.push_back(TestService("a.com", "10.0.0.1"));
  }

  static std::shared_ptr<mesh::SidecarScope> MakeSidecarScope() {
    auto scope = std::make_shared<mesh::SidecarScope>();
    scope->outbound_traffic_policy = std::make_shared<istio::networking::v1alpha3::OutboundTrafficPolicy>();
    scope->egress.emplace_back();
    return scope;
  }
  mesh::ProxyScope Workload(std::string_view app, model::ProxyType type = model::ProxyType::kSidecar) {
    mesh::ProxyScope scope;
    auto proxy = std::make_shared<model::Proxy>();
    proxy->type = type;
    proxy->ns = "default";
    proxy->supports_ipv4 = true;
    scope.proxy = std::move(proxy);
    scope.labels["app"] = app;
    scope.sidecar = sidecar_;
    scope.proxy_config = std::make_shared<istio::mesh::v1alpha1::ProxyConfig>();
    return scope;
  }
  std::vector<cache::ResourcePtr> Ask(const mesh::ProxyScope& scope, const std::vector<std::string>& names) {
    return generator_->Generate({snapshot_, scope, &names});
  }
  std::optional<std::string> Key(const mesh::ProxyScope& scope) {
    return generator_->PartKey({snapshot_, scope, nullptr}, 0);
  }

  mesh::MeshSnapshot snapshot_;
  std::shared_ptr<mesh::SidecarScope> sidecar_;
  std::unique_ptr<Generator> generator_ = NewRouteGenerator();
};

envoy::config::route::v3::RouteConfiguration Decode(const cache::ResourcePtr& resource) {
  google::protobuf::Any any;
  envoy::config::route::v3::RouteConfiguration message;
  EXPECT_TRUE(any.ParseFromString(resource->any.Unpacked()));
  EXPECT_TRUE(any.UnpackTo(&message));
  return message;
}

TEST_F(RouteGeneratorTest, AnswersEveryNameInOrder) {
  const auto answers = Ask(Workload("a"), {"80", "nonsense"});
  ASSERT_EQ(answers.size(), 2u);
  EXPECT_EQ(answers[0]->name, "80");
  EXPECT_EQ(Decode(answers[0]).virtual_hosts_size(), 2);
  EXPECT_EQ(Decode(answers[1]).name(), "nonsense");
  EXPECT_EQ(Decode(answers[1]).virtual_hosts_size(), 0);
}

TEST_F(RouteGeneratorTest, WorkloadsOfAScopeShareTheirRoutes) {
  EXPECT_EQ(Ask(Workload("a"), {"80"}), Ask(Workload("b"), {"80"}));
  EXPECT_EQ(Key(Workload("a")), Key(Workload("b")));
}

TEST_F(RouteGeneratorTest, LabelsKeepWorkloadsApartWhereAMatchAsksForThem) {
  sidecar_->egress.back().virtual_services.push_back(
      TestVirtualService("v",
                         "hosts: 'a.com' http { match { source_labels { key: 'app' value: 'b' } } route { "
                         "destination { host: 'b.com' } "
                         "} }"));
  const auto a = Ask(Workload("a"), {"80"}), b = Ask(Workload("b"), {"80"});
  EXPECT_EQ(Decode(a[0]).virtual_hosts(0).routes(0).route().cluster(), "outbound|80||a.com");
  EXPECT_EQ(Decode(b[0]).virtual_hosts(0).routes(0).route().cluster(), "outbound|80||b.com");
  EXPECT_NE(Key(Workload("a")), Key(Workload("b")));
}

TEST_F(RouteGeneratorTest, EqualScopesGiveTheSameResourceAndItOutlivesSweeps) {
  const auto before = Ask(Workload("a"), {"80"});
  auto equal = MakeSidecarScope();
  equal->egress = sidecar_->egress;
  sidecar_ = equal;
  generator_->Sweep();
  EXPECT_EQ(Ask(Workload("a"), {"80"}), before);
  generator_->Sweep();
  generator_->Sweep();
  EXPECT_EQ(Ask(Workload("a"), {"80"}), before);
}

TEST_F(RouteGeneratorTest, AskingForAllIsAskingForNothing) {
  const mesh::ProxyScope scope = Workload("a");
  EXPECT_TRUE(generator_->Generate({snapshot_, scope, nullptr}).empty());
}

}  // namespace
}  // namespace fairlead::gen::route
