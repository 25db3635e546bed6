#include "gen/generator.h"

#include <algorithm>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "cache/byte_cache.h"
#include "envoy/config/listener/v3/listener.pb.h"
#include "gen/listener/inbound.h"
#include "gen/listener/outbound.h"
#include "gen/listener/outbound_collect.h"
#include "gen/listener/outbound_memo.h"
#include "istio/mesh/v1alpha1/config.pb.h"

namespace fairlead::gen {
namespace {

using cache::ResourcePtr;
using envoy::config::listener::v3::Listener;
using namespace listener;  // NOLINT: this file is that folder's face

// LDS for sidecars; other proxies have no listeners here. Outbound listeners are remembered by scope and
// profile, and every listener by its Inputs. Names are unique: of two listeners with one name (a Sidecar's
// may meet a service's) the first is kept. `names` picks from all; a name of nothing gets nothing.
class ListenerGenerator : public Generator {
 public:
  std::vector<ResourcePtr> Generate(const Request& request) override;

  void Sweep() override {
    memo_.Sweep();
    outbound_.Sweep();
    inbound_.Sweep();
    virtual_outbound_.Sweep();
    profiles_.Sweep();
  }

 private:
  OutboundSetPtr Outbound(const Request& request, const OutboundMemo::Key& key);
  OutboundSetPtr CollectSet(const Request& request, const OutboundMemo::Key& key, std::string_view skip,
                            OutboundReads* reads);

  ResourcePtr Encoded(const OutboundInputs& inputs) {
    return outbound_.GetOrBuild(inputs, [](const OutboundInputs& wanted) {
      Listener listener;
      BuildOutboundListener(wanted, &listener);
      return Encode(listener.name(), listener);
    });
  }
  ResourcePtr Encoded(const InboundInputs& inputs) {
    return inbound_.GetOrBuild(inputs, [](const InboundInputs& wanted) {
      Listener listener;
      BuildInboundListener(wanted, &listener);
      return Encode(listener.name(), listener);
    });
  }
  ResourcePtr VirtualOutbound(const Profiles& profiles) {
    const bool http = profiles.full->traits().catch_all.mode == route::CatchAllMode::kDynamicDns;
    return virtual_outbound_.GetOrBuild(http ? profiles.full : profiles.l4, [](const ProfilePtr& wanted) {
      Listener listener;
      BuildVirtualOutboundListener(*wanted, &listener);
      return Encode(listener.name(), listener);
    });
  }

  ProfilePool profiles_;
  OutboundMemo memo_;
  cache::ByteCache<OutboundInputs> outbound_;
  cache::ByteCache<InboundInputs> inbound_;
  cache::ByteCache<ProfilePtr> virtual_outbound_;
};

OutboundSetPtr ListenerGenerator::CollectSet(const Request& request, const OutboundMemo::Key& key,
                                             std::string_view skip, OutboundReads* reads) {
  auto set = std::make_shared<OutboundSet>();
  for (OutboundListener& listener :
       CollectOutbound(request, key.profiles, key.view, key.reserved, skip, reads)) {
    if (listener.mixed && !listener.endpoint.empty())
      set->mixed_endpoints.push_back(Interned(listener.endpoint));
    set->listeners.push_back({Encoded(listener.inputs), Interned(listener.endpoint)});
  }
  return set;
}

OutboundSetPtr ListenerGenerator::Outbound(const Request& request, const OutboundMemo::Key& key) {
  OutboundSetPtr set = memo_.Find(key, request);
  if (set == nullptr) {
    OutboundReads reads;
    set = CollectSet(request, key, "", &reads);
    memo_.Keep(key, request, std::move(reads), set);
  }
  const Interned own_address(request.scope.proxy->ip_addresses.front());
  if (std::find(set->mixed_endpoints.begin(), set->mixed_endpoints.end(), own_address) ==
      set->mixed_endpoints.end()) {
    return set;
  }
  OutboundReads reads;
  return CollectSet(request, key, own_address, &reads);
}

// Appends what has a name of its own.
void Append(ResourcePtr resource, std::vector<ResourcePtr>* out) {
  const bool taken = std::any_of(out->begin(), out->end(),
                                 [&](const ResourcePtr& other) { return other->name == resource->name; });
  if (!taken) out->push_back(std::move(resource));
}

std::vector<ResourcePtr> ListenerGenerator::Generate(const Request& request) {
  std::vector<ResourcePtr> resources;
  const mesh::ProxyScope& scope = request.scope;
  const model::Proxy& proxy = *scope.proxy;
  const model::Settings& settings = *request.snapshot.settings;
  if (proxy.type != model::ProxyType::kSidecar || settings.mesh->proxy_listen_port() <= 0) return resources;
  ProxyTraits traits = CollectTraits(request);
  Profiles profiles;
  profiles.l4 = profiles_.Intern(L4Traits(traits));
  profiles.full = profiles_.Intern(std::move(traits));
  const OutboundMemo::Key key{scope.sidecar,
                              profiles,
                              model::AddressViewOf(proxy, settings.cluster_id),
                              ReservedPorts(proxy, settings),
                              proxy.metadata.ns,
                              proxy.domain};
  const OutboundSetPtr set = Outbound(request, key);
  resources.reserve(set->listeners.size() + 3);
  const Interned own_address(proxy.ip_addresses.front());
  for (const OutboundSet::Entry& entry : set->listeners) {
    if (entry.endpoint.empty() || entry.endpoint != own_address) resources.push_back(entry.resource);
  }
  if (const auto inputs = CollectHttpProxyPort(scope, profiles.full)) Append(Encoded(*inputs), &resources);
  if (profiles.full->traits().interception != model::InterceptionMode::kNone) {
    Append(VirtualOutbound(profiles), &resources);
  }
  for (const InboundInputs& inputs : CollectInbound(request, profiles.full, key.reserved)) {
    Append(Encoded(inputs), &resources);
  }
  if (request.names != nullptr) {
    std::erase_if(resources, [&](const ResourcePtr& resource) {
      return std::find(request.names->begin(), request.names->end(), resource->name.str()) ==
             request.names->end();
    });
  }
  return resources;
}

}  // namespace

std::unique_ptr<Generator> NewListenerGenerator() { return std::make_unique<ListenerGenerator>(); }

}  // namespace fairlead::gen
