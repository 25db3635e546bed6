#include "simulate/gateway_pods.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "base/strings.h"
#include "config/derived_object.h"
#include "config/tree.h"
#include "gateway_api/conversion/gateway_address.h"
#include "gateway_api/gateway_class.h"
#include "istio/networking/v1alpha3/gateway.pb.h"
#include "mesh/index/policy_selection.h"

namespace fairlead::simulate {
namespace {

using config::ConfigPtr;
using config::Kind;

constexpr std::string_view kTemplates = "inject.istio.io/templates";

LabelMap SelectorOf(const config::ConfigObject& gateway) {
  LabelMap selector;
  for (const auto& [key, value] : gateway.Spec<istio::networking::v1alpha3::Gateway>().selector())
    selector[key] = value;
  return selector;
}

bool Selects(const config::ConfigObject& gateway, const LabelMap& labels) {
  const LabelMap selector = SelectorOf(gateway);
  return !selector.empty() && SelectorMatches(selector, labels);
}

// Whether one of the Services with these host names, joined by commas, selects the pod.
bool ServiceSelects(const LoadedMesh& mesh, std::string_view hosts, const config::ConfigObject& pod) {
  const std::string tail = StrCat(".", pod.ns().str(), ".svc.", mesh.snapshot->settings->domain);
  for (const std::string_view host : Split(hosts, ',')) {
    if (!host.ends_with(tail)) continue;
    const std::string_view name = host.substr(0, host.size() - tail.size());
    const auto service = mesh.objects.find({Kind::kService, pod.ns(), Interned(name)});
    if (service == mesh.objects.end()) continue;
    const LabelMap& selector = service->second->Spec<config::ServiceSpec>().selector;
    if (!selector.empty() && SelectorMatches(selector, pod.meta().labels)) return true;
  }
  return false;
}

// Whether a Gateway of Istio's API was made from a listener of this Gateway API Gateway.
bool IsMadeFrom(const config::ConfigObject& object, const Interned& ns, const Interned& name) {
  const std::string_view parents = LabelOr(object.meta().annotations, config::kParentsAnnotation);
  const std::string prefix = StrCat("Gateway/", name.str(), "/");
  const std::string suffix = StrCat(".", ns.str());
  for (const std::string_view parent : Split(parents, ',')) {
    if (parent.starts_with(prefix) && parent.ends_with(suffix)) return true;
  }
  return false;
}

// A Gateway of the Gateway API has become Gateways of Istio's, which name the Services of its pods.
bool Serves(const LoadedMesh& mesh, const config::ConfigObject& derived, const config::ConfigObject& pod) {
  return ServiceSelects(mesh, LabelOr(derived.meta().annotations, config::kGatewayServiceAnnotation), pod);
}

gateway_api::GatewayClass ClassOf(const config::ConfigObject& gateway, const Objects& objects) {
  const model::Features features;
  gateway_api::GatewayClass found;
  found.name = gateway.Spec<config::Tree>().Find("spec").Find("gatewayClassName").String();
  const auto object = objects.find({Kind::kGatewayClass, Interned(""), Interned(found.name)});
  if (object != objects.end()) {
    const config::Node spec = object->second->Spec<config::Tree>().Find("spec");
    found.info = gateway_api::FindController(spec.Find("controllerName").String(), features);
  }
  if (found.info == nullptr) found.info = gateway_api::FindBuiltinClass(found.name, features);
  return found;
}

// Finds the Gateways that have no router.
class Finder {
 public:
  Finder(const std::vector<WorkloadTemplate>& templates, const Objects& objects)
      : templates_(templates), objects_(objects) {}

  void AddDeployed(const config::ConfigObject& gateway) {
    const gateway_api::GatewayClass gateway_class = ClassOf(gateway, objects_);
    if (gateway_class.info == nullptr || gateway_class.info->remote || !gateway_api::IsManaged(gateway))
      return;
    WorkloadTemplate router = For(gateway);
    router.labels[std::string(mesh::kGatewayNameLabel)] = gateway.name().str();
    if (HasPod(router.labels, &gateway.ns())) return;
    router.pod_name = gateway_api::GatewayServiceName(gateway, gateway_class);
    router.pod.service_account = gateway_api::GatewayServiceAccount(gateway, gateway_class);
    found_.push_back(std::move(router));
  }

  void AddSelected(const config::ConfigObject& gateway) {
    WorkloadTemplate router = For(gateway);
    router.labels = SelectorOf(gateway);
    if (router.labels.empty() || HasPod(router.labels, nullptr)) return;
    router.pod_name = StrCat(gateway.name().str(), "-router");
    found_.push_back(std::move(router));
  }

  std::vector<WorkloadTemplate> Take() { return std::move(found_); }

 private:
  static WorkloadTemplate For(const config::ConfigObject& gateway) {
    WorkloadTemplate router;
    router.kind = "Gateway";
    router.name = gateway.name().str();
    router.ns = gateway.ns().str();
    router.file = gateway.origin().file.str();
    router.line = gateway.origin().line;
    router.annotations[std::string(kTemplates)] = "gateway";
    return router;
  }

  // Of the namespace, or of any where it is null; written, in a template, or found before.
  bool HasPod(const LabelMap& selector, const Interned* ns) const {
    const auto matches = [&](const WorkloadTemplate& one) {
      return one.replicas > 0 && (ns == nullptr || one.ns == ns->str()) &&
             SelectorMatches(selector, one.labels);
    };
    return std::any_of(templates_.begin(), templates_.end(), matches) ||
           std::any_of(found_.begin(), found_.end(), matches) ||
           std::any_of(objects_.begin(), objects_.end(), [&](const auto& pair) {
             return pair.first.kind == Kind::kPod && (ns == nullptr || pair.first.ns == *ns) &&
                    SelectorMatches(selector, pair.second->meta().labels);
           });
  }

  const std::vector<WorkloadTemplate>& templates_;
  const Objects& objects_;
  std::vector<WorkloadTemplate> found_;
};

}  // namespace

bool IsRouter(const LoadedMesh& mesh, const config::ConfigObject& pod) {
  const LabelMap& labels = pod.meta().labels;
  if (LabelOr(pod.meta().annotations, kTemplates) == "gateway" ||
      !LabelOr(labels, mesh::kGatewayNameLabel).empty())
    return true;
  const auto& gateways = mesh.snapshot->objects->Of(Kind::kGateway);
  return std::any_of(gateways.begin(), gateways.end(),
                     [&](const ConfigPtr& one) { return Selects(*one, labels) || Serves(mesh, *one, pod); });
}

ConfigPtr PodOfGateway(const LoadedMesh& mesh, const Interned& ns, const Interned& name) {
  const auto written = mesh.objects.find({Kind::kGateway, ns, name});
  std::vector<ConfigPtr> derived;
  for (const ConfigPtr& one : mesh.snapshot->objects->Of(Kind::kGateway)) {
    if (IsMadeFrom(*one, ns, name)) derived.push_back(one);
  }
  const bool of_gateway_api = mesh.objects.contains({Kind::kKubernetesGateway, ns, name});
  for (const ConfigPtr& pod : mesh.Of(Kind::kPod)) {
    const LabelMap& labels = pod->meta().labels;
    if (of_gateway_api && pod->ns() == ns && LabelOr(labels, mesh::kGatewayNameLabel) == name.str())
      return pod;
    if (written != mesh.objects.end() && Selects(*written->second, labels)) return pod;
    const auto serves = [&](const ConfigPtr& one) { return Serves(mesh, *one, *pod); };
    if (std::any_of(derived.begin(), derived.end(), serves)) return pod;
  }
  return nullptr;
}

std::string DoubtAboutGateway(const LoadedMesh& mesh, const Interned& ns, const Interned& name) {
  const auto pod = mesh.objects.find({Kind::kPod, ns, name});
  const bool is_gateway = mesh.objects.contains({Kind::kGateway, ns, name}) ||
                          mesh.objects.contains({Kind::kKubernetesGateway, ns, name});
  if (pod == mesh.objects.end() || !is_gateway || IsRouter(mesh, *pod->second)) return "";
  return StrCat("this is the Pod ", ns.str(), "/", name.str(),
                ", a sidecar; the Gateway of that name does not select it (its pods have the label ",
                mesh::kGatewayNameLabel, ", or the labels of its Service's or its own selector)");
}

std::vector<WorkloadTemplate> MissingRouters(const std::vector<WorkloadTemplate>& templates,
                                             const Objects& objects) {
  Finder finder(templates, objects);
  for (const auto& [key, object] : objects) {
    if (key.kind == Kind::kKubernetesGateway) finder.AddDeployed(*object);
    if (key.kind == Kind::kGateway) finder.AddSelected(*object);
  }
  return finder.Take();
}

}  // namespace fairlead::simulate
