#ifndef FAIRLEAD_GATEWAY_API_STATUS_STATUS_VIEW_H_
#define FAIRLEAD_GATEWAY_API_STATUS_STATUS_VIEW_H_

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "config/object.h"
#include "config/store.h"
#include "gateway_api/status/instances.h"
#include "gateway_api/status/route_relations.h"
#include "gateway_api/translation.h"
#include "mesh/index/snapshot.h"

namespace fairlead::gateway_api {

// Something that a status was made from.
struct StatusQuestion {
  enum class About : uint8_t {
    kObject,      // one object: key.kind, key.ns, key.name
    kNamespace,   // all objects of a kind in a namespace
    kConversion,  // what the translation makes of a Gateway, route or policy
    kAttached,    // the routes that are attached to what has a namespace and a name
    kRoutesTo,    // the routes that name a backend
    kHost,        // services of the host key.name, and endpoints of that in namespace key.ns
    kSettings,
  };
  About about = About::kObject;
  config::ObjectKey key;

  friend bool operator==(const StatusQuestion&, const StatusQuestion&) = default;
  friend bool operator<(const StatusQuestion& a, const StatusQuestion& b) {
    return std::tie(a.about, a.key) < std::tie(b.about, b.key);
  }
};

// What all statuses of a mesh are made from.
struct StatusInputs {
  const Translation& translation;
  const config::ObjectStore& objects;
  const mesh::MeshSnapshot& snapshot;
  const RouteRelations& relations;  // of all routes of the translation
  // What AllocateAddresses gives for the objects.
  const std::map<config::ObjectKey, nlohmann::ordered_json>& addresses;
};

// The one door from the status of one object to all of that, but for `addresses`: notes what is asked, misses
// included. Not thread-safe.
class StatusView {
 public:
  using About = StatusQuestion::About;
  explicit StatusView(const StatusInputs& inputs) : inputs_(inputs) {}

  const model::Features& features() const { return inputs_.translation.features(); }  // they never change
  const model::Settings& settings();
  // Null where there is none.
  config::ConfigPtr Find(config::Kind kind, const Interned& ns, const Interned& name);
  // In the order of their names.
  std::vector<config::ConfigPtr> In(config::Kind kind, const Interned& ns);
  GatewayConversionPtr Gateway(const config::ObjectKey& key);
  RouteConversionPtr Route(const config::ObjectKey& key);
  PolicyConversionPtr Policy(const config::ObjectKey& key);
  // See RouteRelations.
  size_t Attached(const config::ConfigObject& owner, const std::string& listener);
  std::set<RouteRelations::GatewayName> GatewaysNamedWith(const config::ObjectKey& backend);
  // The routes that name a pool as a backend, by their keys.
  std::vector<RouteConversionPtr> RoutesTo(const config::ObjectKey& pool);
  GatewayInstances Instances(const Interned& ns, const std::vector<std::string>& services,
                             const std::set<InstancePort>& ports);
  // Addresses of a ServiceEntry's hosts; null where it gets none.
  const nlohmann::ordered_json* Addresses(const config::ObjectKey& entry) const;

  // What was asked so far, each once, sorted.
  std::vector<StatusQuestion> TakeQuestions();

 private:
  void Note(About about, config::ObjectKey key) { questions_.push_back({about, std::move(key)}); }

  const StatusInputs& inputs_;
  std::vector<StatusQuestion> questions_;
};

}  // namespace fairlead::gateway_api

#endif  // FAIRLEAD_GATEWAY_API_STATUS_STATUS_VIEW_H_
