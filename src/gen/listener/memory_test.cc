#include <gmock/gmock.h>

#include <functional>
#include <thread>

#include "gen/listener/listener_fixture.h"

namespace fairlead::gen::listener {
namespace {

using model::Protocol;

// What a generator remembers must never show: each change is followed by a comparison with one that remembers
// nothing.
class MemoryTest : public ListenerFixture {
 protected:
  void SetUp() override {
    AddVip("default", "web", "10.96.0.1", 80, Protocol::kHttp);
    AddVip("default", "db", "10.96.0.2", 5432, Protocol::kTcp);
    AddVip("default", "auto", "10.96.0.3", 9000, Protocol::kUnsupported);
    headless_ = AddHeadless("default", "state", 7000, Protocol::kTcp);
    for (const auto& [ip, app] :
         {std::pair("10.1.0.1", "x"), std::pair("10.1.0.2", "y"), std::pair("10.1.0.3", "x")}) {
      auto proxy = Client("default", ip);
      proxy->metadata.labels = {{"app", app}};
      proxy->proxy_class = model::ClassOf(*proxy);
      proxies_.push_back(proxy);
    }
  }

  static std::vector<std::string> Bytes(const std::vector<cache::ResourcePtr>& resources) {
    std::vector<std::string> bytes;
    bytes.reserve(resources.size());
    for (const cache::ResourcePtr& resource : resources) bytes.push_back(resource->any.Unpacked());
    return bytes;
  }

  void ExpectSameAsFresh(const char* after) {
    const mesh::SnapshotPtr snapshot = Build();
    for (const auto& proxy : proxies_) {
      const mesh::ProxyScopePtr scope = mesh::ComputeProxyScope(*snapshot, proxy);
      const auto remembered = GenerateFor(*generator_, *snapshot, *scope, nullptr);
      const auto fresh = GenerateFor(*NewListenerGenerator(), *snapshot, *scope, nullptr);
      EXPECT_EQ(Bytes(remembered), Bytes(fresh)) << after << ", " << proxy->ip_addresses[0];
    }
    generator_->Sweep(Clock::now());
  }

  std::shared_ptr<model::Service> headless_;
  std::vector<std::shared_ptr<model::Proxy>> proxies_;
};

TEST_F(MemoryTest, ChangesAreNeverMissed) {
  const auto route_for = [](const char* label) {
    return StrCat("hosts: 'db' tcp { match { source_labels { key: 'app' value: '", std::string_view(label),
                  "' } } route { destination { host: 'web' } } }");
  };
  const std::pair<const char*, std::function<void()>> steps[] = {
      {"start", [] {}},
      {"endpoints",
       [&] {
         SetEndpoints(headless_, {"10.1.0.1", "10.1.0.2"});
       }},
      {"other endpoints",
       [&] {
         SetEndpoints(headless_, {"10.1.0.2", "10.1.0.3"});
       }},
      {"a service on an endpoint's address", [&] { AddVip("zeta", "z", "10.1.0.3", 7000, Protocol::kTcp); }},
      {"a route for labels", [&] { PutVirtualService("default", "v", route_for("x")); }},
      {"for others", [&] { PutVirtualService("default", "v", route_for("y")); }},
      {"a rule for labels",
       [&] {
         PutDestinationRule("default", "r",
                            R"(host: "auto" workload_selector { match_labels { key: "app" value: "y" } }
             traffic_policy { connection_pool { tcp { idle_timeout { seconds: 5 } } } })");
       }},
      {"no endpoints", [&] { SetEndpoints(headless_, {}); }},
      {"a log file",
       [&] {
         NewMeshConfig().set_access_log_file("/dev/stdout");
         SetSettings();
       }},
      {"a Telemetry",
       [&] {
         Put(config::Kind::kTelemetry, "default", "t",
             mesh::Parse<istio::telemetry::v1alpha1::Telemetry>(
                 "tracing { disable_span_reporting { value: true } }"));
       }},
      {"strict mutual TLS", [&] { PutPeerAuthentication("default", "p", "mtls { mode: STRICT }"); }},
      {"a Sidecar",
       [&] { PutSidecar("default", "s", "egress { hosts: './*' } outbound_traffic_policy {}"); }},
      {"no Sidecar", [&] { Remove(config::Kind::kSidecar, "default", "s"); }},
      {"no route", [&] { Remove(config::Kind::kVirtualService, "default", "v"); }},
  };
  for (const auto& [name, change] : steps) {
    change();
    ExpectSameAsFresh(name);
  }
}

TEST_F(MemoryTest, WhatNobodyAsksForIsForgotten) {
  ExpectSameAsFresh("start");
  std::weak_ptr<const cache::Resource> resource;
  {
    const mesh::SnapshotPtr snapshot = Build();
    resource = Generate(snapshot, proxies_[0]).front();
  }
  const Clock::time_point now = Clock::now();
  for (int i = 0; i < 20; ++i) generator_->Sweep(now + i * std::chrono::seconds(5));
  EXPECT_TRUE(resource.expired());
}

TEST_F(MemoryTest, ThreadsMayShareIt) {
  SetEndpoints(headless_, {"10.1.0.1"});
  const mesh::SnapshotPtr snapshot = Build();
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      for (int round = 0; round < 50; ++round) {
        const mesh::ProxyScopePtr scope = mesh::ComputeProxyScope(*snapshot, proxies_[(i + round) % 3]);
        EXPECT_FALSE(GenerateFor(*generator_, *snapshot, *scope, nullptr).empty());
        if (i == 0 && round % 10 == 0) generator_->Sweep(Clock::now());  // by one thread at a time
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace fairlead::gen::listener
