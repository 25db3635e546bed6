#ifndef FAIRLEAD_GATEWAY_API_STATUS_STATUS_VIEW_H_
#define FAIRLEAD_GATEWAY_API_STATUS_STATUS_VIEW_H_

#include <cstddef>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "config/object.h"
#include "gateway_api/status/instances.h"
#include "gateway_api/status/route_relations.h"
#include "gateway_api/status/status_questions.h"

namespace fairlead::gateway_api {

// The one door from the status of one object to all that statuses are made from, but for `addresses`: notes
// what is asked, misses included. Not thread-safe.
class StatusView {
 public:
  // `inputs` outlive it.
  explicit StatusView(const StatusInputs& inputs) : inputs_(inputs), asker_(inputs) {}

  const model::Features& features() const { return inputs_.translation.features(); }  // they never change
  const OwnRevisions& own() const { return inputs_.own; }  // where they change, all statuses are made anew
  model::SettingsPtr settings() { return asker_.Ask<status_questions::CurrentSettings>(); }
  // Null where there is none.
  config::ConfigPtr Find(config::Kind kind, const Interned& ns, const Interned& name) {
    return asker_.Ask<status_questions::WrittenObject>(kind, ns, name);
  }
  // In the order of their names.
  std::vector<config::ConfigPtr> In(config::Kind kind, const Interned& ns) {
    return asker_.Ask<status_questions::WrittenObjectsIn>(kind, ns);
  }
  GatewayConversionPtr Gateway(const config::ObjectKey& key) {
    return asker_.AskOf<status_questions::GatewayConversionOf>(key);
  }
  RouteConversionPtr Route(const config::ObjectKey& key) {
    return asker_.AskOf<status_questions::RouteConversionOf>(key);
  }
  PolicyConversionPtr Policy(const config::ObjectKey& key) {
    return asker_.AskOf<status_questions::PolicyConversionOf>(key);
  }
  // How many routes are attached to a listener of a Gateway or ListenerSet.
  size_t Attached(const config::ConfigObject& owner, const std::string& listener);
  std::set<RouteRelations::GatewayName> GatewaysNamedWith(const config::ObjectKey& backend) {
    return asker_.AskOf<status_questions::GatewaysOfBackend>(backend);
  }
  // The routes that name a pool as a backend, by their keys.
  std::vector<RouteConversionPtr> RoutesTo(const config::ObjectKey& pool) {
    return asker_.AskOf<status_questions::RoutesToPool>(pool);
  }
  GatewayInstances Instances(const Interned& ns, const std::vector<std::string>& hosts,
                             const std::set<InstancePort>& ports);
  // Addresses of a ServiceEntry's hosts; null where it gets none.
  const nlohmann::ordered_json* Addresses(const config::ObjectKey& entry) const;

  std::vector<Question> TakeQuestions() { return asker_.TakeQuestions(); }

 private:
  const StatusInputs& inputs_;
  RowAsker<StatusInputs, status_questions::OfStatuses> asker_;
};

}  // namespace fairlead::gateway_api

#endif  // FAIRLEAD_GATEWAY_API_STATUS_STATUS_VIEW_H_
