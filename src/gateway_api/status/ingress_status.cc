#include <algorithm>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/ip_address.h"
#include "config/kubernetes_types.h"
#include "config/tree.h"
#include "gateway_api/status/kinds.h"
#include "istio/mesh/v1alpha1/config.pb.h"

namespace fairlead::gateway_api {
namespace {

using config::ConfigObject;
using config::ConfigPtr;
using config::Kind;
using config::Node;
using istio::mesh::v1alpha1::MeshConfig;
using Json = nlohmann::ordered_json;

constexpr std::string_view kClassAnnotation = "kubernetes.io/ingress.class";
constexpr std::string_view kController = "istio.io/ingress-controller";
constexpr std::string_view kIngressNamespace = "istio-system";
constexpr std::string_view kDefaultService = "istio-ingressgateway";

// By the annotation, else the IngressClass, else the mesh's mode. Source: Istio's ingress controller.
bool IsOurs(const ConfigObject& ingress, const MeshConfig& mesh, StatusView& view) {
  const auto annotation = ingress.meta().annotations.find(kClassAnnotation);
  if (annotation != ingress.meta().annotations.end())
    return mesh.ingress_controller_mode() != MeshConfig::OFF && annotation->second == mesh.ingress_class();
  const Node name = ingress.Spec<config::Tree>().Find("spec").Find("ingressClassName");
  if (!name.IsNull()) {
    const ConfigPtr found = view.Find(Kind::kIngressClass, {}, name.text());
    if (found != nullptr)
      return found->Spec<config::Tree>().Find("spec").Find("controller").text() == kController;
  }
  return mesh.ingress_controller_mode() == MeshConfig::DEFAULT;
}

std::vector<std::string> ServiceAddresses(const config::ServiceSpec& service) {
  if (service.type == "ExternalName") return {service.external_name};
  std::vector<std::string> addresses;
  addresses.reserve(service.load_balancer_ingress.size());
  for (const config::LoadBalancerIngress& one : service.load_balancer_ingress)
    addresses.push_back(one.ip.empty() ? one.hostname : one.ip);
  addresses.insert(addresses.end(), service.external_ips.begin(), service.external_ips.end());
  return addresses;
}

std::string GatewayLabel(const MeshConfig& mesh) {
  if (!mesh.ingress_selector().empty()) return mesh.ingress_selector();
  const std::string& service = mesh.ingress_service();
  return service.empty() || service == kDefaultService ? "ingressgateway" : service;
}

// External addresses of the node where a gateway's pod runs.
std::vector<std::string> NodeAddresses(const MeshConfig& mesh, StatusView& view) {
  const std::string wanted = GatewayLabel(mesh);
  for (const ConfigPtr& pod : view.In(Kind::kPod, kIngressNamespace)) {
    if (LabelOr(pod->meta().labels, "istio") != wanted) continue;
    const auto& spec = pod->Spec<config::PodSpec>();
    const ConfigPtr node = view.Find(Kind::kNode, {}, spec.node_name);
    if (spec.phase != "Running" || node == nullptr) continue;
    std::vector<std::string> addresses;
    for (const config::NodeAddress& one : node->Spec<config::NodeSpec>().addresses) {
      if (one.type == "ExternalIP" && !one.address.empty() &&
          std::find(addresses.begin(), addresses.end(), one.address) == addresses.end())
        addresses.push_back(one.address);
    }
    return addresses;
  }
  return {};
}

std::vector<std::string> RunningAddresses(const MeshConfig& mesh, StatusView& view) {
  if (mesh.ingress_service().empty()) return NodeAddresses(mesh, view);
  const ConfigPtr service = view.Find(Kind::kService, kIngressNamespace, mesh.ingress_service());
  if (service == nullptr) return {};
  return ServiceAddresses(service->Spec<config::ServiceSpec>());
}

// IP addresses before host names, each sorted.
Json LoadBalancerJson(const std::vector<std::string>& addresses) {
  std::vector<std::pair<std::string, std::string>> sorted;  // host name, IP address
  sorted.reserve(addresses.size());
  for (const std::string& one : addresses)
    sorted.push_back(IsIpAddress(one) ? std::pair(std::string(), one) : std::pair(one, std::string()));
  std::stable_sort(sorted.begin(), sorted.end());
  Json list = Json::array();
  for (const auto& [hostname, ip] : sorted)
    list.push_back(hostname.empty() ? Json{{"ip", ip}} : Json{{"hostname", hostname}});
  return list;
}

}  // namespace

Json IngressStatus(const ConfigObject& object, StatusView& view) {
  const model::SettingsPtr settings = view.settings();
  const MeshConfig& mesh = *settings->mesh;
  if (!IsOurs(object, mesh, view)) return {};
  const std::vector<std::string> addresses = RunningAddresses(mesh, view);
  const Node before = object.Spec<config::Tree>().Find("status").Find("loadBalancer").Find("ingress");
  Json status;
  if (addresses.empty() && before.size() == 0) return status;
  status["loadBalancer"]["ingress"] = LoadBalancerJson(addresses);
  return status;
}

}  // namespace fairlead::gateway_api
