#include "gen/generator.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "cache/byte_cache.h"
#include "envoy/config/cluster/v3/cluster.pb.h"
#include "gen/cluster/build.h"
#include "gen/cluster/collect.h"

namespace fairlead::gen {
namespace {

cache::ResourcePtr EncodeCluster(const envoy::config::cluster::v3::Cluster& cluster) {
  return Encode(cluster.name(), cluster);
}

// CDS: for the services that the proxy sees, for what its workload serves, and the fixed ones. The names of
// the two parts differ; of two clusters of a part with one name the first is kept. `names` picks from all; a
// name of nothing gets nothing. The clusters of one service are kept apart, so that a new service costs its
// own.
class ClusterGenerator final : public Generator {
 public:
  size_t PartCount() const override { return 2; }
  bool IsShared(size_t part) const override { return part == kOutbound; }

  Resources Generate(mesh::View& view, const Names* names, size_t part) override {
    Resources all;
    if (view.proxy_class().type == model::ProxyType::kZtunnel) return all;
    part == kOutbound ? AddOutbound(view, &all) : AddOwn(view, &all);
    absl::flat_hash_set<Interned> seen;
    std::erase_if(all,
                  [&](const cache::ResourcePtr& resource) { return !seen.insert(resource->name).second; });
    Pick(names, &all);
    return all;
  }

  void Sweep(Clock::time_point now) override {
    services_.Sweep(now);
    outbound_.Sweep(now);
    inbound_.Sweep(now);
    fixed_.Sweep(now);
  }

 private:
  enum Part : size_t { kOutbound, kOwn };
  struct ServiceKey {
    model::ProxyClassPtr proxy_class;
    model::ServicePtr service;
    bool dns_srv;
    friend bool operator==(const ServiceKey&, const ServiceKey&) = default;
    template <typename H>
    friend H AbslHashValue(H h, const ServiceKey& key) {
      return H::combine(std::move(h), key.proxy_class, key.service, key.dns_srv);
    }
  };

  void AddOutbound(mesh::View& view, Resources* all) {
    AddServices(view, /*dns_srv=*/false, all);
    if (view.proxy_class().type == model::ProxyType::kRouter && PassesMutualTlsThrough(view)) {
      AddServices(view, /*dns_srv=*/true, all);
    }
  }

  void AddServices(mesh::View& view, bool dns_srv, Resources* all) {
    for (const model::ServicePtr& service : view.imports().services) {
      const auto clusters = view.Use(
          services_, ServiceKey{view.proxy_class_ptr(), service, dns_srv},
          [&](mesh::View& of_service) { return OfService(of_service, service, dns_srv); }, SameResources);
      all->insert(all->end(), clusters->begin(), clusters->end());
    }
  }

  std::shared_ptr<const Resources> OfService(mesh::View& view, const model::ServicePtr& service,
                                             bool dns_srv) {
    auto clusters = std::make_shared<Resources>();
    for (const OutboundInputs& inputs : CollectOutbound(view, service, CollectTraits(view), dns_srv)) {
      cache::ResourcePtr resource = outbound_.GetOrBuild(inputs, [](const OutboundInputs& in) {
        const auto cluster = BuildOutbound(in);
        return cluster ? EncodeCluster(*cluster) : nullptr;
      });
      if (resource != nullptr) clusters->push_back(std::move(resource));
    }
    return clusters;
  }

  void AddOwn(mesh::View& view, Resources* all) {
    const ClusterTraits traits = CollectTraits(view);
    for (const FixedInputs& inputs : CollectFixed(view, traits)) {
      all->push_back(
          fixed_.GetOrBuild(inputs, [](const FixedInputs& in) { return EncodeCluster(BuildFixed(in)); }));
    }
    if (traits.type != model::ProxyType::kSidecar) return;
    for (const InboundInputs& inputs : CollectInbound(view, traits)) {
      all->push_back(inbound_.GetOrBuild(
          inputs, [](const InboundInputs& in) { return EncodeCluster(BuildInbound(in)); }));
    }
  }

  cache::RecordedCache<ServiceKey, Resources, mesh::Reads> services_;
  cache::ByteCache<OutboundInputs> outbound_;
  cache::ByteCache<InboundInputs> inbound_;
  cache::ByteCache<FixedInputs> fixed_;
};

}  // namespace

std::unique_ptr<Generator> NewClusterGenerator() { return std::make_unique<ClusterGenerator>(); }

}  // namespace fairlead::gen
