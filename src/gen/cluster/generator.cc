#include "gen/generator.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "cache/byte_cache.h"
#include "cache/memo.h"
#include "envoy/config/cluster/v3/cluster.pb.h"
#include "gen/cluster/build.h"
#include "gen/cluster/collect.h"
#include "gen/endpoint/client_class.h"

namespace fairlead::gen {
namespace {

using Resources = std::vector<cache::ResourcePtr>;

cache::ResourcePtr EncodeCluster(const envoy::config::cluster::v3::Cluster& cluster) {
  return Encode(cluster.name(), cluster);
}

// All clients that share their clusters for services, or one client (by what may set it apart) where they do
// not.
struct OutboundKey {
  ClientClass clients;
  ClusterTraits traits;
  bool dns_srv = false;
  LabelMap labels;
  model::Locality locality;
  std::string node;

  friend bool operator==(const OutboundKey&, const OutboundKey&) = default;
  template <typename H>
  friend H AbslHashValue(H h, const OutboundKey& k) {
    h = H::combine(std::move(h), k.clients, k.traits, k.dns_srv, k.locality, k.node);
    for (const auto& [key, value] : k.labels) h = H::combine(std::move(h), key, value);
    return h;
  }
};

struct OutboundClusters {
  Resources resources;
  bool per_client = false;  // another client of the class may have others
};

// Whether clients of one class may differ: by rules that select workloads, or by inline endpoints.
bool DifferByClient(const mesh::SidecarScope& scope, const std::vector<OutboundInputs>& inputs) {
  for (const auto& [host, rules] : scope.destination_rules) {
    if (scope.RuleDependsOnLabels(host)) return true;
  }
  return std::any_of(inputs.begin(), inputs.end(), [](const OutboundInputs& in) {
    return in.endpoints != nullptr && in.endpoints->per_client;
  });
}

// CDS: for the services that the proxy sees, for what its workload serves, and the fixed ones. Of two
// clusters with one name the first is kept. `names` picks from all; a name of nothing gets nothing.
class ClusterGenerator : public Generator {
 public:
  Resources Generate(const Request& request) override {
    const mesh::ProxyScope& scope = request.scope;
    if (scope.proxy->type == model::ProxyType::kZtunnel) return {};
    const ClusterTraits traits = CollectTraits(request.snapshot, *scope.proxy);
    Resources all;
    AddOutbound(request, traits, /*dns_srv=*/false, &all);
    for (const FixedInputs& inputs : CollectFixed(request.snapshot, scope, traits)) {
      all.push_back(
          fixed_.GetOrBuild(inputs, [](const FixedInputs& in) { return EncodeCluster(BuildFixed(in)); }));
    }
    if (traits.type == model::ProxyType::kSidecar) {
      for (const InboundInputs& inputs : CollectInbound(request.snapshot, scope, traits)) {
        all.push_back(inbound_.GetOrBuild(
            inputs, [](const InboundInputs& in) { return EncodeCluster(BuildInbound(in)); }));
      }
    } else if (traits.type == model::ProxyType::kRouter && PassesMutualTlsThrough(request.snapshot, scope)) {
      AddOutbound(request, traits, /*dns_srv=*/true, &all);
    }
    return Pick(std::move(all), request.names);
  }

  void Sweep() override {
    shared_.Clear();
    outbound_.Sweep();
    inbound_.Sweep();
    fixed_.Sweep();
  }

 private:
  void AddOutbound(const Request& request, const ClusterTraits& traits, bool dns_srv, Resources* all) {
    const auto build = [&](const OutboundKey&) { return BuildAll(request, traits, dns_srv); };
    OutboundKey key{ClientClass(request.snapshot, request.scope), traits, dns_srv, {}, {}, {}};
    auto clusters = shared_.Get(key, build);
    if (clusters->per_client) {
      key.labels = request.scope.labels;
      key.locality = request.scope.locality;
      key.node = request.scope.proxy->metadata.node_name;
      clusters = shared_.Get(key, build);
    }
    all->insert(all->end(), clusters->resources.begin(), clusters->resources.end());
  }

  OutboundClusters BuildAll(const Request& request, const ClusterTraits& traits, bool dns_srv) {
    OutboundClusters out;
    const std::vector<OutboundInputs> collected =
        CollectOutbound(request.snapshot, request.scope, traits, dns_srv);
    out.per_client = DifferByClient(*request.scope.sidecar, collected);
    for (const OutboundInputs& inputs : collected) {
      cache::ResourcePtr resource = outbound_.GetOrBuild(inputs, [](const OutboundInputs& in) {
        const auto cluster = BuildOutbound(in);
        return cluster ? EncodeCluster(*cluster) : nullptr;
      });
      if (resource != nullptr) out.resources.push_back(std::move(resource));
    }
    return out;
  }

  static Resources Pick(Resources all, const std::vector<std::string>* names) {
    absl::flat_hash_set<Interned> seen;
    std::erase_if(all, [&](const cache::ResourcePtr& resource) {
      if (!seen.insert(resource->name).second) return true;
      return names != nullptr &&
             std::find(names->begin(), names->end(), resource->name.str()) == names->end();
    });
    return all;
  }

  cache::Memo<OutboundKey, OutboundClusters> shared_;  // of the current snapshot
  cache::ByteCache<OutboundInputs> outbound_;
  cache::ByteCache<InboundInputs> inbound_;
  cache::ByteCache<FixedInputs> fixed_;
};

}  // namespace

std::unique_ptr<Generator> NewClusterGenerator() { return std::make_unique<ClusterGenerator>(); }

}  // namespace fairlead::gen
