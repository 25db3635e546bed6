#include "gen/generator.h"

#include <google/protobuf/arena.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "cache/byte_cache.h"
#include "envoy/config/listener/v3/listener.pb.h"
#include "gen/listener/inbound.h"
#include "gen/listener/outbound.h"
#include "gen/listener/outbound_collect.h"
#include "istio/mesh/v1alpha1/config.pb.h"

namespace fairlead::gen {
namespace {

using cache::ResourcePtr;
using envoy::config::listener::v3::Listener;
using namespace listener;  // NOLINT: this file is that folder's face

// What `build` makes of an empty listener. It lies on an arena: it has hundreds of parts, and is dropped at
// once.
template <typename Build>
ResourcePtr Built(const Build& build, Audience audience = Audience::kMany) {
  google::protobuf::Arena arena;
  auto* listener = google::protobuf::Arena::CreateMessage<Listener>(&arena);
  build(listener);
  return Encode(listener->name(), *listener, audience);
}

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
    outbound_.Sweep(now);
    inbound_.Sweep(now);
    virtual_outbound_.Sweep(now);
    profiles_.Sweep();
  }

 private:
  enum Part : size_t { kOutbound, kOwn };
  using ResourcesPtr = std::shared_ptr<const Resources>;

  static bool HasListeners(mesh::View& view) {
    return view.proxy_class().type == model::ProxyType::kSidecar &&
           view.settings(model::SettingsPart::kListeners)->mesh->proxy_listen_port() > 0;
  }

  Profiles ProfilesOf(mesh::View& view) {
    ProxyTraits traits = CollectTraits(view);
    Profiles profiles;
    profiles.l4 = profiles_.Intern(L4Traits(traits));
    profiles.full = profiles_.Intern(std::move(traits));
    return profiles;
  }

  // That of inbound listeners: with the workload's policies.
  ProfilePtr WithAccess(mesh::View& view, const ProfilePtr& profile) {
    security::Access access = security::CollectAccess(view);
    if (access.empty()) return profile;
    ProxyTraits traits = profile->traits();
    traits.access = std::move(access);
    return profiles_.Intern(std::move(traits));
  }

  // Sorted by name.
  ResourcesPtr Outbound(mesh::View& view) {
    const auto make = [this](mesh::View& of_set) {
      auto set = std::make_shared<Resources>();
      for (const OutboundInputs& inputs : CollectOutbound(of_set, ProfilesOf(of_set)))
        set->push_back(Encoded(inputs));
      return set;
    };
    return view.Use(sets_, ScopeKey::Of(view), make, SameResources);
  }

  void AddOwn(mesh::View& view, Resources* out);

  ResourcePtr Encoded(const OutboundInputs& inputs) {
    return outbound_.GetOrBuild(inputs, [](const OutboundInputs& wanted) {
      return Built([&](Listener* listener) { BuildOutboundListener(wanted, listener); });
    });
  }
  ResourcePtr Encoded(const InboundInputs& inputs) {
    return inbound_.GetOrBuild(inputs, [](const InboundInputs& wanted) {
      return Built([&](Listener* listener) { BuildInboundListener(wanted, listener); }, Audience::kOne);
    });
  }
  ResourcePtr VirtualOutbound(const Profiles& profiles) {
    const bool http = profiles.full->traits().catch_all.mode == route::CatchAllMode::kDynamicDns;
    return virtual_outbound_.GetOrBuild(http ? profiles.full : profiles.l4, [](const ProfilePtr& wanted) {
      return Built([&](Listener* listener) { BuildVirtualOutboundListener(*wanted, listener); });
    });
  }

  ProfilePool profiles_;
  cache::RecordedCache<ScopeKey, Resources, mesh::Reads> sets_;
  cache::ByteCache<OutboundInputs> outbound_;
  cache::ByteCache<InboundInputs> inbound_;
  cache::ByteCache<ProfilePtr> virtual_outbound_;
};

constexpr std::string_view kVirtualInbound = "virtualInbound", kVirtualOutbound = "virtualOutbound";

// What is neither of the virtual listeners may have the name of an outbound one.
bool MayMeetOutbound(const Resources& own) {
  return std::any_of(own.begin(), own.end(), [](const ResourcePtr& listener) {
    return listener->name != kVirtualInbound && listener->name != kVirtualOutbound;
  });
}

void ListenerGenerator::AddOwn(mesh::View& view, Resources* out) {
  const Profiles profiles = ProfilesOf(view);
  if (const auto inputs = CollectHttpProxyPort(view, profiles.full)) out->push_back(Encoded(*inputs));
  if (profiles.full->traits().interception != model::InterceptionMode::kNone)
    out->push_back(VirtualOutbound(profiles));
  const ProfilePtr inbound = WithAccess(view, profiles.full);
  for (const InboundInputs& inputs : CollectInbound(view, inbound)) out->push_back(Encoded(inputs));
  absl::flat_hash_set<Interned> taken;
  if (MayMeetOutbound(*out)) {
    for (const ResourcePtr& listener : *Outbound(view)) taken.insert(listener->name);
  }
  std::erase_if(*out, [&](const ResourcePtr& listener) { return !taken.insert(listener->name).second; });
}

}  // namespace

std::unique_ptr<Generator> NewListenerGenerator() { return std::make_unique<ListenerGenerator>(); }

}  // namespace fairlead::gen
