#ifndef FAIRLEAD_GEN_ENDPOINT_ASSIGNMENT_TABLE_H_
#define FAIRLEAD_GEN_ENDPOINT_ASSIGNMENT_TABLE_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "base/interned.h"
#include "base/strings.h"
#include "base/unique_id.h"
#include "cache/resource.h"
#include "gen/endpoint/inputs.h"
#include "mesh/proxy_scope.h"
#include "mesh/snapshot.h"

namespace fairlead::gen {

// The load assignments of clients of one kind, by cluster name, filled as they are asked for. Scopes share
// it: what a name stands for is compared at each look. When endpoints change, the assignments of the services
// concerned, and of those without any, are forgotten and the others stay. Thread-safe.
class AssignmentTable {
 public:
  using EndpointsPtr = std::shared_ptr<const mesh::EndpointIndex>;
  struct Answer {
    bool known = false;
    uint8_t client_reads = 0;  // of ClientReads: if any, clients differ, and `resource` is not kept
    cache::ResourcePtr resource;
    model::ServicePtr service;  // that the name stands for, or null
  };

  uint64_t id() const { return id_; }
  // The answers for all names at once, as the endpoints and the scope have them.
  std::vector<Answer> Find(const EndpointsPtr& endpoints, const mesh::SidecarScope& scope,
                           const std::vector<std::string>& names);
  // What was made of these inputs, which were collected from `endpoints`.
  void Add(const EndpointsPtr& endpoints, const EndpointInputs& inputs, const cache::ResourcePtr& resource);
  // What any of the answers so far read of its client.
  uint8_t client_reads() const;

 private:
  struct Entry {
    Interned name;
    Answer answer;
    mesh::DestinationRulePtr rule;  // that held for the service
  };
  struct Seen {  // of a service that answers were made from
    model::ServiceEndpointsPtr endpoints;
    absl::flat_hash_set<Interned> names;
  };
  using ServiceKey = std::pair<Interned, Interned>;  // hostname and namespace
  void MoveTo(const EndpointsPtr& endpoints);
  static Answer Check(const Entry& entry, const mesh::SidecarScope& scope);

  const uint64_t id_ = NextUniqueId();
  mutable std::mutex mutex_;
  EndpointsPtr endpoints_;  // that the answers hold for
  absl::flat_hash_map<std::string_view, Entry, StringViewHash, StringViewEqual>
      answers_;  // keys: the entries' names
  absl::flat_hash_map<ServiceKey, Seen> services_;
  uint8_t client_reads_ = 0;
};

}  // namespace fairlead::gen

#endif  // FAIRLEAD_GEN_ENDPOINT_ASSIGNMENT_TABLE_H_
