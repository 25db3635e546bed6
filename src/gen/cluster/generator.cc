#include "gen/generator.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "base/strings.h"
#include "cache/byte_cache.h"
#include "envoy/config/cluster/v3/cluster.pb.h"
#include "gen/cluster/build.h"
#include "gen/cluster/collect.h"
#include "gen/naming/cluster_name.h"
#include "gen/patch/apply.h"
#include "gen/patch/outcome.h"
#include "gen/patch/pool.h"

namespace fairlead::gen {
namespace {

using envoy::config::cluster::v3::Cluster;
using patch::PatchSetPtr;

cache::ResourcePtr EncodeCluster(const Cluster& cluster, OriginList origins) {
  return Encode(cluster.name(), cluster, Audience::kMany, origins.Take());
}

OriginList OriginsOf(const OutboundClusterInputs& inputs) {
  OriginList origins;
  origins.Add(inputs.service).Add(inputs.rule);
  return origins;
}
OriginList OriginsOf(const InboundClusterInputs& inputs) {
  OriginList origins;
  for (const InboundTarget& target : inputs.targets) origins.Add(target.service);
  origins.Add(inputs.rule).Add(inputs.sidecar);
  return origins;
}
OriginList OriginsOf(const FixedInputs& /*inputs*/) { return {}; }

// Clusters by what they are made from, with and without patches. `Build`: Inputs -> std::optional<Cluster>.
template <typename Inputs>
class ClusterCache {
 public:
  // Null where there is no such cluster, or a patch removes it. `patches` may be null; see
  // PatchPool::ForCluster for `hosts`.
  template <typename Build>
  cache::ResourcePtr Get(const Inputs& inputs, const PatchSetPtr& patches,
                         const std::vector<std::string_view>& hosts, const Build& build) {
    if (patches == nullptr) {
      return plain_.GetOrBuild(inputs, [&](const Inputs& in) -> cache::ResourcePtr {
        const std::optional<Cluster> cluster = build(in);
        return cluster ? EncodeCluster(*cluster, OriginsOf(in)) : nullptr;
      });
    }
    return patched_.GetOrBuild({inputs, patches}, [&](const patch::Patched<Inputs>& in) {
      return Patch(build(in.inputs), *in.patches, hosts, OriginsOf(in.inputs));
    });
  }

  void Sweep(Clock::time_point now) {
    plain_.Sweep(now);
    patched_.Sweep(now);
  }

 private:
  static cache::ResourcePtr Patch(std::optional<Cluster> cluster, const patch::PatchSet& patches,
                                  const std::vector<std::string_view>& hosts, OriginList origins) {
    patch::PatchOutcome outcome;
    const bool kept = cluster && patch::PatchCluster(patches, hosts, &*cluster, &outcome);
    outcome.Report();
    patch::AddOrigins(patches, &origins);
    return kept ? EncodeCluster(*cluster, std::move(origins)) : nullptr;
  }

  cache::ByteCache<Inputs> plain_;
  cache::ByteCache<patch::Patched<Inputs>> patched_;
};

std::string NameOf(const OutboundClusterInputs& inputs) {
  const std::string& host = inputs.service->hostname.str();
  return inputs.dns_srv ? DnsSrvName(inputs.port, inputs.subset, host)
         : inputs.udp   ? UdpClusterName(inputs.port, host)
                        : OutboundClusterName(inputs.port, inputs.subset, host);
}

// The services behind an inbound cluster, as patches name them.
std::vector<std::string_view> HostsOf(const InboundClusterInputs& inputs, std::string* buffer) {
  std::vector<std::string_view> hosts;
  hosts.reserve(inputs.targets.size());
  for (const InboundTarget& target : inputs.targets) hosts.emplace_back(target.service->hostname.str());
  if (!hosts.empty()) return hosts;
  *buffer = StrCat(inputs.sidecar_name.str(), ".", inputs.sidecar_namespace.str());
  return {*buffer};
}

// CDS: for the services that the proxy sees, for what its workload serves, and the fixed ones. The names of
// the two parts differ; of two clusters of a part with one name the first is kept. `names` picks from all; a
// name of nothing gets nothing. The clusters of one service are kept apart, so that a new service costs its
// own. EnvoyFilters add clusters to the part that their names belong to.
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
    added_.Sweep(now);
    patches_.Sweep(now);
    patch::ForgetGoneFailures();
  }

 private:
  enum Part : size_t { kOutbound, kOwn };
  struct ServiceKey {
    model::ProxyClassPtr proxy_class;
    model::ServicePtr service;
    bool dns_srv;
    PatchSetPtr patches;  // those that may concern the service
    friend bool operator==(const ServiceKey&, const ServiceKey&) = default;
    template <typename H>
    friend H AbslHashValue(H h, const ServiceKey& key) {
      return H::combine(std::move(h), key.proxy_class, key.service, key.dns_srv, key.patches);
    }
  };

  PatchSetPtr OutboundPatches(mesh::View& view) {
    const bool router = view.proxy_class().type == model::ProxyType::kRouter;
    return patches_.Collect(view, router ? patch::Side::kGateway : patch::Side::kOutbound);
  }

  void AddOutbound(mesh::View& view, Resources* all) {
    const PatchSetPtr patches = OutboundPatches(view);
    const bool router = view.proxy_class().type == model::ProxyType::kRouter;
    if (router && view.settings(model::SettingsPart::kClusters)->gateways.filter_clusters) {
      AddServices(view, CollectRoutedServices(view), /*dns_srv=*/false, patches, all);
    } else {
      AddServices(view, view.imports().services, /*dns_srv=*/false, patches, all);
    }
    if (router && view.gateway_passthrough_hosts() != nullptr)
      AddServices(view, view.imports().services, /*dns_srv=*/true, patches, all);
    AddInserted(patches, kOutbound, all);
  }

  void AddServices(mesh::View& view, const std::vector<model::ServicePtr>& services, bool dns_srv,
                   const PatchSetPtr& patches, Resources* all) {
    for (const model::ServicePtr& service : services) {
      const PatchSetPtr own = patches_.ForService(patches, service->hostname.str());
      const auto clusters = view.Use(
          services_, ServiceKey{view.proxy_class_ptr(), service, dns_srv, own},
          [&](mesh::View& of_service) { return OfService(of_service, service, dns_srv, own); },
          SameResources);
      all->insert(all->end(), clusters->begin(), clusters->end());
    }
  }

  std::shared_ptr<const Resources> OfService(mesh::View& view, const model::ServicePtr& service, bool dns_srv,
                                             const PatchSetPtr& patches) {
    auto clusters = std::make_shared<Resources>();
    for (const OutboundClusterInputs& inputs : CollectOutbound(view, service, CollectTraits(view), dns_srv)) {
      const PatchSetPtr own = patches == nullptr ? nullptr : patches_.ForCluster(patches, NameOf(inputs));
      if (cache::ResourcePtr resource = outbound_.Get(inputs, own, {}, BuildOutbound))
        clusters->push_back(std::move(resource));
    }
    return clusters;
  }

  void AddOwn(mesh::View& view, Resources* all) {
    const ClusterTraits traits = CollectTraits(view);
    const PatchSetPtr outbound = OutboundPatches(view);
    PatchSetPtr inbound;
    if (traits.type == model::ProxyType::kSidecar) inbound = patches_.Collect(view, patch::Side::kInbound);
    const auto add = [all](cache::ResourcePtr resource) {
      if (resource != nullptr) all->push_back(std::move(resource));
    };
    for (const FixedInputs& inputs : CollectFixed(view, traits)) {
      add(fixed_.Get(inputs, FixedPatches(inputs, outbound, inbound), {}, BuildFixed));
    }
    AddInserted(outbound, kOwn, all);
    if (traits.type == model::ProxyType::kRouter) AddUdp(view, traits, outbound, all);
    if (traits.type != model::ProxyType::kSidecar) return;
    for (const InboundClusterInputs& inputs : CollectInbound(view, traits)) {
      std::string buffer;
      const auto hosts = HostsOf(inputs, &buffer);
      const PatchSetPtr own = patches_.ForCluster(inbound, InboundClusterName(inputs.cluster_port), hosts);
      add(inbound_.Get(inputs, own, hosts, BuildInbound));
    }
    AddInserted(inbound, kOwn, all);
  }

  // Where the router's own listeners of UDP lead to.
  void AddUdp(mesh::View& view, const ClusterTraits& traits, const PatchSetPtr& patches, Resources* all) {
    for (const auto& [host, ports] : CollectUdpPorts(view)) {
      for (const OutboundClusterInputs& inputs : CollectUdpOutbound(view, ports, traits)) {
        const PatchSetPtr own = patches == nullptr ? nullptr : patches_.ForCluster(patches, NameOf(inputs));
        if (cache::ResourcePtr resource = outbound_.Get(inputs, own, {}, BuildUdpOutbound))
          all->push_back(std::move(resource));
      }
    }
  }

  static PatchSetPtr FixedPatches(const FixedInputs& inputs, const PatchSetPtr& outbound,
                                  const PatchSetPtr& inbound) {
    if (inputs.kind == FixedInputs::Kind::kExternalSecrets) return nullptr;
    return inputs.kind == FixedInputs::Kind::kInboundPassthrough ? inbound : outbound;
  }

  // Clusters that are added as they are, to the part that has such names.
  void AddInserted(const PatchSetPtr& patches, Part part, Resources* all) {
    if (patches == nullptr) return;
    patch::PatchOutcome outcome;
    for (const Cluster* cluster : patch::AddedClusters(*patches, &outcome)) {
      const ParsedClusterName name = ParseClusterName(cluster->name());
      const bool outbound = name.direction == Direction::kOutbound && !name.udp;
      if (cluster->name().empty() || outbound != (part == kOutbound)) continue;
      const std::shared_ptr<const Cluster> held(patches, cluster);
      all->push_back(added_.GetOrBuild(held, [](const auto& added) { return EncodeCluster(*added, {}); }));
    }
    outcome.Report();
  }

  cache::RecordedCache<ServiceKey, Resources, mesh::Reads> services_;
  ClusterCache<OutboundClusterInputs> outbound_;
  ClusterCache<InboundClusterInputs> inbound_;
  ClusterCache<FixedInputs> fixed_;
  cache::ByteCache<std::shared_ptr<const Cluster>> added_;
  patch::PatchPool patches_{patch::Stage::kClusters};
};

}  // namespace

std::unique_ptr<Generator> NewClusterGenerator() { return std::make_unique<ClusterGenerator>(); }

}  // namespace fairlead::gen
