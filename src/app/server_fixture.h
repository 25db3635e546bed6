#ifndef FAIRLEAD_APP_SERVER_FIXTURE_H_
#define FAIRLEAD_APP_SERVER_FIXTURE_H_

// For tests: the whole server in this process, on a folder of manifests and on loopback.

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "app/discovery_server.h"
#include "base/strings.h"
#include "envoy/service/discovery/v3/ads.grpc.pb.h"
#include "xds/types.h"

namespace fairlead::app {

inline constexpr char kClientNode[] = "sidecar~10.1.0.9~client.shop~shop.svc.cluster.local";

inline constexpr char kService[] = R"(
apiVersion: v1
kind: Service
metadata: {name: reviews, namespace: shop}
spec:
  clusterIP: 10.0.0.10
  ports: [{name: http, port: 9080}]
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: reviews-1, namespace: shop, labels: {kubernetes.io/service-name: reviews}}
addressType: IPv4
ports: [{name: http, port: 9080}]
endpoints: [{addresses: [10.1.0.1], conditions: {ready: true}}]
)";

inline constexpr char kRoute[] = R"(
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: {name: reviews, namespace: shop}
spec:
  hosts: [reviews]
  http: [{route: [{destination: {host: reviews}}], timeout: %s}]
)";

inline std::string Url(xds::TypeId type) { return std::string(xds::InfoOf(type).url); }

class ServerTest : public testing::Test {
 protected:
  ServerTest() {
    std::string pattern = testing::TempDir() + "/serverXXXXXX";
    folder_ = mkdtemp(pattern.data());
    Write("service.yaml", kService);
    options_.config_dir = folder_;
    options_.mesh_config = options_.networks_config = "";
    options_.grpc_addr = options_.http_addr = options_.monitoring_addr = "127.0.0.1:0";
    options_.secure_grpc_addr = options_.https_addr = "";
    options_.ctrlz_port = 0;
    options_.shutdown_duration = "1s";
    options_.cluster_id = "Kubernetes";
    options_.ns = "istio-system";
    options_.environment.debounce_after = std::chrono::milliseconds(10);
  }
  ~ServerTest() override {
    server_.reset();
    std::filesystem::remove_all(folder_);
  }

  void Write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ + "/.new") << text;
    std::filesystem::rename(folder_ + "/.new", folder_ + "/" + name);
  }
  void WriteRoute(const std::string& timeout) { Write("route.yaml", ReplaceAll(kRoute, "%s", timeout)); }
  void StartServer() {
    server_ = std::make_unique<DiscoveryServer>(options_);
    ASSERT_TRUE(server_->Start().ok());
    ASSERT_TRUE(server_->WaitUntilServing().ok());
    channel_ =
        grpc::CreateChannel(StrCat("127.0.0.1:", server_->grpc_port()), grpc::InsecureChannelCredentials());
  }
  std::unique_ptr<envoy::service::discovery::v3::AggregatedDiscoveryService::Stub> Stub() {
    return envoy::service::discovery::v3::AggregatedDiscoveryService::NewStub(channel_);
  }

  std::string folder_;
  DiscoveryOptions options_;
  std::unique_ptr<DiscoveryServer> server_;
  std::shared_ptr<grpc::Channel> channel_;
};

}  // namespace fairlead::app

#endif  // FAIRLEAD_APP_SERVER_FIXTURE_H_
