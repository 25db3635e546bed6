#ifndef FAIRLEAD_MESH_INDEX_DESTINATION_RULE_INDEX_H_
#define FAIRLEAD_MESH_INDEX_DESTINATION_RULE_INDEX_H_

#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "base/interned.h"
#include "base/sharded_map.h"
#include "base/sorted_map.h"
#include "config/diagnostic.h"
#include "config/store.h"
#include "mesh/index/host_map.h"
#include "mesh/index/routing_objects.h"
#include "mesh/index/snapshot.h"
#include "model/service.h"
#include "model/settings.h"

namespace fairlead::mesh {

// The DestinationRules of one namespace by host. Immutable.
struct NamespaceRules {
  using ByHost = HostMap<std::vector<DestinationRulePtr>>;
  ByHost local;         // what its own workloads follow
  ByHost exported;      // what may take effect elsewhere
  ByHost root_private;  // where it is the root namespace: what stays inside it
};
using NamespaceRulesPtr = std::shared_ptr<const NamespaceRules>;

// DestinationRules by namespace and host. Immutable; successors share the namespaces in which nothing
// changed.
class DestinationRuleIndex {
 public:
  using List = std::vector<DestinationRulePtr>;

  // The rules that a client of `client_ns` may follow for a service: those of the first of client, service
  // and root namespace that has any for its hostname (the most specific host counts); of another namespace
  // only exported ones.
  List Lookup(std::string_view client_ns, const model::Service& service) const;
  // All that Lookup reads: the rules of client, service and root namespace, null for those that have none.
  static List LookupIn(const NamespaceRules* client, const NamespaceRules* service,
                       const NamespaceRules* root, bool client_is_root, std::string_view client_ns,
                       std::string_view hostname);
  // Null where there are none.
  NamespaceRulesPtr Namespace(std::string_view ns) const;
  // What it has, for comparing.
  const ByNamespace<NamespaceRulesPtr>& namespaces() const { return namespaces_; }
  const Interned& root_namespace() const { return root_namespace_; }

 private:
  friend class DestinationRuleIndexBuilder;
  Interned root_namespace_;
  ByNamespace<NamespaceRulesPtr> namespaces_;
};

// Makes DestinationRuleIndexes. Keeps what it merged, so that a rule whose objects did not change keeps its
// pointer, and a namespace none of whose objects did is not looked at. A value: copies share what they keep.
class DestinationRuleIndexBuilder {
 public:
  // `before`: the store of the last call; an empty one at first. What the two have in common is not looked
  // at.
  std::shared_ptr<const DestinationRuleIndex> Build(const config::ObjectStore& store,
                                                    const config::ObjectStore& before,
                                                    const model::Settings& settings,
                                                    std::vector<config::Diagnostic>* diagnostics);

 private:
  struct MergedRule {
    DestinationRulePtr rule;
    std::vector<config::Diagnostic> problems;
  };
  struct Namespace {
    absl::flat_hash_map<std::vector<const config::ConfigObject*>, MergedRule> merged;
    NamespaceRulesPtr rules;
  };
  using NamespacePtr = std::shared_ptr<const Namespace>;
  // Objects that become one rule.
  struct Group {
    std::vector<config::ConfigPtr> objects;
    std::set<std::string, std::less<>> export_to;  // as the first of them says
  };
  using Groups = HostMap<std::vector<Group>>;

  // True where what was made of objects does not hold any more.
  bool ApplySettings(const model::Settings& settings);
  void UpdateNamespace(const Interned& ns, const config::ObjectStore& store, DestinationRuleIndex* index);
  NamespacePtr MakeNamespace(const Interned& ns, std::vector<config::ConfigPtr> objects,
                             const Namespace* before) const;
  void AddTo(Groups* groups, std::string_view host, const config::ConfigPtr& object,
             const std::set<std::string, std::less<>>& export_to) const;
  // Rules that `before` (may be null) has are taken from there; all go into `of`.
  NamespaceRules::ByHost MakeAll(const Groups& groups, const Namespace* before, Namespace* of) const;
  const DestinationRulePtr& Find(const Group& group, const Namespace* before, Namespace* of) const;
  MergedRule Make(const Group& group) const;

  std::string domain_;
  Interned root_namespace_;
  bool private_by_default_ = false;
  bool by_exports_ = true;  // rules of other exportTo are not merged
  ShardedMap<Interned, NamespacePtr> namespaces_;
  SortedMap<Interned, std::vector<config::Diagnostic>> problems_;  // of the namespaces that have some
  std::shared_ptr<const DestinationRuleIndex> last_;
};

}  // namespace fairlead::mesh

#endif  // FAIRLEAD_MESH_INDEX_DESTINATION_RULE_INDEX_H_
