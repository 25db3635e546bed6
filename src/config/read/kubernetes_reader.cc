#include "config/read/kubernetes_reader.h"

#include <string>
#include <utility>

#include "base/base64.h"
#include "config/content_hash.h"
#include "config/endpoints.h"

namespace fairlead::config {
namespace {

template <typename Spec>
Payload Make(Spec spec) {
  const Hash128 hash = ContentHash().Add(spec).value();
  return {std::make_shared<const Spec>(std::move(spec)), hash};
}

void ReadContainerPorts(Node container, PodSpec& pod) {
  for (Node node : container.Find("ports").elements()) {
    ContainerPortSpec port;
    port.name = node.Find("name").String();
    port.container_port = static_cast<int>(node.Find("containerPort").Int().value_or(0));
    port.protocol = node.Find("protocol").String("TCP");
    pod.ports.push_back(std::move(port));
  }
}

// Of the containers first, then of the init containers that stay (Kubernetes' own sidecars): a name that is
// there twice means the first one.
void ReadPorts(Node spec, PodSpec& pod) {
  for (Node container : spec.Find("containers").elements()) {
    pod.has_containers = true;
    ReadContainerPorts(container, pod);
  }
  for (Node container : spec.Find("initContainers").elements()) {
    if (container.Find("restartPolicy").String() == "Always") ReadContainerPorts(container, pod);
  }
}

NodeSpec ReadNode(Node document) {
  NodeSpec spec;
  for (Node address : document.Find("status").Find("addresses").elements()) {
    spec.addresses.push_back(
        {std::string(address.Find("type").String()), std::string(address.Find("address").String())});
  }
  spec.kubelet_version = document.Find("status").Find("nodeInfo").Find("kubeletVersion").String();
  return spec;
}

std::map<std::string, std::string> Texts(Node mapping) {
  std::map<std::string, std::string> texts;
  for (const Node::Entry& entry : mapping.entries()) texts.emplace(entry.key, entry.value.String());
  return texts;
}

// The values are base64, which CheckKubernetes has seen to.
std::map<std::string, std::string> Bytes(Node mapping) {
  std::map<std::string, std::string> bytes;
  for (const Node::Entry& entry : mapping.entries()) {
    bytes.emplace(entry.key, DecodeBase64(entry.value.String()).value_or(""));
  }
  return bytes;
}

SecretSpec ReadSecret(Node document) {
  SecretSpec secret;
  secret.type = document.Find("type").String("Opaque");
  secret.data = Bytes(document.Find("data"));
  for (auto& [key, text] : Texts(document.Find("stringData"))) secret.data[key] = text;
  return secret;
}

ServiceImportSpec ReadServiceImport(Node document, Report& report) {
  ServiceImportSpec spec;
  const Node ips = document.Find("spec").Find("ips");
  const FieldPath root, path(root, "spec"), field(path, "ips");
  if (!ips.IsNull() && !ips.IsSequence())
    report.Error("wrong-type", ips, field, "expected a list of addresses");
  for (const Node ip : ips.elements()) spec.ips.emplace_back(ip.String());
  return spec;
}

ConfigMapSpec ReadConfigMap(Node document) {
  return {Texts(document.Find("data")), Bytes(document.Find("binaryData"))};
}

}  // namespace

PodSpec ReadPod(Node document) {
  const Node spec = document.Find("spec"), status = document.Find("status");
  PodSpec pod;
  pod.service_account = spec.Find("serviceAccountName").String(spec.Find("serviceAccount").String());
  if (pod.service_account.empty()) pod.service_account = "default";
  pod.node_name = spec.Find("nodeName").String();
  pod.hostname = spec.Find("hostname").String();
  pod.subdomain = spec.Find("subdomain").String();
  pod.host_network = spec.Find("hostNetwork").Bool();
  ReadPorts(spec, pod);
  pod.phase = status.Find("phase").String();
  for (Node condition : status.Find("conditions").elements()) {
    if (condition.Find("type").String() == "Ready") pod.ready = condition.Find("status").String() == "True";
  }
  pod.pod_ip = status.Find("podIP").String();
  for (Node ip : status.Find("podIPs").elements()) pod.pod_ips.emplace_back(ip.Find("ip").String());
  if (pod.pod_ips.empty() && !pod.pod_ip.empty()) pod.pod_ips = {pod.pod_ip};
  if (pod.pod_ip.empty() && !pod.pod_ips.empty()) pod.pod_ip = pod.pod_ips.front();
  return pod;
}

Payload ReadKubernetes(const KindInfo& kind, Node document, Report& report) {
  if (IsEndpoints(kind)) return Make(ReadEndpoints(document, report));
  switch (kind.kind) {
    case Kind::kService:
      return Make(ReadService(document, report));
    case Kind::kEndpointSlice:
      return Make(ReadEndpointSlice(document, report));
    case Kind::kPod:
      return Make(ReadPod(document));
    case Kind::kNode:
      return Make(ReadNode(document));
    case Kind::kNamespace:
      return Make(NamespaceSpec{});
    case Kind::kSecret:
      return Make(ReadSecret(document));
    case Kind::kConfigMap:
      return Make(ReadConfigMap(document));
    case Kind::kServiceAccount:
      return Make(ServiceAccountSpec{});
    case Kind::kServiceExport:
      return Make(ServiceExportSpec{});
    case Kind::kServiceImport:
      return Make(ReadServiceImport(document, report));
    default:
      return {};
  }
}

}  // namespace fairlead::config
