#include "injection/pod_injection.h"

#include <algorithm>
#include <utility>

#include "absl/strings/escaping.h"
#include "base/json.h"
#include "base/strings.h"
#include "injection/afterwards.h"
#include "injection/annotation_checks.h"
#include "injection/annotations.h"
#include "injection/containers.h"
#include "injection/go_text.h"
#include "injection/own_containers.h"
#include "injection/strategic_merge.h"
#include "injection/typed_json.h"
#include "istio/mesh/v1alpha1/config.pb.h"

namespace fairlead::injection {
namespace {

absl::Status Prefixed(std::string_view prefix, const absl::Status& status) {
  return absl::Status(status.code(), StrCat(prefix, FromAbsl(status.message())));
}

// The names of the templates that the pod or the configuration asks for, aliases resolved once.
std::vector<std::string> Selected(const PodInjection& injection) {
  std::vector<std::string> asked = injection.default_templates;
  if (const std::string* annotation = FindAnnotation(injection.pod, kTemplates)) {
    asked.clear();
    for (std::string_view name : Split(*annotation, ',')) asked.emplace_back(Trim(name));
  }
  std::vector<std::string> names;
  for (const std::string& name : asked) {
    const auto alias = injection.aliases.find(name);
    if (alias == injection.aliases.end()) {
      names.push_back(name);
    } else {
      names.insert(names.end(), alias->second.begin(), alias->second.end());
    }
  }
  return names;
}

std::string_view InboundMode(const istio::mesh::v1alpha1::MeshConfig& mesh) {
  using Policy = istio::mesh::v1alpha1::MeshConfig::InboundTrafficPolicy;
  return mesh.inbound_traffic_policy().mode() == Policy::LOCALHOST ? "localhost" : "passthrough";
}

std::string RunRequest(const PodInjection& injection, const Json& stripped,
                       const std::vector<std::string>& names) {
  const InjectorConfiguration& configuration = *injection.configuration;
  const std::string* image_type = FindAnnotation(stripped, kProxyImageType);
  Json run = {
      {"number", configuration.set->number},
      {"templates", names},
      {"pod", stripped},
      {"type", {{"apiVersion", injection.owner.api_version}, {"kind", injection.owner.kind}}},
      {"owner", {{"name", injection.owner.name}, {"namespace", injection.owner.ns}}},
      {"proxyConfig", absl::Base64Escape(injection.proxy.SerializeAsString())},
      {"revision", injection.revision},
      {"nativeSidecars", injection.native},
      {"proxyImage", ProxyImage(configuration.values, injection.proxy.image().image_type(), image_type)},
      {"proxyInitImage", ProxyInitImage(configuration.values, image_type)},
      {"proxyUID", injection.ids.user},
      {"proxyGID", injection.ids.group},
      {"inboundTrafficPolicyMode", InboundMode(*configuration.mesh)},
      {"compliancePolicy", injection.compliance_policy},
  };
  return JsonText(Json{{"run", std::move(run)}});
}

// The pod with the templates merged, and what they give alone.
struct Merged {
  Json pod, given;
};

// A sidecar that the pod has among its containers goes where the template has it.
void MakeNative(const PodInjection& injection, Merged* merged) {
  bool native = injection.native;
  if (const std::string* said = FindAnnotation(merged->pod, kNativeSidecar))
    native = *said == "true" || (*said != "false" && native);
  const Json* own = FindNamed(Member(merged->pod, "spec", kContainers), kProxy);
  if (!native || own == nullptr ||
      FindNamed(Member(merged->given, "spec", kInitContainers), kProxy) == nullptr)
    return;
  Json moved = *own;
  Json& containers = merged->pod["spec"][kContainers];
  containers.erase(static_cast<size_t>(own - &containers[0]));
  merged->pod["spec"][kInitContainers].push_back(std::move(moved));
}

absl::Status MergeOne(const PodInjection& injection, const Json& rendered, Merged* merged) {
  if (const Json& error = Member(rendered, "error"); !error.is_null())
    return absl::InvalidArgumentError(TextOf(error));
  absl::StatusOr<Json> given = absl::InvalidArgumentError("strategic merge: invalid JSON document");
  if (Member(rendered, "noMapping") != true)
    given = Overlay(merged->given, Member(rendered, "overlay"), PodType());
  if (!given.ok()) return Prefixed("failed applying injection overlay: ", given.status());
  merged->given = *std::move(given);
  MakeNative(injection, merged);
  absl::StatusOr<Json> pod = Overlay(merged->pod, Member(rendered, "overlay"), PodType());
  if (!pod.ok())
    return Prefixed("failed parsing generated injected YAML (check Istio sidecar injector configuration): ",
                    pod.status());
  merged->pod = *std::move(pod);
  return absl::OkStatus();
}

absl::Status NoTemplate(const std::string& name, const std::vector<std::string>& known) {
  return absl::InvalidArgumentError(
      StrCat("requested template ", GoQuote(name), " not found; have ", Join(known, ", ")));
}

absl::StatusOr<Merged> RunTemplates(const PodInjection& injection, TemplateEngine& engine) {
  if (absl::Status status = CheckAnnotations(Member(injection.pod, "metadata", "annotations")); !status.ok())
    return status;
  const absl::StatusOr<Json> stripped =
      WithoutInjected(injection.pod, injection.configuration->mesh->default_config().status_port());
  if (!stripped.ok()) return stripped.status();
  const std::vector<std::string>& known = injection.configuration->templates;
  std::vector<std::string> names = Selected(injection);
  const auto unknown = std::find_if(names.begin(), names.end(), [&](const std::string& name) {
    return !std::binary_search(known.begin(), known.end(), name);
  });
  const std::optional<std::string> missing = unknown == names.end() ? std::nullopt : std::optional(*unknown);
  names.erase(unknown, names.end());
  Merged merged{injection.pod, *ReadTyped(Json::object(), PodType())};
  if (!names.empty()) {
    const absl::StatusOr<Json> answer =
        engine.Run(injection.configuration->set, names, RunRequest(injection, *stripped, names));
    if (!answer.ok()) return answer.status();
    for (const Json& rendered : Member(*answer, "rendered")) {
      if (absl::Status status = MergeOne(injection, rendered, &merged); !status.ok()) return status;
    }
  }
  if (missing) return NoTemplate(*missing, known);
  return merged;
}

}  // namespace

Place PlaceOf(const Json& pod, const Values& values, const std::map<std::string, std::string>& variables) {
  Place place{values.cluster, values.network};
  const auto take = [&](const char* name, std::string* out) {
    const auto it = variables.find(name);
    if (it != variables.end() && !it->second.empty()) *out = it->second;
  };
  take(kClusterVariable, &place.cluster);
  take(kNetworkVariable, &place.network);
  const Json& label = Member(Member(pod, "metadata", "labels"), kNetworkLabel);
  if (label.is_string()) place.network = TextOf(label);
  return place;
}

absl::StatusOr<Json> InjectPod(const PodInjection& injection, TemplateEngine& engine) {
  absl::StatusOr<Merged> merged = RunTemplates(injection, engine);
  if (!merged.ok()) return Prefixed("failed to run injection template: ", merged.status());
  absl::StatusOr<Json> pod = ReapplyOwnContainers(std::move(merged->pod), injection.pod, merged->given,
                                                  injection.proxy.interception_mode() == ProxyConfig::TPROXY);
  if (!pod.ok()) return Prefixed("failed to re apply container: ", pod.status());
  if (absl::Status status = FinishPod(injection, merged->given, &*pod); !status.ok())
    return Prefixed("failed to process pod: ", status);
  return ReadTyped(*pod, PodType());
}

}  // namespace fairlead::injection
