#include <string>

#include "base/strings.h"
#include "config/read/kubernetes_reader.h"

// Service, EndpointSlice and Endpoints.
namespace fairlead::config {
namespace {

std::vector<std::string> Strings(Node list) {
  std::vector<std::string> strings;
  strings.reserve(list.size());
  for (Node element : list.elements()) strings.emplace_back(element.String());
  return strings;
}

LabelMap Labels(Node mapping) {
  LabelMap labels;
  for (const Node::Entry& entry : mapping.entries())
    labels.emplace_hint(labels.end(), entry.key, entry.value.String());
  return labels;
}

std::optional<std::string> OptionalString(Node node) {
  return node.IsString() ? std::optional<std::string>(node.text()) : std::nullopt;
}

std::optional<bool> OptionalBool(Node node) {
  return node.type() == NodeType::kBool ? std::optional<bool>(node.Bool()) : std::nullopt;
}

int IntOr(Node node, int fallback) { return static_cast<int>(node.Int().value_or(fallback)); }

// A port number within 1 to 65535, or 0 and an error.
int PortNumber(Node node, const FieldPath& path, Report& report) {
  const int64_t number = node.Int().value_or(0);
  if (number >= 1 && number <= 65535) return static_cast<int>(number);
  report.Error("out-of-range", node, path, StrCat(number, " is no port: from 1 to 65535"));
  return 0;
}

bool IsProtocol(std::string_view protocol) {
  return protocol == "TCP" || protocol == "UDP" || protocol == "SCTP";
}

void CheckProtocol(Node node, const FieldPath& path, Report& report) {
  if (node.IsNull() || IsProtocol(node.String())) return;
  report.Error("unknown-value", node, path,
               StrCat("unknown protocol ", node.text(), " (known: TCP, UDP, SCTP)"));
}

ServicePortSpec ReadServicePort(Node node, const FieldPath& path, Report& report) {
  ServicePortSpec port;
  port.name = node.Find("name").String();
  port.protocol = node.Find("protocol").String("TCP");
  CheckProtocol(node.Find("protocol"), FieldPath(path, "protocol"), report);
  port.app_protocol = OptionalString(node.Find("appProtocol"));
  const Node number = node.Find("port");
  if (number.IsNull()) {
    report.Error("missing-field", node, path, "port is missing");
  } else {
    port.port = PortNumber(number, FieldPath(path, "port"), report);
  }
  const Node target = node.Find("targetPort");
  if (target.IsString() && !target.text().empty()) {
    port.target_port.name = target.text();
  } else if (target.Int().value_or(0) != 0) {
    port.target_port.number = PortNumber(target, FieldPath(path, "targetPort"), report);
  } else {
    port.target_port.number = port.port;
  }
  port.node_port = IntOr(node.Find("nodePort"), 0);
  return port;
}

// Either of the two may be left out; an API server keeps them in step.
void FillClusterIps(ServiceSpec& service) {
  if (service.cluster_ips.empty() && !service.cluster_ip.empty()) service.cluster_ips = {service.cluster_ip};
  if (service.cluster_ip.empty() && !service.cluster_ips.empty())
    service.cluster_ip = service.cluster_ips.front();
}

void ReadPolicies(Node spec, ServiceSpec& service) {
  service.publish_not_ready_addresses = spec.Find("publishNotReadyAddresses").Bool();
  service.session_affinity = spec.Find("sessionAffinity").String("None");
  const Node timeout = spec.Find("sessionAffinityConfig").Find("clientIP").Find("timeoutSeconds");
  constexpr int kDefaultTimeoutSeconds = 10800;
  if (service.session_affinity == "ClientIP") {
    service.session_affinity_timeout_seconds = IntOr(timeout, kDefaultTimeoutSeconds);
  }
  service.internal_traffic_policy = spec.Find("internalTrafficPolicy").String("Cluster");
  const bool external = service.type == "NodePort" || service.type == "LoadBalancer";
  service.external_traffic_policy = spec.Find("externalTrafficPolicy").String(external ? "Cluster" : "");
  service.traffic_distribution = spec.Find("trafficDistribution").String();
}

std::optional<TargetReference> Target(Node reference) {
  if (!reference.IsMapping()) return std::nullopt;
  return TargetReference{std::string(reference.Find("kind").String()),
                         std::string(reference.Find("namespace").String()),
                         std::string(reference.Find("name").String())};
}

SliceEndpoint ReadEndpoint(Node node) {
  SliceEndpoint endpoint;
  const Node addresses = node.Find("addresses");
  endpoint.addresses.reserve(addresses.size());
  for (Node address : addresses.elements()) endpoint.addresses.emplace_back(address.String());
  const Node conditions = node.Find("conditions");
  endpoint.ready = OptionalBool(conditions.Find("ready"));
  endpoint.serving = OptionalBool(conditions.Find("serving"));
  endpoint.terminating = OptionalBool(conditions.Find("terminating"));
  endpoint.hostname = node.Find("hostname").String();
  // discovery/v1beta1 had labels of the node where v1 has fields.
  const Node topology = node.Find("topology");
  endpoint.node_name = node.Find("nodeName").String(topology.Find("kubernetes.io/hostname").String());
  endpoint.zone = node.Find("zone").String(topology.Find("topology.kubernetes.io/zone").String());
  endpoint.target = Target(node.Find("targetRef"));
  return endpoint;
}

SlicePort ReadSlicePort(Node node, const FieldPath& path, Report& report) {
  SlicePort port;
  port.name = node.Find("name").String();
  port.protocol = node.Find("protocol").String("TCP");
  CheckProtocol(node.Find("protocol"), FieldPath(path, "protocol"), report);
  if (const Node number = node.Find("port"); !number.IsNull()) {
    port.port = PortNumber(number, FieldPath(path, "port"), report);
  }
  port.app_protocol = OptionalString(node.Find("appProtocol"));
  return port;
}

std::vector<SlicePort> ReadSlicePorts(Node ports, const FieldPath& path, Report& report) {
  std::vector<SlicePort> read;
  size_t index = 0;
  for (Node port : ports.elements()) {
    read.push_back(ReadSlicePort(port, FieldPath(path, index++), report));
  }
  return read;
}

void AppendAddresses(Node addresses, bool ready, const std::vector<SlicePort>& ports,
                     EndpointSliceSpec& mirror) {
  for (Node address : addresses.elements()) {
    SliceEndpoint endpoint;
    endpoint.addresses.emplace_back(address.Find("ip").String());
    endpoint.ready = endpoint.serving = ready;
    endpoint.terminating = false;
    endpoint.hostname = address.Find("hostname").String();
    endpoint.node_name = address.Find("nodeName").String();
    endpoint.target = Target(address.Find("targetRef"));
    endpoint.ports = ports;
    mirror.endpoints.push_back(std::move(endpoint));
  }
}

bool IsMirrored(Node metadata) {
  return metadata.Find("labels").Find("endpointslice.kubernetes.io/skip-mirror").String() != "true" &&
         !metadata.Find("annotations").Find("control-plane.alpha.kubernetes.io/leader");
}

}  // namespace

ServiceSpec ReadService(Node document, Report& report) {
  const Node spec = document.Find("spec");
  const FieldPath root, spec_path(root, "spec"), ports_path(spec_path, "ports");
  ServiceSpec service;
  service.type = spec.Find("type").String("ClusterIP");
  if (service.type != "ClusterIP" && service.type != "NodePort" && service.type != "LoadBalancer" &&
      service.type != "ExternalName") {
    report.Error(
        "unknown-value", spec.Find("type"), FieldPath(spec_path, "type"),
        StrCat("unknown type ", service.type, " (known: ClusterIP, NodePort, LoadBalancer, ExternalName)"));
  }
  service.cluster_ip = spec.Find("clusterIP").String();
  service.cluster_ips = Strings(spec.Find("clusterIPs"));
  FillClusterIps(service);
  service.external_ips = Strings(spec.Find("externalIPs"));
  service.ip_families = Strings(spec.Find("ipFamilies"));
  service.external_name = spec.Find("externalName").String();
  service.selector = Labels(spec.Find("selector"));
  const Node ports = spec.Find("ports");
  service.ports.reserve(ports.size());
  size_t index = 0;
  for (Node port : ports.elements()) {
    service.ports.push_back(ReadServicePort(port, FieldPath(ports_path, index++), report));
  }
  ReadPolicies(spec, service);
  service.load_balancer_ip = spec.Find("loadBalancerIP").String();
  for (Node ingress : document.Find("status").Find("loadBalancer").Find("ingress").elements()) {
    service.load_balancer_ingress.push_back(
        {std::string(ingress.Find("ip").String()), std::string(ingress.Find("hostname").String())});
  }
  return service;
}

EndpointSliceSpec ReadEndpointSlice(Node document, Report& report) {
  const FieldPath root, ports_path(root, "ports");
  EndpointSliceSpec slice;
  const Node type = document.Find("addressType");
  slice.address_type = type.String("IPv4");
  if (slice.address_type != "IPv4" && slice.address_type != "IPv6" && slice.address_type != "FQDN") {
    report.Error("unknown-value", type, FieldPath(root, "addressType"),
                 StrCat("unknown type ", slice.address_type, " (known: IPv4, IPv6, FQDN)"));
  }
  const Node endpoints = document.Find("endpoints");
  slice.endpoints.reserve(endpoints.size());
  for (Node endpoint : endpoints.elements()) slice.endpoints.push_back(ReadEndpoint(endpoint));
  slice.ports = ReadSlicePorts(document.Find("ports"), ports_path, report);
  return slice;
}

EndpointSliceSpec ReadEndpoints(Node document, Report& report) {
  const FieldPath root, subsets_path(root, "subsets");
  EndpointSliceSpec mirror;
  mirror.mirror = true;
  if (!IsMirrored(document.Find("metadata"))) return mirror;
  size_t index = 0;
  for (Node subset : document.Find("subsets").elements()) {
    const FieldPath path(subsets_path, index++), ports_path(path, "ports");
    const std::vector<SlicePort> ports = ReadSlicePorts(subset.Find("ports"), ports_path, report);
    AppendAddresses(subset.Find("addresses"), true, ports, mirror);
    AppendAddresses(subset.Find("notReadyAddresses"), false, ports, mirror);
  }
  return mirror;
}

}  // namespace fairlead::config
