#ifndef FAIRLEAD_MESH_DESTINATION_RULE_INDEX_H_
#define FAIRLEAD_MESH_DESTINATION_RULE_INDEX_H_

#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "base/strings.h"
#include "config/diagnostic.h"
#include "config/store.h"
#include "mesh/host_map.h"
#include "mesh/routing_objects.h"
#include "model/service.h"
#include "model/settings.h"

namespace fairlead::mesh {

// DestinationRules by namespace and host. Immutable.
class DestinationRuleIndex {
 public:
  using List = std::vector<DestinationRulePtr>;

  // The rules that a client of `client_ns` may follow for a service: those of the first of client, service
  // and root namespace that has any for its hostname (the most specific host counts); of another namespace
  // only exported ones.
  List Lookup(std::string_view client_ns, const model::Service& service) const;

 private:
  friend class DestinationRuleIndexBuilder;
  using ByHost = HostMap<List>;

  static List Exported(const StringMap<ByHost>& rules, std::string_view owner, std::string_view hostname,
                       std::string_view client_ns);

  std::string root_namespace_;
  StringMap<ByHost> local_;     // by namespace: what its own workloads follow
  StringMap<ByHost> exported_;  // by namespace: what may take effect elsewhere
  ByHost root_private_;         // of the root namespace: what stays inside it
};

// Makes DestinationRuleIndexes. Keeps what it merged, so that a rule whose objects did not change keeps its
// pointer. Owned by the mesh thread.
class DestinationRuleIndexBuilder {
 public:
  std::shared_ptr<const DestinationRuleIndex> Build(const config::ObjectStore& store,
                                                    const model::Settings& settings,
                                                    std::vector<config::Diagnostic>* diagnostics);

 private:
  struct Made {
    DestinationRulePtr rule;
    std::vector<config::Diagnostic> problems;
    bool used = false;
  };
  // Objects that become one rule.
  struct Group {
    std::vector<config::ConfigPtr> objects;
    std::set<std::string, std::less<>> export_to;  // as the first of them says
  };
  using Groups = HostMap<std::vector<Group>>;

  static void AddTo(Groups* groups, std::string_view host, const config::ConfigPtr& object,
                    const std::set<std::string, std::less<>>& export_to);
  DestinationRuleIndex::ByHost MakeAll(const Groups& groups);
  const DestinationRulePtr& Make(const Group& group);

  std::string domain_;
  absl::flat_hash_map<std::vector<const config::ConfigObject*>, Made> made_;
};

}  // namespace fairlead::mesh

#endif  // FAIRLEAD_MESH_DESTINATION_RULE_INDEX_H_
