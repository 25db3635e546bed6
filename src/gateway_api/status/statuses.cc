#include "gateway_api/status/statuses.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/strings.h"
#include "gateway_api/names.h"
#include "gateway_api/status/kinds.h"

namespace fairlead::gateway_api {
namespace {

using config::ConfigObject;
using config::Kind;

// Whether this control plane writes the object's status, by the label istio.io/rev of the object, else of its
// namespace.
bool IsOurs(const ConfigObject& object, const config::ObjectStore& objects) {
  const auto is_ours = [](std::string_view revision) { return revision.empty() || revision == kRevision; };
  const auto own = object.meta().labels.find(kRevisionLabel);
  if (own != object.meta().labels.end()) return is_ours(own->second);
  const config::ConfigPtr ns = objects.Find(Kind::kNamespace, "", object.ns());
  return ns == nullptr || is_ours(LabelOr(ns->meta().labels, kRevisionLabel));
}

}  // namespace

std::vector<StatusOf> ComputeStatuses(const Translation& translation, const config::ObjectStore& objects,
                                      const mesh::MeshSnapshot& snapshot) {
  const StatusInputs inputs{translation, objects, snapshot};
  std::vector<StatusOf> all;
  AddGatewayClassStatuses(inputs, &all);
  AddGatewayStatuses(inputs, &all);
  AddRouteStatuses(inputs, &all);
  AddPoolStatuses(inputs, &all);
  AddPolicyStatuses(inputs, &all);
  AddIngressStatuses(inputs, &all);
  AddServiceEntryStatuses(inputs, &all);
  std::erase_if(
      all, [&objects](const StatusOf& one) { return one.status.empty() || !IsOurs(*one.object, objects); });
  std::sort(all.begin(), all.end(), [](const StatusOf& a, const StatusOf& b) {
    const auto rank = [](const StatusOf& one) {
      return std::tuple(config::InfoOf(one.object->kind()).name, std::string_view(one.object->ns()),
                        std::string_view(one.object->name()));
    };
    return rank(a) < rank(b);
  });
  return all;
}

nlohmann::ordered_json ToJson(const std::vector<StatusOf>& statuses) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const auto& [object, status] : statuses) {
    const config::KindInfo& info = config::InfoOf(object->kind());
    nlohmann::ordered_json one;
    one["kind"] = info.name;
    one["apiVersion"] = StrCat(info.group, "/", info.versions.front());
    if (!object->ns().empty()) one["namespace"] = object->ns().str();
    one["name"] = object->name().str();
    one["generation"] = object->meta().generation;
    one["status"] = status;
    list.push_back(std::move(one));
  }
  return list;
}

}  // namespace fairlead::gateway_api
