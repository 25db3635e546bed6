#include "injection/review.h"

#include <utility>

#include "absl/strings/escaping.h"
#include "base/json.h"
#include "base/strings.h"
#include "config/read/kubernetes_schema.h"
#include "injection/annotations.h"
#include "injection/containers.h"
#include "injection/go_text.h"
#include "injection/json_patch.h"
#include "injection/pod_injection.h"
#include "injection/policy.h"
#include "injection/typed_json.h"
#include "istio/mesh/v1alpha1/config.pb.h"

namespace fairlead::injection {
namespace {

PodAnswer Refused(const absl::Status& status) {
  PodAnswer answer;
  answer.error = FromAbsl(status.message());
  return answer;
}

// OpenShift gives every container of a pod one user; that of the application is not meant for the sidecar.
void ForgetGivenUser(Json* pod) {
  Json* proxy = FindProxy(pod);
  if (proxy == nullptr || !proxy->contains("securityContext")) return;
  Json proxy_user = 0, application_user = 0;
  for (const char* list : {kContainers, kInitContainers}) {
    for (const Json& container : Member(*pod, "spec", list)) {
      const Json& user = Member(container, "securityContext", "runAsUser");
      const std::string name = TextOf(container, "name");
      if (user.is_null() || name == kInit || name == kValidation) continue;
      (name == kProxy ? proxy_user : application_user) = user;
    }
  }
  if (proxy_user != application_user) return;
  (*proxy)["securityContext"].erase("runAsUser");
  (*proxy)["securityContext"].erase("runAsGroup");
}

PodInjection Prepare(Json pod, const PodQuestion& question, const InjectorConfigurationPtr& configuration,
                     const PodSurroundings& surroundings) {
  PodInjection injection;
  injection.configuration = configuration;
  injection.owner = OwnerOf(pod);
  injection.default_templates = configuration->default_templates;
  injection.aliases = configuration->aliases;
  injection.injected_annotations = configuration->injected_annotations;
  injection.revision = surroundings.revision;
  injection.compliance_policy = surroundings.compliance_policy;
  injection.variables = VariablesOfPath(question.path);
  const std::string ns = TextOf(Member(pod, "metadata"), "namespace");
  injection.proxy =
      ProxyConfigOf(configuration->mesh->default_config(), configuration->mesh->root_namespace(),
                    surroundings.proxy_configs, ns, ReadLabels(Member(pod, "metadata", "labels")),
                    FindAnnotation(pod, kProxyConfig));
  std::string cluster = PlaceOf(pod, configuration->values, injection.variables).cluster;
  if (cluster.empty()) cluster = "Kubernetes";
  injection.native = CanBeNative(surroundings, cluster, TextOf(Member(pod, "spec"), "nodeName"));
  if (surroundings.openshift) {
    if (const auto facts = surroundings.clusters.find(cluster); facts != surroundings.clusters.end()) {
      const auto annotations = facts->second.namespace_annotations.find(ns);
      if (annotations != facts->second.namespace_annotations.end())
        injection.ids = ProxyIdsOf(annotations->second);
    }
    ForgetGivenUser(&pod);
  }
  injection.pod = std::move(pod);
  return injection;
}

absl::StatusOr<Json> ReadBody(std::string_view body) {
  const std::string_view begin = Trim(body);
  if (begin.starts_with('{')) {
    if (absl::Status status = CheckGoJson(body); !status.ok())
      return absl::InvalidArgumentError(
          StrCat("couldn't get version/kind; json parse error: ", FromAbsl(status.message())));
    return ReadJson(body);
  }
  absl::StatusOr<Json> json = ReadYaml(body);
  if (!json.ok()) return absl::InvalidArgumentError(StrCat("yaml: ", FromAbsl(json.status().message())));
  return json;
}

absl::Status NoVersionOrKind(const Json& json) {
  const std::string_view kind = json.is_array()     ? "array"
                                : json.is_string()  ? "string"
                                : json.is_boolean() ? "bool"
                                                    : "number";
  return absl::InvalidArgumentError(StrCat(
      "couldn't get version/kind; json parse error: json: cannot unmarshal ", kind,
      " into Go value of type struct { APIVersion string \"json:\\\"apiVersion,omitempty\\\"\"; Kind string "
      "\"json:\\\"kind,omitempty\\\"\" }"));
}

absl::Status CheckKind(const std::string& version, const std::string& kind, std::string_view body) {
  if (kind.empty()) return absl::InvalidArgumentError(StrCat("Object 'Kind' is missing in '", body, "'"));
  if (version.empty())
    return absl::InvalidArgumentError(StrCat("Object 'apiVersion' is missing in '", body, "'"));
  if (kind == "AdmissionReview" &&
      (version == "admission.k8s.io/v1" || version == "admission.k8s.io/v1beta1"))
    return absl::OkStatus();
  if (version == "v1" && config::IsKubernetesKind(version, kind))
    return absl::InvalidArgumentError(
        StrCat("unsupported type :&TypeMeta{Kind:", kind, ",APIVersion:", version, ",}"));
  return absl::InvalidArgumentError(StrCat("no kind ", GoQuote(kind), " is registered for version ",
                                           GoQuote(version), " in scheme \"pkg/runtime/scheme.go:111\""));
}

}  // namespace

PodAnswer AnswerPod(const PodQuestion& question, const InjectorConfigurationPtr& configuration,
                    const PodSurroundings& surroundings, TemplateEngine& engine) {
  absl::StatusOr<Json> pod = ReadTyped(question.object, PodType());
  if (!pod.ok()) return Refused(pod.status());
  Json& metadata = (*pod)["metadata"];
  metadata.erase("managedFields");
  if (TextOf(metadata, "namespace").empty() && !question.ns.empty()) metadata["namespace"] = question.ns;
  PodAnswer answer;
  answer.allowed = true;
  if (!WantsInjection(*pod, *configuration)) return answer;
  const PodInjection injection = Prepare(*std::move(pod), question, configuration, surroundings);
  absl::StatusOr<Json> injected = InjectPod(injection, engine);
  if (!injected.ok()) return Refused(injected.status());
  answer.pod = *std::move(injected);
  answer.patch = MakeJsonPatch(question.object, injection.pod, answer.pod);
  return answer;
}

absl::StatusOr<Review> ReadReview(std::string_view body) {
  absl::StatusOr<Json> json = ReadBody(body);
  if (!json.ok()) return json.status();
  if (json->is_null()) *json = Json::object();
  if (!json->is_object()) return NoVersionOrKind(*json);
  Review review;
  review.api_version = TextOf(*json, "apiVersion");
  if (absl::Status status = CheckKind(review.api_version, TextOf(*json, "kind"), body); !status.ok())
    return status;
  if (Member(*json, "request").is_object()) review.request = std::move((*json)["request"]);
  return review;
}

std::string ReviewText(const Review& review, const ReviewAnswer& answer) {
  Json response = {{"uid", TextOf(review.request, "uid")}, {"allowed", answer.allowed}};
  if (!answer.allowed) response["status"] = {{"metadata", Json::object()}, {"message", answer.error}};
  if (!answer.warnings.empty()) response["warnings"] = answer.warnings;
  if (!answer.patch.is_null()) {
    response["patch"] = absl::Base64Escape(JsonText(answer.patch));
    response["patchType"] = "JSONPatch";
  }
  return JsonText(Json{
      {"apiVersion", review.api_version}, {"kind", "AdmissionReview"}, {"response", std::move(response)}});
}

std::string NoReviewText(std::string_view error) {
  Json response = {
      {"uid", ""}, {"allowed", false}, {"status", {{"metadata", Json::object()}, {"message", error}}}};
  return JsonText(Json{{"response", std::move(response)}});
}

}  // namespace fairlead::injection
