#include "injection/workload.h"

#include <array>
#include <memory>
#include <string_view>
#include <utility>

#include "base/strings.h"
#include "injection/annotations.h"
#include "injection/containers.h"
#include "injection/go_text.h"
#include "injection/pod_injection.h"
#include "injection/policy.h"
#include "injection/typed_json.h"
#include "istio/mesh/v1alpha1/config.pb.h"

namespace fairlead::injection {
namespace {

// Where a kind has the metadata and the spec of its pods.
struct WorkloadKind {
  std::string_view api_version, kind, type;
  std::vector<std::string_view> metadata, spec;
};

const WorkloadKind* FindKind(const Json& document) {
  using Path = std::vector<std::string_view>;
  static const auto& kinds = *new std::vector<WorkloadKind>([] {
    const Path metadata = {"spec", "template", "metadata"}, spec = {"spec", "template", "spec"};
    std::vector<WorkloadKind> all;
    all.push_back({"v1", "Pod", "core.Pod", {"metadata"}, {"spec"}});
    all.push_back({"v1", "ReplicationController", "core.ReplicationController", metadata, spec});
    for (std::string_view kind : {"Deployment", "StatefulSet", "DaemonSet", "ReplicaSet"})
      all.push_back({"apps/v1", kind, "", metadata, spec});
    // OpenShift's own is no kind of Kubernetes: only its pods are read as types.
    all.push_back({"apps.openshift.io/v1", "DeploymentConfig", "none", metadata, spec});
    all.push_back({"batch/v1", "Job", "batch.Job", metadata, spec});
    // The metadata is that of its Jobs, as in Istio.
    all.push_back({"batch/v1",
                   "CronJob",
                   "batch.CronJob",
                   {"spec", "jobTemplate", "metadata"},
                   {"spec", "jobTemplate", "spec", "template", "spec"}});
    return all;
  }());
  for (const WorkloadKind& kind : kinds) {
    if (TextOf(document, "apiVersion") == kind.api_version && TextOf(document, "kind") == kind.kind)
      return &kind;
  }
  return nullptr;
}

// Null: it stays as it is written.
const GoStruct* TypeOf(const WorkloadKind& kind) {
  return FindGoStruct(kind.type.empty() ? StrCat("apps.", kind.kind) : std::string(kind.type));
}

Json& At(Json* document, const std::vector<std::string_view>& path) {
  Json* at = document;
  for (std::string_view name : path) at = &(*at)[std::string(name)];
  return *at;
}

bool IsList(const Json& document) {
  return TextOf(document, "apiVersion") == "v1" && TextOf(document, "kind") == "List";
}

// ===> Skipping injection because Deployment "market/shop" …
std::string Skipped(const Owner& owner, const Json& metadata, std::string_view why) {
  const std::string own = TextOf(metadata, "name");
  const std::string name = own.empty() ? owner.name : own;
  return StrCat("===> Skipping injection because ", owner.kind, " ",
                GoQuote(owner.ns.empty() ? name : StrCat(owner.ns, "/", name)), " ", why, "\n");
}

// The configuration, with the mesh's ProxyConfig changed by the pod's annotation.
absl::StatusOr<InjectorConfigurationPtr> ConfigurationFor(const Json& pod, const WorkloadInjection& injection,
                                                          TemplateEngine& engine) {
  const std::string* annotation = FindAnnotation(pod, kProxyConfig);
  if (annotation == nullptr) return injection.configuration;
  auto mesh = std::make_shared<istio::mesh::v1alpha1::MeshConfig>(*injection.mesh);
  if (absl::Status status = ApplyProxyConfig(*annotation, mesh->mutable_default_config()); !status.ok()) {
    return absl::InvalidArgumentError(StrCat("could not parse proxy config: ", FromAbsl(status.message())));
  }
  return LoadConfiguration(injection.texts, std::move(mesh), injection.environment, engine);
}

bool Refuses(const Json& pod) {
  InjectorConfiguration enabled;
  enabled.policy = "enabled";
  return !WantsInjection(pod, enabled);
}

absl::StatusOr<Json> InjectTemplate(Json pod, const Owner& owner, const WorkloadInjection& injection,
                                    TemplateEngine& engine) {
  const auto configuration = ConfigurationFor(pod, injection, engine);
  if (!configuration.ok()) return configuration.status();
  PodInjection one;
  one.pod = std::move(pod);
  one.owner = owner;
  one.configuration = *configuration;
  one.default_templates = {"sidecar"};
  one.proxy = (*configuration)->mesh->default_config();
  one.revision = injection.revision;
  one.native = injection.native;
  return InjectPod(one, engine);
}

absl::StatusOr<WorkloadAnswer> InjectList(const Json& list, const WorkloadInjection& injection,
                                          TemplateEngine& engine) {
  WorkloadAnswer answer{list, {}};
  if (!Member(list, "items").is_array()) return answer;
  for (Json& item : answer.object["items"]) {
    if (!HasPods(item)) continue;
    absl::StatusOr<WorkloadAnswer> one = InjectWorkload(item, injection, engine);
    if (!one.ok()) return one;
    item = std::move(one->object);
    answer.warnings.insert(answer.warnings.end(), one->warnings.begin(), one->warnings.end());
  }
  return answer;
}

}  // namespace

bool HasPods(const Json& document) { return IsList(document) || FindKind(document) != nullptr; }

absl::StatusOr<WorkloadAnswer> InjectWorkload(const Json& document, const WorkloadInjection& injection,
                                              TemplateEngine& engine) {
  if (IsList(document)) return InjectList(document, injection, engine);
  const WorkloadKind& kind = *FindKind(document);
  const GoStruct* type = TypeOf(kind);
  absl::StatusOr<Json> workload = type == nullptr ? document : ReadTyped(document, *type);
  if (!workload.ok()) return workload.status();
  WorkloadAnswer answer{*std::move(workload), {}};
  Json pod = Json::object();
  pod["metadata"] = At(&answer.object, kind.metadata);
  pod["spec"] = At(&answer.object, kind.spec);
  absl::StatusOr<Json> read = ReadTyped(pod, PodType());
  if (!read.ok()) return read.status();
  Owner owner;
  if (kind.kind == "Pod") {
    owner = OwnerOf(*read);
  } else {
    const Json& metadata = Member(answer.object, "metadata");
    owner = {std::string(kind.api_version), std::string(kind.kind), TextOf(metadata, "name"),
             TextOf(metadata, "namespace")};
  }
  const Json& metadata = Member(*read, "metadata");
  const bool on_host = Member(*read, "spec", "hostNetwork") == true;
  if (on_host || Refuses(*read)) {
    answer.warnings.push_back(
        Skipped(owner, metadata, on_host ? "has host networking enabled" : "has sidecar injection disabled"));
    return answer;
  }
  absl::StatusOr<Json> injected = InjectTemplate(*std::move(read), owner, injection, engine);
  if (!injected.ok()) return injected.status();
  At(&answer.object, kind.metadata) = Member(*injected, "metadata");
  At(&answer.object, kind.spec) = Member(*injected, "spec");
  return answer;
}

}  // namespace fairlead::injection
