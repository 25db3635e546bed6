#include <algorithm>
#include <array>
#include <utility>

#include "base/strings.h"
#include "config/read/yaml.h"
#include "simulate/made_up.h"

namespace fairlead::simulate {
namespace {

using config::Node;

constexpr std::array<std::string_view, 6> kKinds = {"Deployment", "StatefulSet", "DaemonSet",
                                                    "ReplicaSet", "Job",         "CronJob"};

LabelMap ReadMap(Node node) {
  LabelMap map;
  for (const Node::Entry& entry : node.entries())
    map[std::string(entry.key)] = std::string(entry.value.text());
  return map;
}

config::PodSpec ReadPod(Node spec) {
  config::PodSpec pod;
  if (const std::string_view account = spec.Find("serviceAccountName").String(); !account.empty())
    pod.service_account = account;
  pod.hostname = spec.Find("hostname").String();
  pod.subdomain = spec.Find("subdomain").String();
  pod.host_network = spec.Find("hostNetwork").Bool();
  for (const Node container : spec.Find("containers").elements()) {
    pod.has_containers = true;
    for (const Node port : container.Find("ports").elements()) {
      config::ContainerPortSpec read;
      read.name = port.Find("name").String();
      read.container_port = static_cast<int>(port.Find("containerPort").Int().value_or(0));
      read.protocol = port.Find("protocol").String("TCP");
      pod.ports.push_back(std::move(read));
    }
  }
  return pod;
}

void ReadDocument(Node document, const std::string& file, std::vector<WorkloadTemplate>* out) {
  const std::string_view kind = document.Find("kind").String();
  if (kind == "List") {
    for (const Node item : document.Find("items").elements()) ReadDocument(item, file, out);
    return;
  }
  if (std::find(kKinds.begin(), kKinds.end(), kind) == kKinds.end()) return;
  Node spec = document.Find("spec");
  if (kind == "CronJob") spec = spec.Find("jobTemplate").Find("spec");
  const Node pod = spec.Find("template");
  const Node metadata = document.Find("metadata");
  WorkloadTemplate one;
  one.kind = kind;
  one.name = metadata.Find("name").String();
  one.ns = metadata.Find("namespace").String("default");
  if (one.name.empty() || !pod.IsMapping()) return;
  one.file = file;
  one.line = document.line();
  one.replicas = static_cast<int>(spec.Find("replicas").Int().value_or(1));
  one.labels = ReadMap(pod.Find("metadata").Find("labels"));
  one.annotations = ReadMap(pod.Find("metadata").Find("annotations"));
  one.pod = ReadPod(pod.Find("spec"));
  out->push_back(std::move(one));
}

}  // namespace

std::string ToText(const WorkloadTemplate& one) {
  return StrCat(one.kind, " ", one.ns, "/", one.name, ", ", one.file, ":", one.line);
}

std::vector<WorkloadTemplate> ReadTemplates(std::string_view text, const std::string& file) {
  std::vector<WorkloadTemplate> templates;
  config::YamlStream stream(text);
  for (auto step = stream.Next(); step != config::YamlStream::Step::kEnd; step = stream.Next()) {
    if (step == config::YamlStream::Step::kDocument) ReadDocument(stream.root(), file, &templates);
  }
  return templates;
}

}  // namespace fairlead::simulate
