#include "gen/listener/port_conflicts.h"

#include <algorithm>
#include <utility>

namespace fairlead::gen::listener {
namespace {

bool MustNotShare(model::Protocol protocol) {
  return protocol == model::Protocol::kMongo || protocol == model::Protocol::kMySql;
}

}  // namespace

ListenerKind KindOf(model::Protocol protocol) {
  if (model::IsHttp(protocol)) return ListenerKind::kHttp;
  if (model::IsTcp(protocol)) return ListenerKind::kTcp;
  return protocol == model::Protocol::kUdp ? ListenerKind::kNone : ListenerKind::kAuto;
}

Meeting Meet(model::Protocol existing, model::Protocol incoming) {
  const ListenerKind there = KindOf(existing);
  const ListenerKind here = KindOf(incoming);
  if (here == ListenerKind::kHttp && there != ListenerKind::kTcp) return Meeting::kKeep;
  if ((MustNotShare(existing) || MustNotShare(incoming)) && existing != incoming) return Meeting::kKeep;
  if (here != ListenerKind::kAuto) return Meeting::kMerge;
  switch (there) {
    case ListenerKind::kHttp:
      return Meeting::kReplace;
    case ListenerKind::kTcp:
      return Meeting::kMerge;
    default:
      return Meeting::kMergeTcp;
  }
}

void MergeChains(std::vector<OutboundChain> incoming, std::vector<OutboundChain>* chains) {
  for (OutboundChain& chain : incoming) {
    const bool conflict =
        std::any_of(chains->begin(), chains->end(),
                    [&chain](const OutboundChain& existing) { return ChainsConflict(existing, chain); });
    if (!conflict) chains->push_back(std::move(chain));
  }
}

}  // namespace fairlead::gen::listener
