#include "gen/generator.h"

#include <google/protobuf/arena.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/strings.h"
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

// What `build` makes of an empty listener. It lies on an arena: it has hundreds of parts, and is dropped at
// once.
template <typename Build>
ResourcePtr Built(const Build& build, Audience audience = Audience::kMany) {
  google::protobuf::Arena arena;
  auto* listener = google::protobuf::Arena::CreateMessage<Listener>(&arena);
  build(listener);
  return Encode(listener->name(), *listener, audience);
}

// LDS for sidecars; other proxies have no listeners here. Outbound listeners are remembered by scope and
// profile, and every listener by its Inputs. Of the two parts one holds the outbound listeners for services,
// which most workloads of a namespace share, the other the rest. Names are unique: of two listeners with one
// name (a Sidecar's may meet a service's) the outbound one is kept, else the first. `names` picks from all; a
// name of nothing gets nothing.
class ListenerGenerator : public Generator {
 public:
  std::vector<ResourcePtr> Generate(const Request& request) override {
    std::vector<ResourcePtr> all = GeneratePart(request, kOutbound);
    std::vector<ResourcePtr> own = GeneratePart(request, kOwn);
    all.insert(all.end(), std::make_move_iterator(own.begin()), std::make_move_iterator(own.end()));
    return all;
  }

  size_t PartCount() const override { return 2; }
  PartStamp Stamp(const Request& request, size_t part) const override;
  std::optional<std::string> PartKey(const Request& request, size_t part) override;
  std::vector<ResourcePtr> GeneratePart(const Request& request, size_t part) override;

  void Sweep() override {
    memo_.Sweep();
    outbound_.Sweep();
    inbound_.Sweep();
    virtual_outbound_.Sweep();
    profiles_.Sweep();
  }

 private:
  enum Part : size_t { kOutbound, kOwn };

  static bool HasListeners(const Request& request) {
    return request.scope.proxy->type == model::ProxyType::kSidecar &&
           request.snapshot.settings->mesh->proxy_listen_port() > 0;
  }
  OutboundMemo::Key KeyOf(const Request& request);
  OutboundSetPtr Outbound(const Request& request, const OutboundMemo::Key& key);
  OutboundSetPtr CollectSet(const Request& request, const OutboundMemo::Key& key, std::string_view skip,
                            OutboundReads* reads);
  void AddOwn(const Request& request, std::vector<ResourcePtr>* out);

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
    const Interned endpoint(listener.endpoint);
    if (!endpoint.empty()) set->endpoints.insert(endpoint);
    if (listener.mixed && !endpoint.empty()) set->mixed_endpoints.push_back(endpoint);
    set->listeners.push_back({Encoded(listener.inputs), endpoint});
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

OutboundMemo::Key ListenerGenerator::KeyOf(const Request& request) {
  const mesh::ProxyScope& scope = request.scope;
  const model::Settings& settings = *request.snapshot.settings;
  ProxyTraits traits = CollectTraits(request);
  Profiles profiles;
  profiles.l4 = profiles_.Intern(L4Traits(traits));
  profiles.full = profiles_.Intern(std::move(traits));
  return {scope.sidecar->imports_id,
          scope.sidecar->imports_id == 0 ? scope.sidecar : nullptr,
          std::move(profiles),
          model::AddressViewOf(*scope.proxy, settings.cluster_id),
          ReservedPorts(*scope.proxy, settings),
          scope.proxy->metadata.ns,
          scope.proxy->domain};
}

// Services matter through what the proxy sees, and to a telemetry provider that names one.
PartStamp ListenerGenerator::Stamp(const Request& request, size_t part) const {
  const mesh::ProxyScope& scope = request.scope;
  const mesh::InputRevisions& revisions = request.snapshot.revisions;
  const auto& mesh_config = *request.snapshot.settings->mesh;
  PartStamp stamp{scope.own_id, scope.sidecar->imports_id, std::max(revisions.settings, revisions.objects)};
  if (mesh_config.extension_providers_size() > 0)
    stamp.revision = std::max(stamp.revision, revisions.services);
  const uint64_t passthrough = request.snapshot.RevisionsFor(*scope.sidecar).passthrough_endpoints;
  if (part == kOutbound) {
    stamp.revision = std::max(stamp.revision, passthrough);
    return stamp;
  }
  // What is neither of the virtual listeners may have the name of an outbound one.
  const bool may_meet = mesh_config.proxy_http_port() != 0 ||
                        !scope.proxy->metadata.http_proxy_port.empty() ||
                        scope.sidecar->HasIngressListeners() ||
                        scope.proxy->metadata.interception_mode == model::InterceptionMode::kNone;
  if (may_meet) {
    stamp.revision = std::max(stamp.revision, passthrough);
  } else {
    stamp.sidecar = 0;
  }
  return stamp;
}

std::optional<std::string> ListenerGenerator::PartKey(const Request& request, size_t part) {
  if (part == kOwn || !HasListeners(request)) return std::nullopt;
  const OutboundSetPtr set = Outbound(request, KeyOf(request));
  const Interned own_address(request.scope.proxy->ip_addresses.front());
  return set->endpoints.contains(own_address) ? StrCat(set->id, "|", own_address.str()) : StrCat(set->id);
}

std::vector<ResourcePtr> ListenerGenerator::GeneratePart(const Request& request, size_t part) {
  std::vector<ResourcePtr> resources;
  if (!HasListeners(request)) return resources;
  if (part == kOwn) {
    AddOwn(request, &resources);
  } else {
    const OutboundSetPtr set = Outbound(request, KeyOf(request));
    const Interned own_address(request.scope.proxy->ip_addresses.front());
    resources.reserve(set->listeners.size());
    for (const OutboundSet::Entry& entry : set->listeners) {
      if (entry.endpoint.empty() || entry.endpoint != own_address) resources.push_back(entry.resource);
    }
  }
  if (request.names != nullptr) {
    std::erase_if(resources, [&](const ResourcePtr& resource) {
      return !std::binary_search(request.names->begin(), request.names->end(), resource->name.str());
    });
  }
  return resources;
}

void ListenerGenerator::AddOwn(const Request& request, std::vector<ResourcePtr>* out) {
  const OutboundMemo::Key key = KeyOf(request);
  const ProfilePtr& profile = key.profiles.full;
  const Interned own_address(request.scope.proxy->ip_addresses.front());
  const OutboundSetPtr outbound = Outbound(request, key);
  const auto add = [&](ResourcePtr resource) {
    const auto same_name = [&](const ResourcePtr& other) { return other->name == resource->name; };
    if (outbound->HasListener(resource->name, own_address)) return;
    if (std::none_of(out->begin(), out->end(), same_name)) out->push_back(std::move(resource));
  };
  if (const auto inputs = CollectHttpProxyPort(request.scope, profile)) add(Encoded(*inputs));
  if (profile->traits().interception != model::InterceptionMode::kNone) add(VirtualOutbound(key.profiles));
  for (const InboundInputs& inputs : CollectInbound(request, profile, key.reserved)) add(Encoded(inputs));
}

}  // namespace

std::unique_ptr<Generator> NewListenerGenerator() { return std::make_unique<ListenerGenerator>(); }

}  // namespace fairlead::gen
