#include "tests/corpus/fold.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/strings.h"

namespace fairlead::corpus {
namespace {

using xds::Framing;
using xds::TypeId;
using Names = std::set<std::string>;

constexpr uint32_t kAllTypes = (1u << xds::kTypeCount) - 1;

Names Minus(const Names& a, const Names& b) {
  Names rest;
  std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::inserter(rest, rest.end()));
  return rest;
}

}  // namespace

FoldingClient::FoldingClient(Framing framing, Manner manner, model::ProxyPtr proxy)
    : framing_(framing), manner_(manner), proxy_(std::move(proxy)), core_(framing, kAllTypes, "n") {}

// State of the world: all names; delta: what is new and what is dropped.
void FoldingClient::Ask(TypeId type, const Names& add, const Names& drop) {
  Kind& kind = Of(type);
  kind.open = true;
  kind.names.insert(add.begin(), add.end());
  for (const std::string& name : drop) {
    kind.names.erase(name);
    kind.held.erase(name);
  }
  xds::DecodedRequest request;
  request.type_url = xds::InfoOf(type).url;
  const bool delta = framing_ == Framing::kDelta;
  if (!delta) request.nonce = kind.nonce;
  for (const std::string& name : delta ? add : kind.names) request.subscribe.push_back(name);
  if (delta) request.unsubscribe.assign(drop.begin(), drop.end());
  core_.OnRequest(request);
}

void FoldingClient::Open(TypeId type) {
  if (!Of(type).open) Ask(type, {}, {});
}

void FoldingClient::Follow(const mesh::MeshSnapshot& snapshot, const push::Generators& generators,
                           push::PartCache* parts) {
  scope_ = mesh::ComputeProxyScope(snapshot, proxy_, scope_);
  core_.OnChange();
  for (TypeId type : {TypeId::kCluster, TypeId::kListener, TypeId::kNameTable}) Open(type);
  Exchange(snapshot, generators, parts);
  core_.OnQuiet();
  Exchange(snapshot, generators, parts);
}

void FoldingClient::Exchange(const mesh::MeshSnapshot& snapshot, const push::Generators& generators,
                             push::PartCache* parts) {
  std::set<TypeId> unanswered;
  for (;;) {
    const auto wanted = core_.Next();
    if (!wanted && unanswered.empty()) return;
    if (wanted) {
      const xds::ResourceSetPtr now =
          parts->Make(*generators[static_cast<size_t>(wanted->type)], {snapshot, scope_.get()}, wanted->names,
                      &made_[static_cast<size_t>(wanted->type)]);
      if (const auto response = core_.Offer(wanted->type, now)) {
        Take(*response);
        unanswered.insert(wanted->type);
      }
      if (manner_ == Manner::kNeverLetsGo) continue;
    }
    for (TypeId type : std::exchange(unanswered, {})) Answer(type);
    AskForWhatIsReferredTo();
  }
}

void FoldingClient::Take(const xds::Response& response) {
  Kind& kind = Of(response.type);
  if (framing_ == Framing::kStateOfTheWorld && xds::InfoOf(response.type).root) kind.held.clear();
  const auto hold = [&](const xds::ResourcePtr& resource) { kind.held[resource->name.str()] = resource; };
  for (const auto& list : response.lists) {
    std::for_each(list->resources().begin(), list->resources().end(), hold);
  }
  std::for_each(response.resources.begin(), response.resources.end(), hold);
  for (const Interned& name : response.removed) kind.held.erase(name.str());
  kind.nonce = response.nonce;
}

void FoldingClient::Answer(TypeId type) {
  Kind& kind = Of(type);
  xds::DecodedRequest ack;
  ack.type_url = xds::InfoOf(type).url;
  ack.nonce = kind.nonce;
  if (framing_ == Framing::kStateOfTheWorld) {
    for (const std::string& name : kind.names) ack.subscribe.push_back(name);
  }
  core_.OnRequest(ack);
}

void FoldingClient::AskForWhatIsReferredTo() {
  std::map<TypeId, Names> referred = {
      {TypeId::kEndpoint, {}}, {TypeId::kRoute, {}}, {TypeId::kExtension, {}}};
  for (TypeId root : {TypeId::kCluster, TypeId::kListener}) {
    for (const auto& [name, resource] : Of(root).held) {
      for (const cache::Reference& reference : resource->references) {
        if (auto it = referred.find(reference.type); it != referred.end())
          it->second.insert(reference.name.str());
      }
    }
  }
  for (const auto& [type, names] : referred) {
    const Names add = Minus(names, Of(type).names);
    const Names drop = manner_ == Manner::kAsEnvoy ? Minus(Of(type).names, names) : Names();
    if (!add.empty() || !drop.empty()) Ask(type, add, drop);
  }
}

std::string FoldingClient::Stale(const mesh::MeshSnapshot& snapshot,
                                 const push::Generators& generators) const {
  const mesh::ProxyScopePtr scope = mesh::ComputeProxyScope(snapshot, proxy_);
  for (const xds::TypeInfo& type : xds::kTypes) {
    const Kind& kind = kinds_[static_cast<size_t>(type.id)];
    if (!kind.open) continue;
    const std::vector<std::string> names(kind.names.begin(), kind.names.end());
    std::set<std::string> made;
    for (const auto& resource : gen::GenerateFor(*generators[static_cast<size_t>(type.id)], snapshot, *scope,
                                                 type.root ? nullptr : &names)) {
      const std::string& name = resource->name.str();
      made.insert(name);
      auto it = kind.held.find(name);
      if (it == kind.held.end()) return StrCat(type.name, " ", name, " is missing");
      if (it->second->any != resource->any) return StrCat(type.name, " ", name, " is an old one");
    }
    // State of the world cannot say that a named resource is gone; who lets go of names need not be told.
    const bool told = framing_ == Framing::kDelta ? !type.never_removed : type.root;
    if (!told && manner_ == Manner::kNeverLetsGo) continue;
    for (const auto& [name, resource] : kind.held) {
      if (!made.contains(name)) return StrCat(type.name, " ", name, " is no more");
    }
  }
  return "";
}

FoldingClients::FoldingClients(const Case& one) {
  for (const NamedProxy& proxy : one.proxies) {
    for (Framing framing : {Framing::kStateOfTheWorld, Framing::kDelta}) {
      for (Manner manner : {Manner::kAsEnvoy, Manner::kNeverLetsGo}) {
        clients_.push_back(
            {StrCat(proxy.name, framing == Framing::kDelta ? " (delta" : " (state of the world",
                    manner == Manner::kAsEnvoy ? ")" : ", never lets go)"),
             FoldingClient(framing, manner, proxy.proxy)});
      }
    }
  }
}

std::string FoldingClients::Follow(const mesh::SnapshotPtr& snapshot) {
  std::string first;
  for (Named& one : clients_) {
    one.client.Follow(*snapshot, generators_, &parts_);
    const std::string stale = one.client.Stale(*snapshot, generators_);
    if (first.empty() && !stale.empty()) first = StrCat(one.name, " ", stale);
  }
  return first;
}

}  // namespace fairlead::corpus
