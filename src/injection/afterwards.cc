#include "injection/afterwards.h"

#include <string>
#include <utility>

#include "base/json.h"
#include "injection/annotations.h"
#include "injection/containers.h"
#include "injection/probes.h"
#include "injection/prometheus.h"
#include "injection/typed_json.h"
#include "istio/mesh/v1alpha1/config.pb.h"

namespace fairlead::injection {
namespace {

std::map<std::string, std::string> VariablesOf(const PodInjection& injection) {
  std::map<std::string, std::string> variables = injection.variables;
  const Place place = PlaceOf(injection.pod, injection.configuration->values, injection.variables);
  if (!place.cluster.empty()) variables[kClusterVariable] = place.cluster;
  if (!place.network.empty()) variables[kNetworkVariable] = place.network;
  return variables;
}

void SetVariables(const std::map<std::string, std::string>& variables, Json* pod) {
  Json* proxy = FindProxy(pod);
  if (proxy == nullptr || variables.empty()) return;
  Json env = Json::array();
  for (const Json& variable : Member(*proxy, "env")) {
    if (!variables.contains(TextOf(variable, "name"))) env.push_back(variable);
  }
  for (const auto& [name, value] : variables) {
    Json variable = {{"name", name}};
    if (!value.empty()) variable["value"] = value;
    env.push_back(std::move(variable));
  }
  (*proxy)["env"] = std::move(env);
}

// What this injection gave, for the next one. A list without names is null, as Go writes it.
std::string StatusText(const Json& given, const std::string& revision) {
  nlohmann::ordered_json status = nlohmann::ordered_json::object();
  for (const char* list : {kInitContainers, kContainers, "volumes", "imagePullSecrets"}) {
    status[list] = nullptr;
    for (const Json& one : Member(given, "spec", list)) status[list].push_back(TextOf(one, "name"));
  }
  status["revision"] = revision.empty() ? "default" : revision;
  return JsonText(status);
}

bool HoldsApplication(const PodInjection& injection) {
  ProxyConfig proxy = injection.configuration->mesh->default_config();
  if (const std::string* annotation = FindAnnotation(injection.pod, kProxyConfig))
    if (!ApplyProxyConfig(*annotation, &proxy).ok()) proxy = injection.configuration->mesh->default_config();
  return proxy.hold_application_until_proxy_starts().value() ||
         injection.configuration->values.hold_application;
}

void Arrange(bool proxy_first, Json* pod) {
  MoveNamed(pod, kContainers, kProxy, proxy_first ? End::kFirst : End::kLast);
  if (FindNamed(Member(*pod, "spec", kInitContainers), kProxy) != nullptr) {
    for (const char* name : {kCoreDump, kProxy, kValidation, kInit})
      MoveNamed(pod, kInitContainers, name, End::kFirst);
    return;
  }
  MoveNamed(pod, kInitContainers, kValidation, End::kFirst);
  // The traffic of other init containers would be caught before there is a proxy.
  MoveNamed(pod, kInitContainers, kInit, End::kLast);
  MoveNamed(pod, kInitContainers, kCoreDump, End::kLast);
}

}  // namespace

absl::Status FinishPod(const PodInjection& injection, const Json& given, Json* pod) {
  const istio::mesh::v1alpha1::MeshConfig& mesh = *injection.configuration->mesh;
  const int status_port = mesh.default_config().status_port();
  Json& metadata = (*pod)["metadata"];
  if (!metadata.contains("annotations")) metadata["annotations"] = Json::object();
  const auto variables = VariablesOf(injection);
  SetVariables(variables, pod);
  const bool merges = !mesh.has_enable_prometheus_merge() || mesh.enable_prometheus_merge().value();
  if (absl::Status status = MergePrometheus(merges, status_port, pod); !status.ok()) return status;
  SetSecurePort(pod);
  RewriteProbes(injection.configuration->values.rewrite_probes, status_port, pod);
  if (const auto network = variables.find(kNetworkVariable); network != variables.end())
    metadata["labels"][kNetworkLabel] = network->second;
  metadata["annotations"][kStatus] = StatusText(given, injection.revision);
  for (const auto& [name, value] : injection.injected_annotations) metadata["annotations"][name] = value;
  Arrange(HoldsApplication(injection), pod);
  return absl::OkStatus();
}

}  // namespace fairlead::injection
