#include "push/stream/push_metrics.h"

#include <gtest/gtest.h>

#include <functional>
#include <thread>

#include "push/publish/intake.h"
#include "push/push_fakes.h"

// What is counted, and when. Metrics are the process's: tests look at what is added.
namespace fairlead::push {
namespace {

using envoy::service::discovery::v3::DiscoveryRequest;
using xds::TypeId;

class PushMetricsTest : public testing::Test {
 protected:
  PushMetricsTest() : pusher(new Pusher(MakeFakeOptions(), MakeFakeGenerators(&mesh))) {
    mesh.Put(TypeId::kCluster, "a", "1");
    pusher->Publish(EmptySnapshot(), BecauseOf(Reason::kConfig));
    proxy->Connect(pusher.get());
    proxy->Ask(TypeId::kCluster);
    first = proxy->Await(0);
  }
  ~PushMetricsTest() override { proxy->HangUp(); }
  void Reject(const std::string& nonce) {
    DiscoveryRequest answer;
    answer.set_type_url(std::string(xds::InfoOf(TypeId::kCluster).url));
    answer.set_response_nonce(nonce);
    answer.mutable_error_detail()->set_code(13);
    answer.mutable_error_detail()->set_message("no such cluster type");
    proxy->Say(answer.SerializeAsString());
  }
  void Change(const std::string& content, Reason reason) {
    mesh.Put(TypeId::kCluster, "a", content);
    pusher->Publish(EmptySnapshot(), BecauseOf(reason));
  }
  static void Until(const std::function<bool()>& done) {
    for (int i = 0; i < 2000 && !done(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    EXPECT_TRUE(done());
  }

  PushMetrics& metrics = Metrics();
  PushMetrics::OfType& clusters = metrics.Of(TypeId::kCluster);
  FakeMesh mesh;
  OwnedPusher pusher;
  std::shared_ptr<FakeProxy> proxy = std::make_shared<FakeProxy>();
  envoy::service::discovery::v3::DiscoveryResponse first;
};

TEST_F(PushMetricsTest, AChangeIsCountedOnItsWay) {
  Until([&] { return pusher->BusyStreams() == 0; });
  const double queued = metrics.queue_time.Count(), converged = metrics.convergence_time.Count(),
               sent = metrics.send_time.Count(), made = clusters.push_time.Count(),
               sized = clusters.config_size.Count(), pushes = clusters.pushes.Value();
  metrics::Counter& trigger = *metrics.triggers[static_cast<size_t>(Reason::kNetworks)];
  const double triggered = trigger.Value(), requested = metrics.requests_triggered.Value();
  Change("2", Reason::kNetworks);
  proxy->Await(1);
  Until([&] { return metrics.convergence_time.Count() == converged + 1; });
  EXPECT_EQ(metrics.queue_time.Count(), queued + 1);
  EXPECT_EQ(metrics.send_time.Count(), sent + 1);
  EXPECT_EQ(clusters.push_time.Count(), made + 1);
  EXPECT_EQ(clusters.config_size.Count(), sized + 1);
  EXPECT_EQ(clusters.pushes.Value(), pushes + 1);
  EXPECT_EQ(trigger.Value(), triggered + 1);
  EXPECT_EQ(metrics.requests_triggered.Value(), requested);
}

TEST_F(PushMetricsTest, ARejectionIsCountedByTypeAndByNode) {
  const double rejects = clusters.rejects.Value();
  metrics::Gauge& of_node =
      metrics::GetGauge("pilot_xds_cds_reject", "", {{"node", "a.default"}, {"err", "Internal"}});
  const double before = of_node.Value();
  Reject(first.nonce());
  Until([&] { return clusters.rejects.Value() == rejects + 1; });
  EXPECT_EQ(of_node.Value(), before + 1);
}

// A response that was rejected may have been replaced before the client could say so.
TEST_F(PushMetricsTest, ARejectionOfAnEarlierResponseIsCountedToo) {
  const double rejects = clusters.rejects.Value(), expired = clusters.expired_nonces.Value();
  Change("2", Reason::kConfig);
  proxy->Await(1);
  Reject(first.nonce());
  Until([&] { return clusters.rejects.Value() == rejects + 1; });
  EXPECT_EQ(clusters.expired_nonces.Value(), expired + 1);
  EXPECT_EQ(pusher->Report().at(0).Of(TypeId::kCluster).status.error, "") << "it is not about the last one";
}

// Versions and names are what clients say that nobody has authenticated.
TEST(PushMetrics, LabelsOfClientsAreBounded) {
  const auto series = [](std::string_view of) {
    const std::string text = metrics::ToText();
    size_t count = 0;
    for (size_t at = text.find(of); at != std::string::npos; at = text.find(of, at + 1)) ++count;
    return count;
  };
  for (int i = 0; i < 1000; ++i) {
    ConnectedProxies(StrCat("1.", i)).Add(1);
    CountReject(TypeId::kEndpoint, StrCat("pod-", i, ".a"), i);
  }
  EXPECT_EQ(series("\npilot_xds{version="), 65u);
  EXPECT_LE(series("\npilot_xds_eds_reject{"), 501u);
  EXPECT_GE(ConnectedProxies("other").Value(), 936);
  EXPECT_EQ(&ConnectedProxies("another"), &ConnectedProxies("other"));
}

TEST(InboundUpdates, AreCountedByWhatTheyAre) {
  PushMetrics& metrics = Metrics();
  const auto counts = [&] {
    return std::vector<double>{metrics.inbound_config.Value(), metrics.inbound_endpoints.Value(),
                               metrics.inbound_services.Value(), metrics.inbound_service_deletes.Value()};
  };
  const auto change = [](config::Kind kind, bool gone) {
    config::ObjectMeta meta;
    meta.name = "x";
    meta.ns = "default";
    config::ConfigPtr object;
    if (!gone) object = std::make_shared<config::ConfigObject>(kind, meta, config::Origin{}, nullptr, 1);
    return config::ObjectChange{{kind, "default", "x"}, object};
  };
  Intake intake({});
  source::Sink* const sink = intake.AddSource("one", {});
  const std::vector<double> before = counts();
  sink->OnChanges(
      {change(config::Kind::kVirtualService, false), change(config::Kind::kEndpointSlice, false)});
  sink->OnChanges({change(config::Kind::kService, false), change(config::Kind::kServiceEntry, false)});
  sink->OnChanges({change(config::Kind::kService, true)});
  std::vector<double> added = counts();
  for (size_t i = 0; i < added.size(); ++i) added[i] -= before[i];
  EXPECT_EQ(added, (std::vector<double>{5, 1, 2, 1}));
}

}  // namespace
}  // namespace fairlead::push
