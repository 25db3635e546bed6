#include "controllers/gateway_plan.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <ctime>
#include <limits>
#include <utility>

#include "base/strings.h"
#include "config/kubernetes_types.h"
#include "config/read/tree_object.h"
#include "gateway_api/conversion/gateway.h"
#include "gateway_api/conversion/gateway_address.h"
#include "gateway_api/conversion/namespaces.h"
#include "gateway_api/deployment_objects.h"
#include "gateway_api/gateway_class.h"
#include "gateway_api/names.h"
#include "injection/typed_json.h"

namespace fairlead::controllers {
namespace {

using config::ConfigObject;
using config::ConfigPtr;
using config::Kind;
using config::Node;
using config::ObjectKey;
using config::ObjectStore;
using Json = nlohmann::json;

constexpr std::string_view kServiceType = "networking.istio.io/service-type";
constexpr std::string_view kClassDefaults = "gateway.istio.io/defaults-for-class";
constexpr std::string_view kReservedPrefix = "gateway.networking.k8s.io/";
constexpr char kTemplate[] = "kube-gateway";
constexpr char kControllerLabel[] = "istio.io-gateway-controller";
constexpr size_t kLongestPortName = 63;

constexpr Kind kRead[] = {Kind::kKubernetesGateway, Kind::kGatewayClass, Kind::kListenerSet, Kind::kConfigMap,
                          Kind::kNamespace};

class NoLookups : public gateway_api::DerivedLookups {
 public:
  gateway_api::ParentsPtr ParentsOf(const ObjectKey& /*key*/) const override { return nullptr; }
  std::vector<ObjectKey> SetsOf(const ObjectKey& /*gateway*/) const override { return {}; }
  std::vector<Interned> UsedNamespaces() const override { return {}; }
};

// What is asked of all Gateways alike.
struct PlanInputs {
  const ObjectStore& objects;
  const GatewayPlanSettings& settings;
  NoLookups derived = {};
  gateway_api::Lookups lookups{objects, derived, "", settings.features};
  std::multimap<ObjectKey, ConfigPtr> sets = {};         // ListenerSets by their Gateway
  std::map<std::string, ConfigPtr> class_defaults = {};  // by class
};

bool IsOurs(const ConfigObject& gateway, const PlanInputs& inputs) {
  return gateway_api::IsOwn(gateway, inputs.objects.Find(Kind::kNamespace, {}, gateway.ns()),
                            inputs.settings.revisions);
}

// Another controller's class of the name of ours is not ours to deploy, although ours is built in.
bool IsOfAnother(const gateway_api::GatewayClass& gateway_class, const PlanInputs& inputs) {
  const ConfigPtr object = inputs.objects.Find(Kind::kGatewayClass, {}, Interned(gateway_class.name));
  if (object == nullptr) return false;
  const std::string_view controller = config::SpecOf(*object).Find("controllerName").text();
  return gateway_api::FindController(controller, inputs.settings.features) == nullptr;
}

// Whether the version that the Gateway is marked with lets this one manage it.
bool MayManage(const ConfigObject& gateway) {
  const auto marked = gateway.meta().annotations.find(kControllerVersion);
  if (marked == gateway.meta().annotations.end()) return true;
  const std::string& text = marked->second;
  int version = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), version);
  return error == std::errc() && end == text.data() + text.size() && version <= kOwnControllerVersion;
}

std::string TimeText(int64_t seconds) {
  const std::time_t time = seconds;
  std::tm parts{};
  gmtime_r(&time, &parts);
  char text[32];
  return {text, std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts)};
}

// The Gateway without what changes with each write.
Json GatewayJson(const ConfigObject& gateway) {
  const config::ObjectMeta& meta = gateway.meta();
  Json metadata = {{"name", meta.name.str()}, {"namespace", meta.ns.str()}, {"uid", meta.uid}};
  if (!meta.labels.empty()) metadata["labels"] = meta.labels;
  if (!meta.annotations.empty()) metadata["annotations"] = meta.annotations;
  if (meta.creation_time != std::numeric_limits<int64_t>::max())
    metadata["creationTimestamp"] = TimeText(meta.creation_time);
  return {{"apiVersion", "gateway.networking.k8s.io/v1"},
          {"kind", "Gateway"},
          {"metadata", std::move(metadata)},
          {"spec", injection::ToSortedJson(config::SpecOf(gateway))}};
}

// What the infrastructure says, without the reserved prefix; else the Gateway's own.
LabelMap Infrastructure(const ConfigObject& gateway, const char* field, const LabelMap& own,
                        const GatewayPlanSettings& settings) {
  const Node said = config::SpecOf(gateway).Find("infrastructure").Find(field);
  if (said.IsNull()) return settings.copy_metadata ? own : LabelMap();
  LabelMap all;
  for (const Node::Entry& entry : said.entries()) {
    if (!entry.key.starts_with(kReservedPrefix)) all.emplace(entry.key, entry.value.text());
  }
  return all;
}

// Names of a Service's ports, each once.
class PortNames {
 public:
  void Take(const std::string& name) { used_.insert(name); }
  std::string Find(const std::string& wanted, int port) {
    const std::string name = wanted.substr(0, kLongestPortName);
    std::string found = name;
    for (std::string end = StrCat("-", port); used_.contains(found); end += "x")
      found = StrCat(name.substr(0, kLongestPortName - end.size()), end);
    used_.insert(found);
    return found;
  }

 private:
  std::set<std::string> used_;
};

Json PortsOf(const gateway_api::Deployment& deployment, bool quic) {
  const ConfigPtr service = gateway_api::MakeGatewayService(deployment, {});
  PortNames names;
  const auto& ports = service->Spec<config::ServiceSpec>().ports;
  for (const config::ServicePortSpec& port : ports) names.Take(port.name);
  Json all = Json::array();
  for (const config::ServicePortSpec& port : ports) {
    all.push_back(Json{{"name", port.name},
                       {"port", port.port},
                       {"protocol", port.protocol},
                       {"appProtocol", port.app_protocol.value_or("tcp")}});
    if (!quic || port.app_protocol != "https") continue;
    all.push_back(Json{{"name", names.Find(StrCat(port.name, "-quic"), port.port)},
                       {"port", port.port},
                       {"protocol", "UDP"},
                       {"appProtocol", port.app_protocol.value_or("tcp")}});
  }
  return all;
}

void AddData(const ConfigObject& config_map, injection::GatewayQuestion* question) {
  const auto& data = config_map.Spec<config::ConfigMapSpec>().data;
  question->overlays.emplace_back(data.begin(), data.end());
}

// The defaults of the class and the Gateway's own parameters; gives what is wrong.
std::string AddOverlays(const ConfigObject& gateway, const PlanInputs& inputs,
                        injection::GatewayQuestion* question) {
  const auto defaults = inputs.class_defaults.find(question->gateway_class);
  if (defaults != inputs.class_defaults.end()) AddData(*defaults->second, question);
  const Node reference = config::SpecOf(gateway).Find("infrastructure").Find("parametersRef");
  if (reference.IsNull()) return "";
  const std::string_view group = reference.Find("group").text(), kind = reference.Find("kind").text();
  if (kind != "ConfigMap" || !group.empty())
    return StrCat("invalid parameters: unknown infrastructure parameters type ", group, "/", kind);
  const std::string_view name = reference.Find("name").text();
  const ConfigPtr config_map = inputs.objects.Find(Kind::kConfigMap, gateway.ns(), Interned(name));
  if (config_map == nullptr)
    return StrCat("parametersRef targeting configmap \"", gateway.ns().str(), "/", name,
                  "\", but configmap does not exist");
  AddData(*config_map, question);
  return "";
}

std::optional<GatewayPlan> PlanOne(const ConfigPtr& object, PlanInputs& inputs) {
  const ConfigObject& gateway = *object;
  const GatewayPlanSettings& settings = inputs.settings;
  gateway_api::Deployment deployment;
  deployment.gateway = object;
  deployment.gateway_class =
      FindGatewayClass(config::SpecOf(gateway).Find("gatewayClassName").text(), inputs.lookups);
  GatewayPlan plan;
  const gateway_api::ControllerInfo* const info = deployment.gateway_class.info;
  if (info == nullptr || info->remote || gateway.meta().deleting || !gateway_api::IsManaged(gateway) ||
      IsOfAnother(deployment.gateway_class, inputs) || !IsOurs(gateway, inputs) || !MayManage(gateway))
    return std::nullopt;
  deployment.name = GatewayServiceName(gateway, deployment.gateway_class);
  deployment.account = GatewayServiceAccount(gateway, deployment.gateway_class);
  const auto [begin, end] = inputs.sets.equal_range(KeyOf(gateway));
  for (auto at = begin; at != end; ++at) {
    if (info->listener_sets && TakesListenerSets(config::SpecOf(gateway), gateway.ns().str(),
                                                 at->second->ns().str(), inputs.lookups))
      deployment.sets.push_back(at->second);
  }
  plan.field_manager = settings.features.gateway_controller;
  injection::GatewayQuestion& question = plan.question;
  question.template_name = kTemplate;
  question.gateway = GatewayJson(gateway);
  question.gateway_class = deployment.gateway_class.name;
  question.deployment_name = deployment.name;
  question.service_account = deployment.account;
  question.ports = PortsOf(deployment, settings.quic);
  question.service_type = LabelOr(gateway.meta().annotations, kServiceType, "LoadBalancer");
  question.controller_label = kControllerLabel;
  question.cluster = settings.cluster;
  question.revision = settings.revision;
  question.kubernetes_version = settings.kubernetes_version;
  question.labels = Infrastructure(gateway, "labels", gateway.meta().labels, settings);
  question.annotations = Infrastructure(gateway, "annotations", gateway.meta().annotations, settings);
  if (const ConfigPtr ns = inputs.objects.Find(Kind::kNamespace, {}, gateway.ns()))
    question.namespace_annotations = ns->meta().annotations;
  plan.error = AddOverlays(gateway, inputs, &question);
  return plan;
}

void FindSets(PlanInputs* inputs) {
  for (const auto& [name, set] : inputs->objects.All(Kind::kListenerSet))
    inputs->sets.emplace(gateway_api::GatewayOfSet(*set), set);
}

// Of several ConfigMaps for a class the oldest counts.
void FindClassDefaults(PlanInputs* inputs) {
  for (const auto& [name, map] : inputs->objects.All(Kind::kConfigMap)) {
    if (std::string_view(map->ns()) != inputs->settings.system_namespace) continue;
    const std::string_view gateway_class = LabelOr(map->meta().labels, kClassDefaults);
    if (gateway_class.empty()) continue;
    ConfigPtr& known = inputs->class_defaults[std::string(gateway_class)];
    if (known == nullptr || map->meta().creation_time < known->meta().creation_time) known = map;
  }
}

}  // namespace

std::map<ObjectKey, GatewayPlan> PlanGateways(const ObjectStore& objects,
                                              const GatewayPlanSettings& settings) {
  PlanInputs inputs{objects, settings};
  FindSets(&inputs);
  FindClassDefaults(&inputs);
  std::map<ObjectKey, GatewayPlan> plans;
  for (const auto& [name, gateway] : objects.All(Kind::kKubernetesGateway)) {
    if (std::optional<GatewayPlan> plan = PlanOne(gateway, inputs))
      plans.emplace(KeyOf(*gateway), *std::move(plan));
  }
  return plans;
}

bool PlansMayDiffer(const ObjectStore& a, const ObjectStore& b) {
  return std::any_of(std::begin(kRead), std::end(kRead),
                     [&](Kind kind) { return a.Revision(kind) != b.Revision(kind); });
}

}  // namespace fairlead::controllers
