#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cache/byte_cache.h"
#include "envoy/config/cluster/v3/cluster.pb.h"
#include "envoy/config/listener/v3/listener.pb.h"
#include "gen/grpc/build.h"
#include "gen/grpc/collect.h"
#include "gen/grpc/generators.h"

namespace fairlead::gen {
namespace grpc {
namespace {

class ClusterGenerator final : public Generator {
 public:
  Resources Generate(mesh::View& view, const Names* names, size_t /*part*/) override {
    Resources out;
    if (names == nullptr) return out;
    for (const std::string& name : *names) {
      const std::optional<ClusterInputs> inputs = CollectCluster(view, name);
      if (!inputs) continue;
      out.push_back(cache_.GetOrBuild(*inputs, [](const ClusterInputs& in) {
        envoy::config::cluster::v3::Cluster cluster;
        BuildCluster(in, &cluster);
        return Encode(in.name, cluster);
      }));
    }
    return out;
  }
  void Sweep(Clock::time_point now) override { cache_.Sweep(now); }

 private:
  cache::ByteCache<ClusterInputs> cache_;
};

class ListenerGenerator final : public Generator {
 public:
  // A server's are its own.
  bool IsShared(size_t /*part*/) const override { return false; }
  Resources Generate(mesh::View& view, const Names* names, size_t /*part*/) override {
    using envoy::config::listener::v3::Listener;
    Resources out;
    for (const ClientListenerInputs& inputs : CollectClientListeners(view, names)) {
      out.push_back(clients_.GetOrBuild(inputs, [](const ClientListenerInputs& in) {
        Listener listener;
        BuildClientListener(in, &listener);
        return Encode(in.name, listener);
      }));
    }
    for (const ServerListenerInputs& inputs : CollectServerListeners(view, names)) {
      out.push_back(servers_.GetOrBuild(inputs, [](const ServerListenerInputs& in) {
        Listener listener;
        BuildServerListener(in, &listener);
        return Encode(in.name, listener);
      }));
    }
    return out;
  }
  void Sweep(Clock::time_point now) override {
    clients_.Sweep(now);
    servers_.Sweep(now);
  }

 private:
  cache::ByteCache<ClientListenerInputs> clients_;
  cache::ByteCache<ServerListenerInputs> servers_;
};

}  // namespace
}  // namespace grpc

std::unique_ptr<Generator> NewGrpcClusterGenerator() { return std::make_unique<grpc::ClusterGenerator>(); }
std::unique_ptr<Generator> NewGrpcListenerGenerator() { return std::make_unique<grpc::ListenerGenerator>(); }

}  // namespace fairlead::gen
