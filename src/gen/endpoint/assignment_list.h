#ifndef FAIRLEAD_GEN_ENDPOINT_ASSIGNMENT_LIST_H_
#define FAIRLEAD_GEN_ENDPOINT_ASSIGNMENT_LIST_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "gen/endpoint/assignment_table.h"

namespace fairlead::gen {

// The load assignments of one subscription of one class of clients. When endpoints change, those of the
// services concerned are made anew and the others stay: a change costs a look at each service, not at each
// name. Thread-safe.
class AssignmentList {
 public:
  using EndpointsPtr = AssignmentTable::EndpointsPtr;
  // The answers for some names, with their resources.
  using Answer = std::function<std::vector<AssignmentTable::Answer>(const std::vector<std::string>& names)>;

  // Those that are the same for all clients, as `endpoints` has them. `names` must always be the same.
  std::vector<cache::ResourcePtr> Shared(const EndpointsPtr& endpoints, const std::vector<std::string>& names,
                                         const Answer& answer);
  // The names of the others.
  std::vector<std::string> PerClient(const EndpointsPtr& endpoints, const std::vector<std::string>& names,
                                     const Answer& answer);

 private:
  struct Seen {
    model::ServiceEndpointsPtr endpoints;
    std::vector<uint32_t> positions;  // of names that stand for the service
  };
  void MoveTo(const EndpointsPtr& endpoints, const std::vector<std::string>& names, const Answer& answer);

  std::mutex mutex_;
  EndpointsPtr endpoints_;                     // null: nothing was made yet
  std::vector<cache::ResourcePtr> resources_;  // by position of the name; null: differs from client to client
  absl::flat_hash_map<model::ServicePtr, Seen> services_;
};

}  // namespace fairlead::gen

#endif  // FAIRLEAD_GEN_ENDPOINT_ASSIGNMENT_LIST_H_
