#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "app/derivations.h"
#include "base/strings.h"
#include "config/read/manifests.h"
#include "envoy/config/endpoint/v3/endpoint.pb.h"
#include "envoy/config/listener/v3/listener.pb.h"
#include "model/mesh_config.h"
#include "push/publish/control_loop.h"
#include "push/push_fakes.h"
#include "push/stream/generators.h"
#include "source/source.h"

// A mesh of two clusters: a source each, and what proxies of both are sent.
namespace fairlead::app {
namespace {

using namespace std::chrono_literals;
using testing::Contains;
using testing::ElementsAre;
using testing::Not;
using xds::TypeId;

constexpr char kDatabase[] = "outbound|3306||db.shop.svc.cluster.local";

// The same names in every cluster: a Service of a TCP port and a pod behind it.
std::string Manifests(std::string_view vip, std::string_view pod_ip, int target_port) {
  return StrCat(
      "{apiVersion: v1, kind: Service, metadata: {name: db, namespace: shop}, spec: {clusterIP: ", vip,
      ", selector: {app: db}, ports: [{name: tcp, port: 3306, targetPort: ", target_port, "}]}}\n",
      "---\n{apiVersion: v1, kind: Pod, metadata: {name: db-0, namespace: shop, labels: {app: db}}, ",
      "spec: {serviceAccountName: db}, status: {phase: Running, podIP: ", pod_ip,
      ", conditions: [{type: Ready, status: 'True'}]}}\n",
      "---\n{apiVersion: discovery.k8s.io/v1, kind: EndpointSlice, addressType: IPv4, ",
      "metadata: {name: db-1, namespace: shop, labels: {kubernetes.io/service-name: db}}, ",
      "ports: [{name: tcp, port: ", target_port, "}], endpoints: [{addresses: [", pod_ip,
      "], targetRef: {kind: Pod, namespace: shop, name: db-0}}]}\n");
}

// Says what a cluster has, at once.
class FakeCluster : public source::Source {
 public:
  FakeCluster(std::string cluster, std::string manifests)
      : cluster_(std::move(cluster)), manifests_(std::move(manifests)) {}
  absl::Status Start(source::Sink* sink) override {
    sink_ = sink;
    sink_->OnChanges(Parse(manifests_));
    sink_->OnSynced();
    return absl::OkStatus();
  }
  void Stop() override {}
  std::string Name() const override { return StrCat("cluster ", cluster_); }
  void Remove(config::Kind kind, std::string_view name) {
    sink_->OnChanges({{{kind, "shop", name, cluster_}, nullptr}});
  }
  void Add(const std::string& manifests) { sink_->OnChanges(Parse(manifests)); }

 private:
  std::vector<config::ObjectChange> Parse(const std::string& manifests) const {
    std::vector<config::ObjectChange> changes;
    for (const config::ConfigPtr& object :
         config::ParseManifests(manifests, "test.yaml", config::Admission::kPassed,
                                config::Documents::kDropped, cluster_)
             .objects) {
      changes.push_back({config::KeyOf(*object), object});
    }
    return changes;
  }
  const std::string cluster_, manifests_;
  source::Sink* sink_ = nullptr;
};

class ClustersTest : public testing::Test {
 protected:
  ClustersTest()
      : pusher_(new push::Pusher(Options(), push::MakeGenerators())),
        loop_({.debounce = {.quiet = 1ms, .max = 1s}}, MakeDerivations()) {
    loop_.AddObserver([this](const push::Publication& now) { pusher_->Publish(now.snapshot, now.reasons); });
    source::Sink *own = loop_.AddSource(own_.Name()), *east = loop_.AddSource(east_.Name());
    loop_.Set(model::MakeSettings(nullptr, model::ParseMeshNetworks("", "networks.yaml").networks,
                                  "cluster.local", "main"));
    loop_.Start();
    EXPECT_TRUE(own_.Start(own).ok() && east_.Start(east).ok());
    for (int i = 0; i < 1000 && !loop_.Ready(); ++i) std::this_thread::sleep_for(10ms);
    EXPECT_TRUE(loop_.Ready());
    in_main_ = Connect("10.0.0.1", "main");
    in_east_ = Connect("10.1.0.1", "east");
  }
  ~ClustersTest() override {
    loop_.Stop();
    in_main_->HangUp();
    in_east_->HangUp();
  }

  static push::PusherOptions Options() {
    push::PusherOptions options = push::MakeFakeOptions();
    options.scope = mesh::ComputeProxyScope;
    return options;
  }
  // The proxy of pod shop/db-0 of a cluster; it asks for the endpoints first, then for listeners.
  std::shared_ptr<push::FakeProxy> Connect(const std::string& ip, const std::string& cluster) {
    auto proxy = std::make_shared<push::FakeProxy>();
    proxy->Connect(pusher_.get());
    envoy::service::discovery::v3::DiscoveryRequest request;
    request.mutable_node()->set_id(StrCat("sidecar~", ip, "~db-0.shop~shop.svc.cluster.local"));
    auto& metadata = *request.mutable_node()->mutable_metadata()->mutable_fields();
    metadata["NAMESPACE"].set_string_value("shop");
    metadata["CLUSTER_ID"].set_string_value(cluster);
    request.set_type_url(std::string(xds::InfoOf(TypeId::kEndpoint).url));
    request.add_resource_names(kDatabase);
    proxy->Say(request.SerializeAsString());
    proxy->Await(0);
    proxy->Ask(TypeId::kListener, {}, "");
    proxy->Await(1);
    return proxy;
  }
  // "address:port" of the endpoints in a proxy's response of this number.
  static std::vector<std::string> Endpoints(push::FakeProxy& proxy, size_t number) {
    std::vector<std::string> texts;
    const auto response = proxy.Await(number);
    for (const auto& resource : response.resources()) {
      envoy::config::endpoint::v3::ClusterLoadAssignment assignment;
      EXPECT_TRUE(resource.UnpackTo(&assignment));
      for (const auto& locality : assignment.endpoints()) {
        for (const auto& one : locality.lb_endpoints()) {
          const auto& address = one.endpoint().address().socket_address();
          texts.push_back(StrCat(address.address(), ":", address.port_value()));
        }
      }
    }
    std::sort(texts.begin(), texts.end());
    return texts;
  }
  // Names of listeners and of the filter chains of the inbound one.
  static std::set<std::string> Listeners(push::FakeProxy& proxy) {
    std::set<std::string> names;
    const auto response = proxy.Await(1);
    for (const auto& resource : response.resources()) {
      envoy::config::listener::v3::Listener listener;
      EXPECT_TRUE(resource.UnpackTo(&listener));
      names.insert(listener.name());
      for (const auto& chain : listener.filter_chains()) {
        if (listener.name() == "virtualInbound") names.insert(chain.name());
      }
    }
    return names;
  }

  FakeCluster own_{"", Manifests("10.96.0.1", "10.0.0.1", 3306)},
      east_{"east", Manifests("10.97.0.1", "10.1.0.1", 3307)};
  push::OwnedPusher pusher_;
  push::ControlLoop loop_;
  std::shared_ptr<push::FakeProxy> in_main_, in_east_;
};

TEST_F(ClustersTest, ProxiesOfBothReachTheEndpointsOfBoth) {
  EXPECT_THAT(Endpoints(*in_main_, 0), ElementsAre("10.0.0.1:3306", "10.1.0.1:3307"));
  EXPECT_THAT(Endpoints(*in_east_, 0), ElementsAre("10.0.0.1:3306", "10.1.0.1:3307"));
}

TEST_F(ClustersTest, AProxyListensWhereItsOwnClusterHasTheService) {
  EXPECT_THAT(Listeners(*in_main_), Contains("10.96.0.1_3306"));
  EXPECT_THAT(Listeners(*in_main_), Not(Contains("10.97.0.1_3306")));
  EXPECT_THAT(Listeners(*in_east_), Contains("10.97.0.1_3306"));
  EXPECT_THAT(Listeners(*in_east_), Not(Contains("10.96.0.1_3306")));
}

TEST_F(ClustersTest, AProxyServesWhatItsOwnClustersPodDoes) {
  EXPECT_THAT(Listeners(*in_main_), Contains("0.0.0.0_3306"));
  EXPECT_THAT(Listeners(*in_main_), Not(Contains("0.0.0.0_3307")));
  EXPECT_THAT(Listeners(*in_east_), Contains("0.0.0.0_3307"));
  EXPECT_THAT(Listeners(*in_east_), Not(Contains("0.0.0.0_3306")));
}

TEST_F(ClustersTest, AProxyThatNamesNoClusterServesWhatItsPodsDoInAnyOfThem) {
  const auto proxy = Connect("10.1.0.1", "");
  EXPECT_THAT(Endpoints(*proxy, 0), ElementsAre("10.0.0.1:3306", "10.1.0.1:3307"));
  EXPECT_THAT(Listeners(*proxy), Contains("0.0.0.0_3306"));
  EXPECT_THAT(Listeners(*proxy), Contains("0.0.0.0_3307"));
  EXPECT_THAT(Listeners(*proxy), Contains("10.96.0.1_3306")) << "the address of the first cluster";
  EXPECT_THAT(Listeners(*proxy), Not(Contains("10.97.0.1_3306")));
  proxy->HangUp();
}

TEST_F(ClustersTest, WhatOneClusterLosesTheOtherKeeps) {
  east_.Remove(config::Kind::kPod, "db-0");
  EXPECT_THAT(Endpoints(*in_main_, 2), ElementsAre("10.0.0.1:3306"));
  EXPECT_THAT(Endpoints(*in_east_, 2), ElementsAre("10.0.0.1:3306"));
  own_.Remove(config::Kind::kEndpointSlice, "db-1");
  EXPECT_THAT(Endpoints(*in_main_, 3), ElementsAre());
}

TEST_F(ClustersTest, ConfigurationOfTheOtherIsNotActedOnAndThatIsSaid) {
  east_.Add(
      "{apiVersion: networking.istio.io/v1, kind: DestinationRule, metadata: {name: db, namespace: shop}, "
      "spec: {host: db}}");
  std::vector<std::string> said;
  for (int i = 0; i < 1000 && said.empty(); ++i) {
    std::this_thread::sleep_for(10ms);
    for (const config::Diagnostic& one : *loop_.Diagnostics()) said.push_back(config::ToText(one));
  }
  EXPECT_THAT(said,
              ElementsAre(testing::HasSubstr("DestinationRule shop/db of cluster east: this has no effect")));
  EXPECT_EQ(pusher_->Snapshot()->destination_rules->Namespace("shop"), nullptr);
}

}  // namespace
}  // namespace fairlead::app
