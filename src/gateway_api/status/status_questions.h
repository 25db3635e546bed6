#ifndef FAIRLEAD_GATEWAY_API_STATUS_STATUS_QUESTIONS_H_
#define FAIRLEAD_GATEWAY_API_STATUS_STATUS_QUESTIONS_H_

#include <cstddef>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "config/object.h"
#include "config/store.h"
#include "gateway_api/question.h"
#include "gateway_api/revision.h"
#include "gateway_api/status/route_relations.h"
#include "gateway_api/translation.h"
#include "mesh/index/snapshot.h"

namespace fairlead::gateway_api {

// A mesh as the derivation left it.
struct StatusMoment {
  Translation translation{""};
  config::ObjectStore objects;  // as they are written
  mesh::SnapshotPtr snapshot = std::make_shared<const mesh::MeshSnapshot>();
};

// What all statuses of a mesh are made from.
struct StatusInputs {
  const Translation& translation;
  const config::ObjectStore& objects;
  const mesh::MeshSnapshot& snapshot;
  const RouteRelations& relations;  // of all routes of the translation
  // What AllocateAddresses gives for the objects.
  const std::map<config::ObjectKey, nlohmann::ordered_json>& addresses;
  const OwnRevisions& own;  // of which objects there are statuses
};

}  // namespace fairlead::gateway_api

// Questions of statuses. A change is two moments of a mesh, before and after.
namespace fairlead::gateway_api::status_questions {

// Null: there is none.
struct WrittenObject {
  static config::ConfigPtr Answer(const StatusInputs& inputs, config::Kind kind, const Interned& ns,
                                  const Interned& name) {
    return inputs.objects.Find(kind, ns, name);
  }
  static void Difference(const StatusMoment& before, const StatusMoment& after, Visit visit);
};

// The objects of a kind in a namespace, in the order of their names.
struct WrittenObjectsIn {
  static std::vector<config::ConfigPtr> Answer(const StatusInputs& inputs, config::Kind kind,
                                               const Interned& ns);
  static void Difference(const StatusMoment& before, const StatusMoment& after, Visit visit);
};

// What the translation makes of an object. Null: nothing.
struct GatewayConversionOf {
  static GatewayConversionPtr Answer(const StatusInputs& inputs, config::Kind kind, const Interned& ns,
                                     const Interned& name);
  static void Difference(const StatusMoment& before, const StatusMoment& after, Visit visit);
};
struct RouteConversionOf {
  static RouteConversionPtr Answer(const StatusInputs& inputs, config::Kind kind, const Interned& ns,
                                   const Interned& name);
  static void Difference(const StatusMoment& before, const StatusMoment& after, Visit visit);
};
struct PolicyConversionOf {
  static PolicyConversionPtr Answer(const StatusInputs& inputs, config::Kind kind, const Interned& ns,
                                    const Interned& name);
  static void Difference(const StatusMoment& before, const StatusMoment& after, Visit visit);
};

// See RouteRelations::AttachedTo. By namespace and name.
struct AttachedRoutes {
  static std::map<std::string, size_t> Answer(const StatusInputs& inputs, const Interned& ns,
                                              const Interned& name) {
    return inputs.relations.AttachedTo(ns, name);
  }
  static void Difference(const StatusMoment& before, const StatusMoment& after, Visit visit);
};

// By backend. See RouteRelations::GatewaysNamedWith.
struct GatewaysOfBackend {
  static std::set<RouteRelations::GatewayName> Answer(const StatusInputs& inputs, config::Kind kind,
                                                      const Interned& ns, const Interned& name) {
    return inputs.relations.GatewaysNamedWith({kind, ns, name});
  }
  static void Difference(const StatusMoment& before, const StatusMoment& after, Visit visit);
};

// The routes that name a pool as a backend, by their keys.
struct RoutesToPool {
  static std::vector<RouteConversionPtr> Answer(const StatusInputs& inputs, config::Kind kind,
                                                const Interned& ns, const Interned& name) {
    return inputs.translation.RoutesTo({kind, ns, name});
  }
  static void Difference(const StatusMoment& before, const StatusMoment& after, Visit visit);
};

// As ServiceIndex::Host. Null: nobody has the hostname.
struct HostServices {
  static mesh::ServiceIndex::List Answer(const StatusInputs& inputs, const Interned& hostname) {
    return inputs.snapshot.services->Host(hostname);
  }
  static void Difference(const StatusMoment& before, const StatusMoment& after, Visit visit);
};

// By hostname and namespace. Null: there are none.
struct HostEndpoints {
  static model::ServiceEndpointsPtr Answer(const StatusInputs& inputs, const Interned& hostname,
                                           const Interned& ns) {
    return inputs.snapshot.endpoints->Find(hostname, ns);
  }
  static void Difference(const StatusMoment& before, const StatusMoment& after, Visit visit);
};

struct CurrentSettings {
  static model::SettingsPtr Answer(const StatusInputs& inputs) { return inputs.snapshot.settings; }
  static void Difference(const StatusMoment& before, const StatusMoment& after, Visit visit) {
    if (before.snapshot->settings != after.snapshot->settings) visit({});
  }
};

using OfStatuses =
    mesh::Rows<WrittenObject, WrittenObjectsIn, GatewayConversionOf, RouteConversionOf, PolicyConversionOf,
               AttachedRoutes, GatewaysOfBackend, RoutesToPool, HostServices, HostEndpoints, CurrentSettings>;

}  // namespace fairlead::gateway_api::status_questions

#endif  // FAIRLEAD_GATEWAY_API_STATUS_STATUS_QUESTIONS_H_
