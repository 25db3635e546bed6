#include "gateway_api/status/statuses.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/strings.h"
#include "gateway_api/names.h"
#include "gateway_api/status/kinds.h"

namespace fairlead::gateway_api {
namespace {

using config::ConfigObject;
using config::Kind;
using Json = nlohmann::ordered_json;

// By the names of the kinds.
struct KindOfStatus {
  Kind kind;
  Json (*status)(const ConfigObject& object, StatusView& view);
};
constexpr KindOfStatus kKinds[] = {
    {Kind::kBackendTlsPolicy, PolicyStatus},
    {Kind::kGrpcRoute, RouteStatus},
    {Kind::kKubernetesGateway, GatewayStatus},
    {Kind::kGatewayClass, GatewayClassStatus},
    {Kind::kHttpRoute, RouteStatus},
    {Kind::kInferencePool, PoolStatus},
    {Kind::kIngress, IngressStatus},
    {Kind::kListenerSet, ListenerSetStatus},
    {Kind::kServiceEntry, ServiceEntryStatus},
    {Kind::kTcpRoute, RouteStatus},
    {Kind::kTlsRoute, RouteStatus},
    {Kind::kUdpRoute, RouteStatus},
};

// Whether this control plane writes the object's status.
bool IsOurs(const ConfigObject& object, StatusView& view) {
  const bool labelled = object.meta().labels.contains(kRevisionLabel);
  return IsOwn(object, labelled ? nullptr : view.Find(Kind::kNamespace, {}, object.ns()), view.own());
}

const KindOfStatus* FindKind(Kind kind) {
  const auto found = std::find_if(std::begin(kKinds), std::end(kKinds),
                                  [kind](const KindOfStatus& one) { return one.kind == kind; });
  return found == std::end(kKinds) ? nullptr : found;
}

}  // namespace

bool HasStatus(Kind kind) { return FindKind(kind) != nullptr; }

Json StatusOfObject(const ConfigObject& object, StatusView& view) {
  const KindOfStatus* const kind = FindKind(object.kind());
  return kind == nullptr || !IsOurs(object, view) ? Json() : kind->status(object, view);
}

std::vector<StatusOf> ComputeStatuses(const Translation& translation, const config::ObjectStore& objects,
                                      const mesh::MeshSnapshot& snapshot, const OwnRevisions& own) {
  RouteRelations relations;
  for (const auto& [key, route] : translation.routes()) relations.Add(*route);
  const auto addresses = AllocateAddresses(objects, snapshot.settings->features);
  const StatusInputs inputs{translation, objects, snapshot, relations, addresses, own};
  std::vector<StatusOf> all;
  for (const KindOfStatus& kind : kKinds) {
    for (const auto& [name, object] : objects.All(kind.kind)) {
      StatusView view(inputs);
      if (Json status = StatusOfObject(*object, view); !status.empty())
        all.push_back({object, std::move(status)});
    }
  }
  return all;
}

nlohmann::ordered_json ToJson(const StatusOf& status) {
  const config::KindInfo& info = config::InfoOf(status.object->kind());
  Json one;
  one["kind"] = info.name;
  one["apiVersion"] = StrCat(info.group, "/", info.versions.front());
  if (!status.object->ns().empty()) one["namespace"] = status.object->ns().str();
  one["name"] = status.object->name().str();
  one["generation"] = status.object->meta().generation;
  one["status"] = status.status;
  return one;
}

nlohmann::ordered_json ToJson(const std::vector<StatusOf>& statuses) {
  Json list = Json::array();
  for (const StatusOf& status : statuses) list.push_back(ToJson(status));
  return list;
}

}  // namespace fairlead::gateway_api
