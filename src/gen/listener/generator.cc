#include "gen/generator.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "envoy/config/listener/v3/listener.pb.h"
#include "gen/listener/added_listeners.h"
#include "gen/listener/inbound.h"
#include "gen/listener/listener_cache.h"
#include "gen/listener/outbound.h"
#include "gen/listener/outbound_collect.h"
#include "gen/patch/pool.h"
#include "istio/mesh/v1alpha1/config.pb.h"

namespace fairlead::gen {
namespace {

using cache::ResourcePtr;
using envoy::config::listener::v3::Listener;
using patch::PatchSetPtr;
using namespace listener;  // NOLINT: this file is that folder's face

constexpr std::string_view kVirtualInbound = "virtualInbound", kVirtualOutbound = "virtualOutbound";

// LDS for sidecars; other proxies have no listeners here. Of the two parts one holds the outbound listeners
// for services, which most workloads of a namespace share, the other the rest. Names are unique: of two
// listeners with one name (a Sidecar's may meet a service's) the outbound one is kept, else the first.
// `names` picks from all; a name of nothing gets nothing.
class ListenerGenerator final : public Generator {
 public:
  size_t PartCount() const override { return 2; }
  bool IsShared(size_t part) const override { return part == kOutbound; }

  Resources Generate(mesh::View& view, const Names* names, size_t part) override {
    Resources resources;
    if (!HasListeners(view)) return resources;
    if (part == kOutbound) {
      resources = *Outbound(view);
    } else {
      AddOwn(view, &resources);
    }
    Pick(names, &resources);
    return resources;
  }

  void Sweep(Clock::time_point now) override {
    sets_.Sweep(now);
    of_all_apps_.Sweep(now);
    outbound_.Sweep(now);
    inbound_.Sweep(now);
    virtual_outbound_.Sweep(now);
    added_.Sweep(now);
    patches_.Sweep(now);
    pool_.Sweep();
  }

 private:
  enum Part : size_t { kOutbound, kOwn };
  using ResourcesPtr = std::shared_ptr<const Resources>;

  // The fragments that a proxy's listeners are made with.
  struct ProxyFragments {
    EncodedFragmentsPtr full;
    EncodedFragmentsPtr l4;  // without what only HTTP depends on: for listeners without a connection manager
  };

  // The outbound listeners of a scope, as far as the names of the apps in it do not matter.
  struct OfAllApps {
    std::vector<OutboundInputs> inputs;
    Resources encoded;  // each null where its inputs have no fragments; empty where all are to be patched
  };
  struct OfAllAppsKey {
    ScopeKey scope;
    EncodedFragmentsPtr l4;
    bool encoded;
    friend bool operator==(const OfAllAppsKey&, const OfAllAppsKey&) = default;
    template <typename H>
    friend H AbslHashValue(H h, const OfAllAppsKey& key) {
      return H::combine(std::move(h), key.scope, key.l4, key.encoded);
    }
  };

  static bool HasListeners(mesh::View& view) {
    return view.proxy_class().type == model::ProxyType::kSidecar &&
           view.settings(model::SettingsPart::kListeners)->mesh->proxy_listen_port() > 0;
  }

  ProxyFragments FragmentsOf(mesh::View& view) {
    ProxyTraits traits = CollectTraits(view);
    ProxyFragments fragments;
    fragments.l4 = pool_.Intern(L4Traits(traits));
    fragments.full = pool_.Intern(std::move(traits));
    return fragments;
  }

  // That of inbound listeners: with the workload's policies.
  EncodedFragmentsPtr WithAccess(mesh::View& view, const EncodedFragmentsPtr& fragments) {
    security::Access access = security::CollectAccess(view);
    if (access.empty()) return fragments;
    ProxyTraits traits = fragments->traits();
    traits.access = std::move(access);
    return pool_.Intern(std::move(traits));
  }

  // Sorted by name, those that EnvoyFilters add last.
  ResourcesPtr Outbound(mesh::View& view) {
    const auto make = [this](mesh::View& of_set) {
      auto set = std::make_shared<Resources>();
      const PatchSetPtr patches = patches_.Collect(of_set, patch::Side::kOutbound);
      const ProxyFragments fragments = FragmentsOf(of_set);
      const auto shared = Shared(of_set, fragments.l4, patches == nullptr);
      patch::PatchOutcome outcome;
      for (size_t i = 0; i < shared->inputs.size(); ++i) {
        if (!shared->encoded.empty() && shared->encoded[i] != nullptr) {
          set->push_back(shared->encoded[i]);
          continue;
        }
        OutboundInputs inputs = shared->inputs[i];
        if (inputs.fragments == nullptr) inputs.fragments = fragments.full;
        Append(Encoded(inputs, patches, &outcome), set.get());
      }
      added_.Append(patches, &outcome, set.get());
      return set;
    };
    return view.Use(sets_, ScopeKey::Of(view), make, SameResources);
  }

  // Collected once for all apps of a namespace: a new service does not cost each of them all the others.
  std::shared_ptr<const OfAllApps> Shared(mesh::View& view, const EncodedFragmentsPtr& l4, bool encoded) {
    const auto make = [&](mesh::View& of_scope) {
      auto all = std::make_shared<OfAllApps>();
      all->inputs = CollectOutbound(of_scope, l4);
      for (const OutboundInputs& inputs : all->inputs) {
        if (encoded) all->encoded.push_back(inputs.fragments ? Encoded(inputs, nullptr, nullptr) : nullptr);
      }
      return all;
    };
    return view.Use(of_all_apps_, OfAllAppsKey{ScopeKey::Of(view), l4, encoded}, make,
                    [](const OfAllApps& a, const OfAllApps& b) { return a.inputs == b.inputs; });
  }

  void AddOwn(mesh::View& view, Resources* out);

  static void Append(ResourcePtr listener, Resources* out) {
    if (listener != nullptr) out->push_back(std::move(listener));
  }

  ResourcePtr Encoded(const OutboundInputs& inputs, const PatchSetPtr& patches,
                      patch::PatchOutcome* outcome) {
    const PatchSetPtr own =
        patches == nullptr ? nullptr : patches_.ForListener(patches, inputs.Name(), inputs.port);
    return outbound_.Get(inputs, own, outcome, BuildOutboundListener);
  }
  ResourcePtr Encoded(const InboundInputs& inputs, const PatchSetPtr& patches, patch::PatchOutcome* outcome) {
    return inbound_.Get(inputs, patches, outcome, BuildInboundListener);
  }
  ResourcePtr VirtualOutbound(const ProxyFragments& fragments, const PatchSetPtr& patches,
                              patch::PatchOutcome* outcome) {
    const bool http = fragments.full->traits().catch_all.mode == route::CatchAllMode::kDynamicDns;
    const uint32_t port = fragments.full->traits().settings->mesh->proxy_listen_port();
    return virtual_outbound_.Get(http ? fragments.full : fragments.l4,
                                 patches_.ForListener(patches, kVirtualOutbound, port), outcome,
                                 [](const EncodedFragmentsPtr& wanted, Listener* listener) {
                                   BuildVirtualOutboundListener(*wanted, listener);
                                 });
  }

  FragmentPool pool_;
  cache::RecordedCache<ScopeKey, Resources, mesh::Reads> sets_;
  cache::RecordedCache<OfAllAppsKey, OfAllApps, mesh::Reads> of_all_apps_;
  ListenerCache<OutboundInputs> outbound_{Audience::kMany};
  ListenerCache<InboundInputs> inbound_{Audience::kOne};
  ListenerCache<EncodedFragmentsPtr> virtual_outbound_{Audience::kMany};
  AddedListeners added_;
  patch::PatchPool patches_{patch::Stage::kListeners};
};

// What is neither of the virtual listeners may have the name of an outbound one.
bool MayMeetOutbound(const Resources& own) {
  return std::any_of(own.begin(), own.end(), [](const ResourcePtr& listener) {
    return listener->name != kVirtualInbound && listener->name != kVirtualOutbound;
  });
}

void ListenerGenerator::AddOwn(mesh::View& view, Resources* out) {
  const ProxyFragments fragments = FragmentsOf(view);
  const PatchSetPtr outbound = patches_.Collect(view, patch::Side::kOutbound);
  const PatchSetPtr inbound = patches_.Collect(view, patch::Side::kInbound);
  patch::PatchOutcome of_outbound, of_inbound;
  if (const auto inputs = CollectHttpProxyPort(view, fragments.full))
    Append(Encoded(*inputs, outbound, &of_outbound), out);
  if (fragments.full->traits().interception != model::InterceptionMode::kNone)
    Append(VirtualOutbound(fragments, outbound, &of_outbound), out);
  for (const InboundInputs& inputs : CollectInbound(view, WithAccess(view, fragments.full)))
    Append(Encoded(inputs, inbound, &of_inbound), out);
  added_.Append(inbound, &of_inbound, out);
  absl::flat_hash_set<Interned> taken;
  if (MayMeetOutbound(*out)) {
    for (const ResourcePtr& listener : *Outbound(view)) taken.insert(listener->name);
  }
  std::erase_if(*out, [&](const ResourcePtr& listener) { return !taken.insert(listener->name).second; });
}

}  // namespace

std::unique_ptr<Generator> NewListenerGenerator() { return std::make_unique<ListenerGenerator>(); }

}  // namespace fairlead::gen
