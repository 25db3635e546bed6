#include "gateway_api/translation.h"

#include <algorithm>
#include <map>

#include "base/strings.h"
#include "gateway_api/revision.h"

namespace fairlead::gateway_api {
namespace {

using config::ConfigPtr;
using config::Kind;
using config::ObjectChange;
using config::ObjectKey;

bool IsConverted(Kind kind) {
  return kind == Kind::kKubernetesGateway || kind == Kind::kBackendTlsPolicy || IsRoute(kind);
}

// The objects of one kind's keys among those to convert.
template <typename Wanted>
std::set<ObjectKey> Take(const std::set<ObjectKey>& keys, Wanted wanted) {
  std::set<ObjectKey> taken;
  for (const ObjectKey& key : keys) {
    if (wanted(key.kind)) taken.insert(key);
  }
  return taken;
}

std::string MergeKey(const BackendRule& rule) {
  return StrCat(config::InfoOf(rule.target.kind).name, "/", rule.target.ns.str(), "/", rule.target.name.str(),
                "/", rule.host);
}

// Null where there is none, it is another revision's, or its kind is turned off.
ConfigPtr FindConverted(const config::ObjectStore& objects, const ObjectKey& key,
                        const model::Features& features) {
  if (key.kind == Kind::kUdpRoute && !features.udp_routes) return nullptr;
  ConfigPtr object = objects.Find(key.kind, key.ns, key.name);
  if (object == nullptr) return nullptr;
  return key.kind == Kind::kKubernetesGateway || InRevision(*object, features.revision) ? object : nullptr;
}

}  // namespace

std::vector<ObjectChange> Translation::Apply(const config::ObjectStore& objects,
                                             std::span<const ObjectChange> changes) {
  if (!features_->gateway_api) return {};
  Work work{
      .objects = objects, .dirty = {}, .dirty_routes = {}, .dirty_rules = {}, .dirty_pools = {}, .made = {}};
  for (const ObjectChange& change : changes) {
    Note(change, &work);
    if (features_->inference_pools) NotePool(change, &work);
  }
  ConvertGateways(&work);
  ConvertRoutes(&work);
  DerivePools(&work);
  ConvertPolicies(&work);
  MergeRoutes(&work);
  MergeRules(&work);
  // What one object no longer derives another may from now on.
  std::stable_partition(work.made.begin(), work.made.end(),
                        [](const ObjectChange& change) { return change.object == nullptr; });
  return std::move(work.made);
}

template <typename Change>
void Translation::MarkReaders(const Change& change, Work* work) const {
  const auto mark = [&](const Question& question) {
    readers_.ForEachReader(question, [work](const ObjectKey& reader) { work->dirty.insert(reader); });
  };
  ForEachDifference(conversion_questions::OfConversions(), mark, change);
}

void Translation::Note(const ObjectChange& change, Work* work) {
  const ObjectKey& key = change.key;
  if (IsConverted(key.kind)) work->dirty.insert(key);
  if (key.kind == Kind::kListenerSet) NoteSet(change, work);
  if (key.kind == Kind::kListenerSet || IsRoute(key.kind)) NoteNamespace(change, work);
  MarkReaders(change, work);
}

// The Gateways that the set named and names are to be looked at again.
void Translation::NoteSet(const ObjectChange& change, Work* work) {
  if (const ObjectKey* before = gateway_of_set_.Find(change.key)) {
    MarkReaders(ListenerSetsChange{*before}, work);
    sets_.Erase({*before, change.key});
  }
  gateway_of_set_.Erase(change.key);
  if (change.object == nullptr) return;
  const ObjectKey gateway = GatewayOfSet(*change.object);
  MarkReaders(ListenerSetsChange{gateway}, work);
  sets_.Set({gateway, change.key}, {});
  gateway_of_set_[change.key] = gateway;
}

void Translation::NoteNamespace(const ObjectChange& change, Work* work) {
  const auto used = [&] {
    const auto at = users_.LowerBound({change.key.ns, ObjectKey{}});
    return at != users_.end() && at->first.first == change.key.ns;
  };
  const bool before = used();
  if (change.object == nullptr) {
    users_.Erase({change.key.ns, change.key});
  } else {
    users_.Set({change.key.ns, change.key}, {});
  }
  if (used() != before) MarkReaders(UsedNamespacesChange{}, work);
}

void Translation::ConvertGateways(Work* work) {
  const Keys keys = Take(work->dirty, [](Kind kind) { return kind == Kind::kKubernetesGateway; });
  const Conversions<GatewayConversion> before = gateways_;
  for (const ObjectKey& key : keys) {
    const ConfigPtr object = FindConverted(work->objects, key, *features_);
    if (object == nullptr) {
      gateways_.Erase(key);
      readers_.Set(key, {});
      continue;
    }
    Lookups lookups(work->objects, *this, domain_, *features_);
    gateways_.Set(key, std::make_shared<const GatewayConversion>(ConvertGateway(object, lookups)));
    readers_.Set(key, lookups.TakeQuestions());
  }
  if (!keys.empty()) SetParents(before, keys, work);
}

// Parents and derived Gateways of these Gateways, in place of those before: a ListenerSet may have gone from
// one to another.
void Translation::SetParents(const Conversions<GatewayConversion>& before, const Keys& gateways, Work* work) {
  std::map<ObjectKey, ParentsPtr> parents;
  Keys derived;
  for (const ObjectKey& key : gateways) {
    const GatewayConversionPtr* old = before.Find(key);
    if (old == nullptr) continue;
    for (const auto& [owner, list] : (*old)->parents) parents[owner] = nullptr;
    for (const auto& [owner, object] : (*old)->derived) {
      listeners_.Erase({KeyOf(*object), owner});
      derived.insert(KeyOf(*object));
    }
  }
  for (const ObjectKey& key : gateways) {
    const GatewayConversionPtr* now = gateways_.Find(key);
    if (now == nullptr) continue;
    for (const auto& [owner, list] : (*now)->parents) parents[owner] = list;
    for (const auto& [owner, object] : (*now)->derived) {
      listeners_.Set({KeyOf(*object), owner}, object);
      derived.insert(KeyOf(*object));
    }
  }
  for (const auto& [owner, list] : parents) SetParentsOf(owner, list, work);
  // A Gateway and a ListenerSet may have the same name, and listeners of one name: the Gateway's counts.
  for (const ObjectKey& key : derived) {
    const auto first = listeners_.LowerBound({key, ObjectKey{}});
    const bool none = first == listeners_.end() || !(first->first.first == key);
    work->made.push_back({key, none ? nullptr : Marked(first->first.second, first->second)});
  }
}

void Translation::SetParentsOf(const ObjectKey& owner, const ParentsPtr& list, Work* work) {
  const ParentsPtr* old = parents_.Find(owner);
  if (old != nullptr && list != nullptr && **old == *list) return;
  if (list == nullptr) {
    parents_.Erase(owner);
  } else {
    parents_[owner] = list;
  }
  MarkReaders(ParentsChange{owner}, work);
}

void Translation::ConvertRoutes(Work* work) {
  for (const ObjectKey& key : Take(work->dirty, IsRoute)) {
    if (const RouteConversionPtr* before = routes_.Find(key)) {
      for (size_t i = 0; i < (*before)->pieces.size(); ++i) {
        const std::string& merged = (*before)->pieces[i]->key;
        pieces_.Erase({merged, {key, i}});
        work->dirty_routes.insert(merged);
      }
    }
    const ConfigPtr object = FindConverted(work->objects, key, *features_);
    if (object == nullptr) {
      SetPools(key, nullptr, work);
      routes_.Erase(key);
      readers_.Set(key, {});
      continue;
    }
    Lookups lookups(work->objects, *this, domain_, *features_);
    auto conversion = std::make_shared<const RouteConversion>(ConvertRoute(object, lookups));
    readers_.Set(key, lookups.TakeQuestions());
    for (size_t i = 0; i < conversion->pieces.size(); ++i) {
      pieces_.Set({conversion->pieces[i]->key, {key, i}}, conversion->pieces[i]);
      work->dirty_routes.insert(conversion->pieces[i]->key);
    }
    SetPools(key, conversion, work);
    routes_.Set(key, std::move(conversion));
  }
}

void Translation::ConvertPolicies(Work* work) {
  for (const ObjectKey& key : Take(work->dirty, [](Kind kind) { return kind == Kind::kBackendTlsPolicy; })) {
    if (const PolicyConversionPtr* before = policies_.Find(key)) {
      for (size_t i = 0; i < (*before)->rules.size(); ++i) {
        const std::string merged = MergeKey((*before)->rules[i]);
        rules_.Erase({merged, {key, i}});
        work->dirty_rules.insert(merged);
      }
    }
    const ConfigPtr object = FindConverted(work->objects, key, *features_);
    if (object == nullptr) {
      policies_.Erase(key);
      readers_.Set(key, {});
      continue;
    }
    Lookups lookups(work->objects, *this, domain_, *features_);
    auto conversion = std::make_shared<const PolicyConversion>(ConvertBackendTlsPolicy(object, lookups));
    readers_.Set(key, lookups.TakeQuestions());
    for (size_t i = 0; i < conversion->rules.size(); ++i) {
      const std::string merged = MergeKey(conversion->rules[i]);
      rules_.Set({merged, {key, i}}, conversion->rules[i]);
      work->dirty_rules.insert(merged);
    }
    policies_.Set(key, std::move(conversion));
  }
}

void Translation::MergeRoutes(Work* work) {
  for (const std::string& key : work->dirty_routes) {
    std::vector<RoutePiecePtr> pieces;
    for (auto at = pieces_.LowerBound({key, Place{}}); at != pieces_.end() && at->first.first == key; ++at)
      pieces.push_back(at->second);
    Emit(StrCat("route ", key), pieces.empty() ? nullptr : MergePieces(std::move(pieces)), work);
  }
}

void Translation::MergeRules(Work* work) {
  for (const std::string& key : work->dirty_rules) {
    std::vector<BackendRule> rules;
    for (auto at = rules_.LowerBound({key, Place{}}); at != rules_.end() && at->first.first == key; ++at)
      rules.push_back(at->second);
    // What it looks up is what the policies that it is made of have looked up.
    Lookups lookups(work->objects, *this, domain_, *features_);
    Emit(StrCat("rule ", key), rules.empty() ? nullptr : MergeBackendRules(std::move(rules), lookups), work);
  }
}

// The object that is now derived for a key; the one before may have another namespace.
void Translation::Emit(const std::string& key, ConfigPtr object, Work* work) {
  const ObjectKey* before = merged_.Find(key);
  if (before != nullptr && (object == nullptr || KeyOf(*object) != *before))
    work->made.push_back({*before, nullptr});
  if (object == nullptr) {
    merged_.Erase(key);
    return;
  }
  merged_[key] = KeyOf(*object);
  const ObjectKey now = KeyOf(*object);
  work->made.push_back({now, std::move(object)});
}

ParentsPtr Translation::ParentsOf(const ObjectKey& key) const {
  const ParentsPtr* found = parents_.Find(key);
  return found == nullptr ? nullptr : *found;
}

std::vector<ObjectKey> Translation::SetsOf(const ObjectKey& gateway) const {
  std::vector<ObjectKey> keys;
  for (auto at = sets_.LowerBound({gateway, ObjectKey{}}); at != sets_.end() && at->first.first == gateway;
       ++at)
    keys.push_back(at->first.second);
  return keys;
}

std::vector<Interned> Translation::UsedNamespaces() const {
  std::vector<Interned> names;
  for (auto at = users_.begin(); at != users_.end(); ++at) {
    if (names.empty() || !(names.back() == at->first.first)) names.push_back(at->first.first);
  }
  return names;
}

}  // namespace fairlead::gateway_api
