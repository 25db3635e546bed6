#include <algorithm>
#include <iterator>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "base/strings.h"
#include "config/derived_object.h"
#include "gateway_api/conversion/derived_object.h"
#include "gateway_api/conversion/inference_pool.h"
#include "gateway_api/revision.h"
#include "gateway_api/translation.h"
#include "istio/networking/v1alpha3/gateway.pb.h"

namespace fairlead::gateway_api {
namespace {

using config::ConfigPtr;
using config::Kind;
using config::ObjectChange;
using config::ObjectKey;

std::vector<ConfigPtr> AllIn(const config::ObjectStore& objects, Kind kind, const Interned& ns) {
  const auto& all = objects.All(kind);
  std::vector<ConfigPtr> found;
  for (auto at = all.LowerBound({ns, Interned()}); at != all.end() && at->first.first == ns; ++at)
    found.push_back(at->second);
  return found;
}

// Whether some EndpointSlice of the namespace is written for the service.
bool HasSlices(const config::ObjectStore& objects, const Interned& ns, std::string_view service) {
  const std::vector<ConfigPtr> slices = AllIn(objects, Kind::kEndpointSlice, ns);
  return std::any_of(slices.begin(), slices.end(), [service](const ConfigPtr& slice) {
    return LabelOr(slice->meta().labels, "kubernetes.io/service-name") == service;
  });
}

// The parents of a route of which its status speaks, as Gateways: what kind they are does not count. Source:
// Istio's findGatewayParents.
std::set<ObjectKey> ReportedParents(const RouteConversion& route) {
  std::set<ObjectKey> parents;
  for (const Attachment& attachment : route.attachments)
    parents.insert({Kind::kKubernetesGateway, attachment.parent_key.ns, attachment.parent_key.name});
  return parents;
}

}  // namespace

std::vector<RouteConversionPtr> Translation::RoutesTo(const ObjectKey& pool) const {
  std::vector<RouteConversionPtr> routes;
  for (auto at = routes_to_.LowerBound({pool, ObjectKey{}});
       at != routes_to_.end() && at->first.first == pool; ++at) {
    if (const RouteConversionPtr* route = routes_.Find(at->first.second)) routes.push_back(*route);
  }
  return routes;
}

// A pool's Service follows the pool, its slice the pods and the slices that are written.
void Translation::NotePool(const ObjectChange& change, Work* work) {
  const ObjectKey& key = change.key;
  if (key.kind == Kind::kInferencePool) work->dirty_pools.insert(key);
  if (key.kind != Kind::kPod && key.kind != Kind::kEndpointSlice) return;
  for (auto at = gateways_of_pool_.LowerBound({{Kind::kInferencePool, key.ns, ""}, ObjectKey{}});
       at != gateways_of_pool_.end() && at->first.first.kind == Kind::kInferencePool &&
       at->first.first.ns == key.ns;
       ++at)
    work->dirty_pools.insert(at->first.first);
}

// `now` is null where the route goes.
void Translation::SetPools(const ObjectKey& route, const RouteConversionPtr& now, Work* work) {
  if (!features_->inference_pools) return;
  if (const RouteConversionPtr* before = routes_.Find(route)) {
    for (const ObjectKey& pool : (*before)->pools) {
      routes_to_.Erase({pool, route});
      work->dirty_pools.insert(pool);
    }
  }
  if (now == nullptr) return;
  for (const ObjectKey& pool : now->pools) {
    routes_to_.Set({pool, route}, {});
    work->dirty_pools.insert(pool);
  }
}

void Translation::DerivePools(Work* work) {
  for (const ObjectKey& key : work->dirty_pools) {
    ConfigPtr pool = work->objects.Find(key.kind, key.ns, key.name);
    if (pool != nullptr && (!InRevision(*pool, features_->revision) || !PickerOf(*pool, domain_)))
      pool = nullptr;
    Keys gateways;
    for (const RouteConversionPtr& route : RoutesTo(key)) gateways.merge(ReportedParents(*route));
    if (pool == nullptr) gateways.clear();
    SetGatewaysOf(key, gateways, work);
    const bool used = !gateways.empty();
    const std::string name = StrCat(key.ns.str(), "/", key.name.str());
    Emit(StrCat("pool ", name), used ? MakePoolService(*pool) : nullptr, work);
    const bool written = !used || HasSlices(work->objects, key.ns, PoolServiceName(key.name.str()));
    Emit(StrCat("pods ", name),
         written ? nullptr : MakePoolSlice(*pool, AllIn(work->objects, Kind::kPod, key.ns)), work);
  }
}

// The derived Gateways of those that the pool is new to, or no longer of, are made anew.
void Translation::SetGatewaysOf(const ObjectKey& pool, const Keys& gateways, Work* work) {
  Keys before, changed;
  for (auto at = gateways_of_pool_.LowerBound({pool, ObjectKey{}});
       at != gateways_of_pool_.end() && at->first.first == pool; ++at)
    before.insert(at->first.second);
  std::set_symmetric_difference(before.begin(), before.end(), gateways.begin(), gateways.end(),
                                std::inserter(changed, changed.end()));
  for (const ObjectKey& gateway : changed) {
    if (gateways.contains(gateway)) {
      gateways_of_pool_.Set({pool, gateway}, {});
      pools_of_gateway_.Set({gateway, pool}, {});
    } else {
      gateways_of_pool_.Erase({pool, gateway});
      pools_of_gateway_.Erase({gateway, pool});
    }
    const GatewayConversionPtr* conversion = gateways_.Find(gateway);
    if (conversion == nullptr) continue;
    for (const auto& [owner, object] : (*conversion)->derived) {
      if (owner == gateway) work->made.push_back({KeyOf(*object), Marked(owner, object)});
    }
  }
}

// The derived Gateway of an owner, which says whether there are pools behind it.
ConfigPtr Translation::Marked(const ObjectKey& owner, const ConfigPtr& object) const {
  const auto first = pools_of_gateway_.LowerBound({owner, ObjectKey{}});
  if (first == pools_of_gateway_.end() || !(first->first.first == owner)) return object;
  LabelMap annotations = object->meta().annotations;
  annotations.emplace(config::kInferencePoolsAnnotation, "true");
  const auto& spec = object->Spec<istio::networking::v1alpha3::Gateway>();
  return MakeDerivedObject(object->kind(), object->ns(), object->name(), *object, std::move(annotations),
                           std::shared_ptr<const void>(object, &spec), spec, object->meta().creation_time);
}

}  // namespace fairlead::gateway_api
