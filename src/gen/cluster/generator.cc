#include "gen/generator.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "base/strings.h"
#include "base/unique_id.h"
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
  uint64_t id = NextUniqueId();
  Resources resources;
  bool per_client = false;  // another client of the class may have others
};

// Whether clients of one class may differ: by rules that select workloads, or by inline endpoints.
bool DifferByClient(const mesh::SidecarScope& scope, const std::vector<OutboundInputs>& inputs) {
  for (const auto& [host, rules] : scope.destination_rules) {
    if (scope.RuleDependsOnLabels(host)) return true;
  }
  return std::any_of(inputs.begin(), inputs.end(), [](const OutboundInputs& in) {
    return in.endpoints != nullptr && in.endpoints->client_reads != 0;
  });
}

using OutboundClustersPtr = std::shared_ptr<const OutboundClusters>;

// CDS: for the services that the proxy sees, for what its workload serves, and the fixed ones. The names of
// the two parts differ; of two clusters of a part with one name the first is kept. `names` picks from all; a
// name of nothing gets nothing.
class ClusterGenerator : public Generator {
 public:
  Resources Generate(const Request& request) override {
    Resources all = GeneratePart(request, kOutbound);
    Resources own = GeneratePart(request, kOwn);
    all.insert(all.end(), std::make_move_iterator(own.begin()), std::make_move_iterator(own.end()));
    return all;
  }

  size_t PartCount() const override { return 2; }

  PartStamp Stamp(const Request& request, size_t part) const override {
    const mesh::InputRevisions& revisions = request.snapshot.revisions;
    if (part == kOwn) return {request.scope.own_id, 0, revisions.settings};
    return {request.scope.own_id, request.scope.sidecar->imports_id,
            std::max(OutboundStamp(request), revisions.objects)};
  }

  // Clusters for services are shared, a workload's own are not.
  std::optional<std::string> PartKey(const Request& request, size_t part) override {
    if (part == kOwn) return std::nullopt;
    std::string key;
    for (const OutboundClustersPtr& clusters : AllOutbound(request)) StrAppend(&key, clusters->id, "|");
    return key;
  }

  Resources GeneratePart(const Request& request, size_t part) override {
    Resources all;
    if (part == kOutbound) {
      for (const OutboundClustersPtr& clusters : AllOutbound(request)) {
        all.insert(all.end(), clusters->resources.begin(), clusters->resources.end());
      }
    } else if (request.scope.proxy->type != model::ProxyType::kZtunnel) {
      AddOwn(request, &all);
    }
    return Pick(std::move(all), request.names);
  }

  void Sweep() override {
    shared_.Sweep();
    outbound_.Sweep();
    inbound_.Sweep();
    fixed_.Sweep();
  }

 private:
  enum Part : size_t { kOutbound, kOwn };

  // Of what clusters for services are made from besides what the client sees.
  static uint64_t OutboundStamp(const Request& request) {
    const mesh::InputRevisions revisions = request.snapshot.RevisionsFor(*request.scope.sidecar);
    return std::max({revisions.settings, revisions.services, revisions.endpoint_traits, revisions.networks,
                     revisions.peer_authentications});
  }

  std::vector<OutboundClustersPtr> AllOutbound(const Request& request) {
    const mesh::ProxyScope& scope = request.scope;
    if (scope.proxy->type == model::ProxyType::kZtunnel) return {};
    const ClusterTraits traits = CollectTraits(request.snapshot, *scope.proxy);
    std::vector<OutboundClustersPtr> all = {Outbound(request, traits, /*dns_srv=*/false)};
    if (traits.type == model::ProxyType::kRouter && PassesMutualTlsThrough(request.snapshot, scope)) {
      all.push_back(Outbound(request, traits, /*dns_srv=*/true));
    }
    return all;
  }

  OutboundClustersPtr Outbound(const Request& request, const ClusterTraits& traits, bool dns_srv) {
    const auto build = [&](const OutboundKey&) { return BuildAll(request, traits, dns_srv); };
    const uint64_t stamp = OutboundStamp(request);
    OutboundKey key{ClientClass(request.scope), traits, dns_srv, {}, {}, {}};
    auto clusters = shared_.Get(key, stamp, build);
    if (clusters->per_client) {
      key.labels = request.scope.labels;
      key.locality = request.scope.locality;
      key.node = request.scope.proxy->metadata.node_name;
      clusters = shared_.Get(key, stamp, build);
    }
    return clusters;
  }

  void AddOwn(const Request& request, Resources* all) {
    const ClusterTraits traits = CollectTraits(request.snapshot, *request.scope.proxy);
    for (const FixedInputs& inputs : CollectFixed(request.snapshot, request.scope, traits)) {
      all->push_back(
          fixed_.GetOrBuild(inputs, [](const FixedInputs& in) { return EncodeCluster(BuildFixed(in)); }));
    }
    if (traits.type != model::ProxyType::kSidecar) return;
    for (const InboundInputs& inputs : CollectInbound(request.snapshot, request.scope, traits)) {
      all->push_back(inbound_.GetOrBuild(
          inputs, [](const InboundInputs& in) { return EncodeCluster(BuildInbound(in)); }));
    }
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
      return names != nullptr && !std::binary_search(names->begin(), names->end(), resource->name.str());
    });
    return all;
  }

  cache::Memo<OutboundKey, OutboundClusters> shared_;
  cache::ByteCache<OutboundInputs> outbound_;
  cache::ByteCache<InboundInputs> inbound_;
  cache::ByteCache<FixedInputs> fixed_;
};

}  // namespace

std::unique_ptr<Generator> NewClusterGenerator() { return std::make_unique<ClusterGenerator>(); }

}  // namespace fairlead::gen
