#include "injection/gateway_templates.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "absl/strings/escaping.h"
#include "base/json.h"
#include "base/strings.h"
#include "injection/annotations.h"
#include "injection/go_text.h"
#include "injection/strategic_merge.h"
#include "injection/typed_json.h"
#include "istio/mesh/v1alpha1/config.pb.h"

namespace fairlead::injection {
namespace {

constexpr char kGatewayName[] = "gateway.networking.k8s.io/gateway-name";

// A kind that overlays can change, by their key in a ConfigMap.
struct OverlaidKind {
  std::string_view kind, key, type;
  bool only_with_overlay = false;
};
constexpr OverlaidKind kOverlaid[] = {
    {"Deployment", "deployment", "apps.Deployment"},
    {"HorizontalPodAutoscaler", "horizontalPodAutoscaler", "autoscaling.HorizontalPodAutoscaler", true},
    {"PodDisruptionBudget", "podDisruptionBudget", "policy.PodDisruptionBudget", true},
    {"Service", "service", "core.Service"},
    {"ServiceAccount", "serviceAccount", "core.ServiceAccount"},
};

// Of an object's metadata what no overlay may change.
constexpr const char* kFixed[] = {"name",
                                  "generateName",
                                  "namespace",
                                  "uid",
                                  "resourceVersion",
                                  "generation",
                                  "creationTimestamp",
                                  "deletionTimestamp",
                                  "deletionGracePeriodSeconds",
                                  "ownerReferences",
                                  "finalizers"};

absl::Status Wrong(std::string text) { return absl::InvalidArgumentError(text); }

absl::Status CheckKeys(const GatewayQuestion& question) {
  for (const auto& overlay : question.overlays) {
    for (const auto& [key, text] : overlay) {
      const auto is_key = [&key = key](const OverlaidKind& one) { return one.key == key; };
      if (std::any_of(std::begin(kOverlaid), std::end(kOverlaid), is_key)) continue;
      std::vector<std::string_view> keys;
      for (const OverlaidKind& one : kOverlaid) keys.push_back(one.key);
      return Wrong(StrCat("unsupported overlay ", GoQuote(key), " (supported: [", Join(keys, " "), "])"));
    }
  }
  return absl::OkStatus();
}

// The overlays of all ConfigMaps in one row: the program reads their YAML along.
std::vector<std::string> TextsOf(const GatewayQuestion& question) {
  std::vector<std::string> texts;
  for (const auto& overlay : question.overlays) {
    for (const auto& [key, text] : overlay) texts.push_back(text);
  }
  return texts;
}

}  // namespace

std::string GatewayRequest(const GatewayQuestion& question, const InjectorConfiguration& configuration,
                           const PodSurroundings& surroundings) {
  const Json& metadata = Member(question.gateway, "metadata");
  const auto proxy = ProxyConfigOf(configuration.mesh->default_config(), configuration.mesh->root_namespace(),
                                   surroundings.proxy_configs, TextOf(metadata, "namespace"),
                                   {{kGatewayName, TextOf(metadata, "name")}}, nullptr);
  const Json& type = Member(Member(metadata, "annotations"), kProxyImageType);
  const auto* image_type = type.get_ptr<const std::string*>();
  const ProxyIds ids = ProxyIdsOf(question.namespace_annotations);
  Json gateway = {
      {"number", configuration.set->number},
      {"template", question.template_name},
      {"gateway", question.gateway},
      {"gatewayClass", question.gateway_class},
      {"deploymentName", question.deployment_name},
      {"serviceAccount", question.service_account},
      {"ports", question.ports},
      {"serviceType", question.service_type},
      {"clusterID", question.cluster},
      {"kubeVersion", question.kubernetes_version},
      {"revision", question.revision},
      {"nativeSidecars", surroundings.native != NativeSidecars::kNever},
      {"proxyUID", ids.user},
      {"proxyGID", ids.group},
      {"compliancePolicy", surroundings.compliance_policy},
      {"infrastructureLabels", question.labels},
      {"infrastructureAnnotations", question.annotations},
      {"controllerLabel", question.controller_label},
      {"proxyImage", ProxyImage(configuration.values, proxy.image().image_type(), image_type)},
      {"proxyConfig", absl::Base64Escape(proxy.SerializeAsString())},
      {"overlays", TextsOf(question)},
  };
  return JsonText(Json{{"gateway", std::move(gateway)}});
}

namespace {

bool SameMetadata(const Json& before, const Json& after) {
  const Json& a = Member(before, "metadata");
  const Json& b = Member(after, "metadata");
  const auto is_same = [&](const char* name) { return Member(a, name) == Member(b, name); };
  const auto is_empty = [](const Json& list) { return list.is_null() || list.empty(); };
  return std::all_of(std::begin(kFixed), std::end(kFixed), is_same) && is_empty(Member(a, "managedFields")) &&
         is_empty(Member(b, "managedFields"));
}

// The object with its overlays; null where it is only there with one.
absl::StatusOr<Json> Overlaid(Json object, const GatewayQuestion& question, const Json& overlays) {
  const std::string kind = TextOf(object, "kind");
  const auto* const found = std::find_if(std::begin(kOverlaid), std::end(kOverlaid),
                                         [&](const OverlaidKind& one) { return one.kind == kind; });
  if (found == std::end(kOverlaid)) return Wrong(StrCat("unknown overlay kind ", GoQuote(kind)));
  bool applied = false;
  const Json before = object;
  size_t at = 0;
  for (const auto& overlay : question.overlays) {
    for (const auto& [key, text] : overlay) {
      const Json& patch = at < overlays.size() ? overlays[at] : Member(overlays, "");
      ++at;
      if (key != found->key) continue;
      absl::StatusOr<Json> merged = StrategicMerge(std::move(object), patch, *FindGoStruct(found->type));
      if (!merged.ok())
        return Wrong(StrCat("strategic merge patch failed: ", FromAbsl(merged.status().message())));
      object = *std::move(merged);
      applied = true;
    }
  }
  if (!applied && found->only_with_overlay) return Json();
  if (!SameMetadata(before, object)) return Wrong("illegal metadata change");
  return object;
}

}  // namespace

absl::StatusOr<std::vector<Json>> RenderGateway(const GatewayQuestion& question, const std::string& request,
                                                const InjectorConfiguration& configuration,
                                                TemplateEngine& engine) {
  if (absl::Status status = CheckKeys(question); !status.ok()) return status;
  const absl::StatusOr<Json> answer = engine.Run(configuration.set, {question.template_name}, request);
  if (!answer.ok()) return answer.status();
  if (const Json& error = Member(*answer, "error"); !error.is_null()) return Wrong(TextOf(error));
  std::vector<Json> objects;
  for (const Json& object : Member(*answer, "objects")) {
    absl::StatusOr<Json> overlaid = Overlaid(object, question, Member(*answer, "overlays"));
    if (!overlaid.ok()) return overlaid.status();
    if (!overlaid->is_null()) objects.push_back(*std::move(overlaid));
  }
  return objects;
}

}  // namespace fairlead::injection
