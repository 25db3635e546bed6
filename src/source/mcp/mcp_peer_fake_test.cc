#include "source/mcp/mcp_peer_fake.h"

#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <thread>
#include <utility>

#include "base/strings.h"
#include "envoy/service/discovery/v3/ads.grpc.pb.h"
#include "istio/mcp/v1alpha1/resource.pb.h"
#include "istio/networking/v1alpha3/service_entry.pb.h"
#include "source/mcp/mcp_follower.h"
#include "source/platform/contract_fixture.h"

namespace fairlead::source {
namespace {

using namespace std::chrono_literals;
using envoy::service::discovery::v3::AggregatedDiscoveryService;
using envoy::service::discovery::v3::DiscoveryRequest;
using envoy::service::discovery::v3::DiscoveryResponse;
using Wire = grpc::ServerReaderWriter<DiscoveryResponse, DiscoveryRequest>;

istio::mcp::v1alpha1::Resource EntryOf(const std::string& name, const std::string& version) {
  istio::mcp::v1alpha1::Resource resource;
  resource.mutable_metadata()->set_name("ns/" + name);
  (*resource.mutable_metadata()->mutable_labels())["v"] = version;
  istio::networking::v1alpha3::ServiceEntry entry;
  entry.add_hosts(name + ".example.com");
  auto& port = *entry.add_ports();
  port.set_number(80);
  port.set_name("http");
  port.set_protocol("HTTP");
  entry.set_resolution(istio::networking::v1alpha3::ServiceEntry::DNS);
  resource.mutable_body()->PackFrom(entry);
  return resource;
}

}  // namespace

class McpPeerFake::Service final : public AggregatedDiscoveryService::Service {
 public:
  grpc::Status StreamAggregatedResources(grpc::ServerContext* context, Wire* wire) override {
    std::map<std::string, uint64_t> told;  // revisions, by type
    bool ended = false;
    std::thread reader([&] {
      DiscoveryRequest request;
      while (wire->Read(&request)) {
        std::lock_guard lock(mutex_);
        told.emplace(request.type_url(), 0);
        changed_.notify_all();
      }
      std::lock_guard lock(mutex_);
      ended = true;
      changed_.notify_all();
    });
    {
      std::unique_lock lock(mutex_);
      const uint64_t life = life_;
      while (!ended && !stopping_ && life == life_) {
        for (auto& [url, revision] : told) {
          const uint64_t wanted = url == McpTypeUrl(config::Kind::kServiceEntry) ? revision_ : 1;
          if (revision >= wanted) continue;
          revision = wanted;
          wire->Write(Response(url));
        }
        changed_.wait_for(lock, 1s);
      }
    }
    context->TryCancel();
    reader.join();
    return grpc::Status::OK;
  }

  void Change(const std::function<void(std::map<std::string, std::string>&)>& change) {
    std::lock_guard lock(mutex_);
    change(entries_);
    ++revision_;
    changed_.notify_all();
  }
  void EndStreams() {
    std::lock_guard lock(mutex_);
    ++life_;
    revision_ = 1;
    changed_.notify_all();
  }
  void Stop() {
    std::lock_guard lock(mutex_);
    stopping_ = true;
    changed_.notify_all();
  }

 private:
  DiscoveryResponse Response(const std::string& url) const {
    DiscoveryResponse response;
    response.set_type_url(url);
    response.set_version_info(std::to_string(revision_));
    response.set_nonce(std::to_string(revision_));
    if (url != McpTypeUrl(config::Kind::kServiceEntry)) return response;
    for (const auto& [name, version] : entries_) response.add_resources()->PackFrom(EntryOf(name, version));
    return response;
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, std::string> entries_;  // versions, by name
  uint64_t revision_ = 1, life_ = 0;
  bool stopping_ = false;
};

McpPeerFake::McpPeerFake() : service_(std::make_unique<Service>()) {
  grpc::ServerBuilder builder;
  int port = 0;
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
  builder.RegisterService(service_.get());
  server_ = builder.BuildAndStart();
  gate_ = std::make_unique<TcpGateFake>(port);
}

McpPeerFake::~McpPeerFake() {
  service_->Stop();
  server_->Shutdown(std::chrono::system_clock::now() + 100ms);
  server_->Wait();
}

std::unique_ptr<PlatformFollower> McpPeerFake::MakeFollower() {
  McpOptions options = *ParseMcpOptions(StrCat("xds://127.0.0.1:", gate_->port()));
  options.first_backoff = 10ms;
  options.most_backoff = 50ms;
  return std::make_unique<McpFollower>(std::move(options));
}

void McpPeerFake::Put(const std::string& name, const std::string& version) {
  service_->Change([&](auto& entries) { entries[name] = version; });
}

void McpPeerFake::Delete(const std::string& name) {
  service_->Change([&](auto& entries) { entries.erase(name); });
}

void McpPeerFake::Forget() { service_->EndStreams(); }

std::string McpPeerFake::VersionOf(const config::ConfigObject& object) const {
  return std::string(LabelOr(object.meta().labels, "v"));
}

INSTANTIATE_TEST_SUITE_P(Mcp, PlatformContractTest,
                         ::testing::Values(PeerCase{"mcp", [] { return std::make_unique<McpPeerFake>(); }}),
                         NameOfPeer);

}  // namespace fairlead::source
