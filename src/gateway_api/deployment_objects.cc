#include "gateway_api/deployment_objects.h"

#include <memory>
#include <utility>

#include "base/ip_address.h"
#include "base/strings.h"
#include "config/content_hash.h"
#include "config/derived_object.h"
#include "config/kubernetes_types.h"
#include "config/read/tree_object.h"
#include "gateway_api/conversion/gateway_address.h"
#include "mesh/index/policy_selection.h"

namespace fairlead::gateway_api {
namespace {

using config::ConfigObject;
using config::ConfigPtr;
using config::Kind;
using config::Node;
using config::SpecOf;

constexpr std::string_view kClassLabel = "gateway.networking.k8s.io/gateway-class-name";
constexpr std::string_view kServiceType = "networking.istio.io/service-type";
constexpr std::string_view kLastApplied = "kubectl.kubernetes.io/last-applied-configuration";
constexpr int kStatusPort = 15021;
constexpr size_t kLongestPortName = 63;

template <typename Spec>
ConfigPtr Make(Kind kind, config::ObjectMeta meta, const config::Origin& origin, Spec spec) {
  config::ContentHash hash;
  hash.Add(static_cast<uint8_t>(kind)).Add(meta).Add(spec);
  return std::make_shared<const ConfigObject>(kind, std::move(meta), origin,
                                              std::make_shared<const Spec>(std::move(spec)), hash.value());
}

LabelMap MapOf(Node node) {
  LabelMap map;
  for (const Node::Entry& entry : node.entries()) map.emplace(entry.key, entry.value.text());
  return map;
}

void AddGatewayLabels(const Deployment& deployment, LabelMap* labels) {
  (*labels)[std::string(mesh::kGatewayNameLabel)] = deployment.gateway->name().str();
  (*labels)[std::string(kClassLabel)] = deployment.gateway_class.name;
}

// What the Gateway says for its infrastructure, else its own labels and annotations.
LabelMap InfrastructureLabels(const Deployment& deployment) {
  const Node said = SpecOf(*deployment.gateway).Find("infrastructure").Find("labels");
  LabelMap labels = said.IsNull() ? deployment.gateway->meta().labels : MapOf(said);
  AddGatewayLabels(deployment, &labels);
  return labels;
}

LabelMap InfrastructureAnnotations(const ConfigObject& gateway) {
  const Node said = SpecOf(gateway).Find("infrastructure").Find("annotations");
  LabelMap annotations = said.IsNull() ? gateway.meta().annotations : MapOf(said);
  annotations.erase(std::string(kLastApplied));
  return annotations;
}

// Names of listeners as names of a Service's ports, each once.
class Ports {
 public:
  Ports() { Add("status-port", kStatusPort, "TCP", "tcp"); }

  void Add(Node listener) {
    const int number = static_cast<int>(listener.Find("port").Int().value_or(0));
    const std::string_view protocol = listener.Find("protocol").text();
    const char* const transport = protocol == "UDP" ? "UDP" : "TCP";
    if (number <= 0 || !used_.emplace(number, transport).second) return;
    Add(NameFor(listener.Find("name").text(), number), number, transport, AsciiLower(protocol));
  }

  std::vector<config::ServicePortSpec> Take() { return std::move(ports_); }

 private:
  void Add(std::string name, int number, std::string_view transport, std::string protocol) {
    names_.insert(name);
    config::ServicePortSpec& port = ports_.emplace_back();
    port.name = std::move(name);
    port.port = number;
    port.target_port.number = number;
    port.protocol = transport;
    port.app_protocol = std::move(protocol);
  }

  std::string NameFor(std::string_view listener, int number) const {
    std::string name;
    for (const char c : listener.substr(0, kLongestPortName)) name += c == '.' ? '-' : c;
    if (!names_.contains(name)) return name;
    std::string rest = StrCat("-", number);
    while (names_.contains(StrCat(name.substr(0, kLongestPortName - rest.size()), rest))) rest += "x";
    return StrCat(name.substr(0, kLongestPortName - rest.size()), rest);
  }

  std::vector<config::ServicePortSpec> ports_;
  std::set<std::pair<int, std::string>> used_;
  std::set<std::string> names_;
};

// The address that the Gateway asks for; "" where it does not.
std::string WantedAddress(const ConfigObject& gateway) {
  const Node addresses = SpecOf(gateway).Find("addresses");
  return addresses.size() == 0 ? "" : std::string(addresses.At(0).Find("value").text());
}

}  // namespace

ConfigPtr MakeGatewayService(const Deployment& deployment, const std::set<std::string>& addresses) {
  const ConfigObject& gateway = *deployment.gateway;
  config::ServiceSpec spec;
  spec.type = LabelOr(gateway.meta().annotations, kServiceType, "LoadBalancer");
  spec.cluster_ip = "None";
  spec.selector[std::string(mesh::kGatewayNameLabel)] = gateway.name().str();
  Ports ports;
  for (Node listener : SpecOf(gateway).Find("listeners").elements()) ports.Add(listener);
  for (const ConfigPtr& set : deployment.sets) {
    for (Node listener : SpecOf(*set).Find("listeners").elements()) ports.Add(listener);
  }
  spec.ports = ports.Take();
  if (spec.type == "LoadBalancer") {
    spec.load_balancer_ip = WantedAddress(gateway);
    std::set<std::string> external = addresses;
    if (!spec.load_balancer_ip.empty()) external = {spec.load_balancer_ip};
    for (const std::string& address : external) spec.load_balancer_ingress.push_back({address, ""});
  }
  config::ObjectMeta meta;
  meta.ns = gateway.ns();
  meta.name = deployment.name;
  meta.labels = InfrastructureLabels(deployment);
  meta.annotations = InfrastructureAnnotations(gateway);
  meta.creation_time = gateway.meta().creation_time;
  return Make(Kind::kService, std::move(meta), gateway.origin(), std::move(spec));
}

std::string GatewayPodName(std::string_view deployment, size_t number) {
  return StrCat(deployment, "~", number + 1);  // Kubernetes lets no object have a name like it
}

ConfigPtr MakeGatewayPod(const Deployment& deployment, const LabelMap& selector, size_t number,
                         const std::string& address) {
  config::PodSpec spec;
  spec.service_account = deployment.account;
  spec.phase = "Running";
  spec.ready = true;
  spec.has_containers = true;
  spec.pod_ip = address;
  spec.pod_ips = {address};
  config::ObjectMeta meta;
  meta.ns = deployment.gateway->ns();
  meta.name = GatewayPodName(deployment.name, number);
  meta.labels = InfrastructureLabels(deployment);
  for (const auto& [key, value] : selector) meta.labels[key] = value;
  meta.annotations.emplace(config::kStandInAnnotation, "true");
  meta.labels.emplace("service.istio.io/canonical-name", deployment.name);
  meta.labels.emplace("service.istio.io/canonical-revision", "latest");
  meta.creation_time = deployment.gateway->meta().creation_time;
  return Make(Kind::kPod, std::move(meta), deployment.gateway->origin(), std::move(spec));
}

ConfigPtr WithGatewayLabels(const ConfigObject& pod, const Deployment& deployment) {
  config::ObjectMeta meta = pod.meta();
  AddGatewayLabels(deployment, &meta.labels);
  return Make(Kind::kPod, std::move(meta), pod.origin(), pod.Spec<config::PodSpec>());
}

}  // namespace fairlead::gateway_api
