#include "gateway_api/status/route_relations.h"

namespace fairlead::gateway_api {
namespace {

// How often each is said; what is said no more goes.
template <typename Counts, typename Key>
void Count(Counts* counts, const Key& of, const typename Counts::mapped_type::key_type& what, int by) {
  auto& times = (*counts)[of];
  if ((times[what] += by) == 0) times.erase(what);
  if (times.empty()) counts->erase(of);
}

}  // namespace

void RouteRelations::Change(const RouteConversion& route, int by) {
  for (const Attachment& one : route.attachments) {
    if (!one.accepted() || one.is_mesh()) continue;
    const std::tuple listener(one.parent_key.ns, one.parent_key.name, one.parent.section);
    Count(&attached_, listener, KeyOf(*route.object), by);
  }
  for (const auto& [gateway, backend] : route.named) Count(&named_, backend, {gateway.ns, gateway.name}, by);
}

std::map<std::string, size_t> RouteRelations::AttachedTo(const Interned& ns, const Interned& name) const {
  std::map<std::string, size_t> counts;
  for (auto at = attached_.lower_bound({ns, name, ""}); at != attached_.end(); ++at) {
    const auto& [owner_ns, owner_name, listener] = at->first;
    if (owner_ns != ns || owner_name != name) break;
    counts[listener] = at->second.size();
  }
  return counts;
}

std::set<RouteRelations::GatewayName> RouteRelations::GatewaysNamedWith(
    const config::ObjectKey& backend) const {
  std::set<GatewayName> gateways;
  const auto found = named_.find(backend);
  if (found == named_.end()) return gateways;
  for (const auto& [gateway, times] : found->second) gateways.insert(gateway);
  return gateways;
}

}  // namespace fairlead::gateway_api
