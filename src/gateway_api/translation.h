#ifndef FAIRLEAD_GATEWAY_API_TRANSLATION_H_
#define FAIRLEAD_GATEWAY_API_TRANSLATION_H_

#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/sharded_map.h"
#include "base/sorted_map.h"
#include "config/object.h"
#include "config/store.h"
#include "gateway_api/conversion/backend_policy.h"
#include "gateway_api/conversion/gateway.h"
#include "gateway_api/conversion/route.h"
#include "gateway_api/lookups.h"
#include "model/features.h"

namespace fairlead::gateway_api {

// Gateways, routes and policies of the Gateway API as Istio's Gateways, VirtualServices and DestinationRules.
// Each object is converted apart; its conversion is kept with the questions that it asked of other objects,
// so that a change converts anew what has asked for it, and nothing else. A value: a copy costs little,
// shares what it has in common with the original, and is changed apart from it. Nothing is converted where
// the Gateway API is turned off (Features::gateway_api). Not thread-safe.
class Translation : public DerivedLookups {
 public:
  // `domain`: of Kubernetes hosts.
  explicit Translation(std::string_view domain, const model::Features& features = {})
      : domain_(domain), features_(std::make_shared<const model::Features>(features)) {}

  // Brings it up to date; what of the derived objects is made, made anew or gone. `changes` are what changed
  // in `objects` since the last call.
  std::vector<config::ObjectChange> Apply(const config::ObjectStore& objects,
                                          std::span<const config::ObjectChange> changes);

  // By the object.
  template <typename Conversion>
  using Conversions = SortedMap<config::ObjectKey, std::shared_ptr<const Conversion>>;
  const Conversions<GatewayConversion>& gateways() const { return gateways_; }
  const Conversions<RouteConversion>& routes() const { return routes_; }
  const Conversions<PolicyConversion>& policies() const { return policies_; }
  const std::string& domain() const { return domain_; }
  const model::Features& features() const { return *features_; }
  // The routes that name a pool as a backend, by their keys.
  std::vector<RouteConversionPtr> RoutesTo(const config::ObjectKey& pool) const;

  ParentsPtr ParentsOf(const config::ObjectKey& key) const override;
  std::vector<config::ObjectKey> SetsOf(const config::ObjectKey& gateway) const override;
  std::vector<Interned> UsedNamespaces() const override;

 private:
  using Keys = std::set<config::ObjectKey>;
  template <typename A, typename B>
  using Relation = SortedMap<std::pair<A, B>, std::monostate>;
  // Of an Apply that runs.
  struct Work {
    const config::ObjectStore& objects;
    Keys dirty;                                       // gateways, routes and policies to convert
    std::set<std::string> dirty_routes, dirty_rules;  // keys of what is to be merged
    Keys dirty_pools;
    std::vector<config::ObjectChange> made;
  };

  void Note(const config::ObjectChange& change, Work* work);
  void NoteSet(const config::ObjectChange& change, Work* work);
  void NoteNamespace(const config::ObjectChange& change, Work* work);
  // What asked a question whose answer the change may alter is converted again.
  template <typename Change>
  void MarkReaders(const Change& change, Work* work) const;

  void ConvertGateways(Work* work);
  void SetParents(const Conversions<GatewayConversion>& before, const Keys& gateways, Work* work);
  void SetParentsOf(const config::ObjectKey& owner, const ParentsPtr& list, Work* work);
  void ConvertRoutes(Work* work);
  void ConvertPolicies(Work* work);
  void SetPools(const config::ObjectKey& route, const RouteConversionPtr& now, Work* work);
  void NotePool(const config::ObjectChange& change, Work* work);
  void DerivePools(Work* work);
  void SetGatewaysOf(const config::ObjectKey& pool, const Keys& gateways, Work* work);
  config::ConfigPtr Marked(const config::ObjectKey& owner, const config::ConfigPtr& object) const;
  void MergeRoutes(Work* work);
  void MergeRules(Work* work);
  void Emit(const std::string& key, config::ConfigPtr object, Work* work);

  std::string domain_;
  std::shared_ptr<const model::Features> features_;  // never null
  Conversions<GatewayConversion> gateways_;
  Conversions<RouteConversion> routes_;
  Conversions<PolicyConversion> policies_;
  ShardedMap<config::ObjectKey, ParentsPtr> parents_;  // of Gateways and ListenerSets
  // Derived Gateways with the Gateway or ListenerSet whose listener each is.
  SortedMap<std::pair<config::ObjectKey, config::ObjectKey>, config::ConfigPtr> listeners_;
  ShardedMap<config::ObjectKey, config::ObjectKey> gateway_of_set_;
  Relation<config::ObjectKey, config::ObjectKey> sets_;       // Gateway, ListenerSet
  Relation<Interned, config::ObjectKey> users_;               // namespace; route or ListenerSet there
  Readers readers_;                                           // who asked what in its conversion
  Relation<config::ObjectKey, config::ObjectKey> routes_to_;  // InferencePool, route
  // InferencePools and the Gateways (or what else a route's parent is) that they are reached by, both ways
  // round; of the parents' kinds nothing is known.
  Relation<config::ObjectKey, config::ObjectKey> gateways_of_pool_, pools_of_gateway_;
  // Pieces and rules by what they are merged by, and the route or policy with the place in its conversion.
  using Place = std::pair<config::ObjectKey, size_t>;
  SortedMap<std::pair<std::string, Place>, RoutePiecePtr> pieces_;
  SortedMap<std::pair<std::string, Place>, BackendRule> rules_;
  ShardedMap<std::string, config::ObjectKey> merged_;  // the derived object by what it is merged by
};

}  // namespace fairlead::gateway_api

#endif  // FAIRLEAD_GATEWAY_API_TRANSLATION_H_
