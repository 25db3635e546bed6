#include "controllers/status_patch.h"

#include <utility>

#include "base/json.h"
#include "base/strings.h"
#include "config/kind.h"
#include "config/read/tree_json.h"
#include "config/tree.h"
#include "gateway_api/status/status_times.h"
#include "kube/served_kinds.h"

namespace fairlead::controllers {
namespace {

using config::ConfigObject;

OrderedJson AddressesOf(const config::ObjectStatus& status) {
  OrderedJson list = OrderedJson::array();
  for (const config::ObjectStatus::Address& one : status.addresses)
    list.push_back({{"host", one.host}, {"value", one.value}});
  return list;
}

}  // namespace

bool HasWholeStatus(const ConfigObject& object) {
  return config::InfoOf(object.kind()).payload == config::PayloadType::kTree;
}

OrderedJson StatusOnServer(const ConfigObject& object) {
  if (HasWholeStatus(object)) return config::ToJson(object.Spec<config::Tree>().Find("status"));
  OrderedJson status;
  if (object.status() != nullptr && !object.status()->addresses.empty())
    status["addresses"] = AddressesOf(*object.status());
  return status;
}

std::string PathOf(const ConfigObject& object, std::string_view subresource) {
  const config::KindInfo& info = config::InfoOf(object.kind());
  const std::string collection = kube::CollectionPath(info, std::string_view(object.origin().api_version),
                                                      std::string_view(object.ns()));
  return kube::ObjectPath(collection, std::string_view(object.name()), subresource);
}

bool SameJson(const OrderedJson& a, const OrderedJson& b) { return nlohmann::json(a) == nlohmann::json(b); }

OrderedJson WithTimes(OrderedJson status, const OrderedJson& before, const std::string& now) {
  gateway_api::SetTransitionTimes(before, now, &status);
  return status;
}

OrderedJson MergedWith(const OrderedJson& before, const OrderedJson& wanted,
                       const std::vector<gateway_api::VerdictCondition>& ours, const std::string& now) {
  OrderedJson others = OrderedJson::object();
  if (before.is_object() && before.contains("conditions")) others["conditions"] = before["conditions"];
  gateway_api::RemoveProxyVerdicts(ours, &others);
  OrderedJson merged = wanted.is_object() ? wanted : OrderedJson::object();
  OrderedJson conditions = others.contains("conditions") && others["conditions"].is_array()
                               ? others["conditions"]
                               : OrderedJson::array();
  if (merged.contains("conditions")) {
    for (OrderedJson& one : merged["conditions"]) conditions.push_back(std::move(one));
  }
  merged["conditions"] = std::move(conditions);
  return WithTimes(std::move(merged), before, now);
}

kube::ApiRequest StatusRequest(const ConfigObject& object, const std::string& version,
                               const OrderedJson& status) {
  kube::ApiRequest request;
  request.path = PathOf(object);
  if (HasWholeStatus(object)) {
    request.verb = kube::ApiRequest::Verb::kJsonPatch;
    OrderedJson patch = OrderedJson::array();
    patch.push_back({{"op", "add"}, {"path", "/metadata/resourceVersion"}, {"value", version}});
    patch.push_back({{"op", "add"}, {"path", "/status"}, {"value", status}});
    request.body = JsonText(patch);
    return request;
  }
  request.verb = kube::ApiRequest::Verb::kMergePatch;
  OrderedJson patch;
  patch["metadata"]["resourceVersion"] = version;
  patch["status"] = status;
  request.body = JsonText(patch);
  return request;
}

}  // namespace fairlead::controllers
