#include "injection/inject_case.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "base/interned.h"
#include "base/json.h"
#include "base/strings.h"
#include "config/read/manifests.h"
#include "config/read/yaml.h"
#include "injection/json_patch.h"
#include "injection/review.h"
#include "injection/typed_json.h"
#include "injection/webhook_choice.h"
#include "injection/workload.h"
#include "model/mesh_config.h"
#include "source/file/read_file.h"

namespace fairlead::injection {
namespace {

absl::Status Wrong(std::string_view file, std::string_view why) {
  return absl::InvalidArgumentError(StrCat(file, ": ", why));
}

// The files of a folder that is a case.
class Case {
 public:
  Case(std::string folder, TemplateEngine& engine) : folder_(std::move(folder)), engine_(engine) {}

  absl::StatusOr<std::string> Answer() {
    for (const auto step :
         {&Case::ReadRequest, &Case::ReadReviewFile, &Case::ReadMesh, &Case::ReadSurroundings}) {
      if (absl::Status status = (this->*step)(); !status.ok()) return status;
    }
    Json answer = {{"allowed", true},           {"injected", false}, {"patchType", nullptr},
                   {"warnings", Json::array()}, {"error", nullptr},  {"pod", nullptr}};
    const absl::StatusOr<bool> asked = IsAsked(&answer);
    if (!asked.ok()) return asked.status();
    if (!*asked) return JsonText(answer, 1);
    const InjectorTexts texts{TextOf(Read("injector.yaml")), TextOf(Read("values.yaml"))};
    const auto configuration = LoadConfiguration(texts, mesh_, environment_, engine_);
    if (!configuration.ok()) {
      Refuse(FromAbsl(configuration.status().message()), &answer);
    } else {
      AnswerReview(*configuration, &answer);
      if (absl::Status status = AnswerWorkload(texts, *configuration, &answer); !status.ok()) return status;
    }
    return JsonText(answer, 1);
  }

 private:
  // Null where there is no such file.
  Json Read(const char* name) const {
    const absl::StatusOr<std::string> text = source::ReadFile(StrCat(folder_, "/", name));
    return text.ok() ? Json(*text) : Json();
  }

  absl::Status ReadRequest() {
    const Json text = Read("request.json");
    absl::StatusOr<Json> request = text.is_null() ? Json::object() : ReadJson(TextOf(text));
    if (!request.ok()) return Wrong("request.json", FromAbsl(request.status().message()));
    request_ = *std::move(request);
    for (const auto& [name, value] : Member(request_, "env").items()) environment_[name] = TextOf(value);
    return absl::OkStatus();
  }

  absl::Status ReadReviewFile() {
    absl::StatusOr<Review> review = ReadReview(TextOf(Read("review.json")));
    if (!review.ok()) return Wrong("review.json", FromAbsl(review.status().message()));
    review_ = *std::move(review);
    return absl::OkStatus();
  }

  absl::Status ReadMesh() {
    const model::MeshConfigResult mesh =
        model::ParseMeshConfig(TextOf(Read("mesh.yaml")), Interned("mesh.yaml"));
    for (const config::Diagnostic& one : mesh.diagnostics) {
      if (one.severity == config::Severity::kError) return Wrong(StrCat("mesh.yaml:", one.line), one.message);
    }
    mesh_ = mesh.mesh;
    return absl::OkStatus();
  }

  absl::Status ReadSurroundings() {
    const auto native = ParseNativeSidecars(TextOf(request_, "nativeSidecars"));
    if (!native) return Wrong("request.json", "nativeSidecars is none of auto, true and false");
    surroundings_.native = *native;
    surroundings_.revision = TextOf(request_, "revision");
    surroundings_.compliance_policy = TextOf(request_, "compliancePolicy");
    surroundings_.openshift = TextOf(request_, "platform") == "openshift";
    ClusterFacts facts;
    for (const Json& node : Member(request_, "nodes"))
      facts.nodes.push_back({TextOf(node, "name"), TextOf(node, "kubeletVersion")});
    const absl::StatusOr<std::vector<Json>> namespaces = ReadDocuments(TextOf(Read("namespace.yaml")));
    if (!namespaces.ok()) return Wrong("namespace.yaml", FromAbsl(namespaces.status().message()));
    for (const Json& ns : *namespaces) {
      const Json& metadata = Member(ns, "metadata");
      namespace_labels_ = ReadLabels(Member(metadata, "labels"));
      facts.namespace_annotations[TextOf(metadata, "name")] = ReadLabels(Member(metadata, "annotations"));
    }
    const std::string cluster = TextOf(request_, "cluster");
    surroundings_.clusters[cluster.empty() ? "Kubernetes" : cluster] = std::move(facts);
    ReadProxyConfigs();
    return absl::OkStatus();
  }

  void ReadProxyConfigs() {
    const Json text = Read("proxyconfigs.yaml");
    if (text.is_null()) return;
    std::vector<config::ConfigPtr> objects =
        config::ParseManifests(TextOf(text), Interned("proxyconfigs.yaml"), config::Admission::kPassed)
            .objects;
    surroundings_.proxy_configs = SortedProxyConfigs(std::move(objects));
  }

  // Whether the API server would ask at all.
  absl::StatusOr<bool> IsAsked(Json* answer) {
    const Json text = Read("webhooks.yaml");
    if (text.is_null()) return true;
    const absl::StatusOr<std::vector<Json>> configurations = ReadDocuments(TextOf(text));
    if (!configurations.ok()) return Wrong("webhooks.yaml", FromAbsl(configurations.status().message()));
    const Json& metadata = Member(Member(review_.request, "object"), "metadata");
    namespace_labels_.try_emplace("kubernetes.io/metadata.name", TextOf(review_.request, "namespace"));
    const std::vector<std::string> names =
        WebhooksFor(*configurations, ReadLabels(Member(metadata, "labels")), namespace_labels_);
    (*answer)["selectedBy"] = names.empty() ? std::vector<std::string>{"none"} : names;
    return !names.empty();
  }

  static void Refuse(std::string_view why, Json* answer) {
    (*answer)["allowed"] = false;
    (*answer)["error"] = why;
  }

  void AnswerReview(const InjectorConfigurationPtr& configuration, Json* answer) {
    PodQuestion question;
    question.object = Member(review_.request, "object");
    question.ns = TextOf(review_.request, "namespace");
    question.path = TextOf(request_, "path");
    PodAnswer pod = AnswerPod(question, configuration, surroundings_, engine_);
    if (!pod.allowed) return Refuse(pod.error, answer);
    if (pod.patch.is_null()) return;
    (*answer)["injected"] = true;
    (*answer)["patchType"] = "JSONPatch";
    // What was sent and is not patched stays, whatever the injector made of it.
    absl::StatusOr<Json> patched = ReadTyped(Patched(question.object, pod.patch), PodType());
    if (!patched.ok()) return Refuse(FromAbsl(patched.status().message()), answer);
    (*answer)["patch"] = std::move(pod.patch);
    (*answer)["pod"] = *std::move(patched);
  }

  absl::Status AnswerWorkload(const InjectorTexts& texts, const InjectorConfigurationPtr& configuration,
                              Json* answer) {
    const Json text = Read("workload.yaml");
    if (text.is_null()) return absl::OkStatus();
    const absl::StatusOr<std::vector<Json>> documents = ReadDocuments(TextOf(text));
    if (!documents.ok()) return Wrong("workload.yaml", FromAbsl(documents.status().message()));
    WorkloadInjection injection;
    injection.texts = texts;
    injection.mesh = mesh_;
    injection.environment = environment_;
    injection.configuration = configuration;
    injection.revision = surroundings_.revision;
    injection.native = surroundings_.native == NativeSidecars::kAlways;
    for (const Json& document : *documents) {
      if (!HasPods(document)) continue;
      absl::StatusOr<WorkloadAnswer> workload = InjectWorkload(document, injection, engine_);
      (*answer)["workload"] = workload.ok() ? std::move(workload->object) : Json();
      if (!workload.ok()) (*answer)["workloadError"] = FromAbsl(workload.status().message());
    }
    return absl::OkStatus();
  }

  const std::string folder_;
  TemplateEngine& engine_;
  Json request_;
  Review review_;
  std::map<std::string, std::string> environment_;
  model::MeshConfigPtr mesh_;
  PodSurroundings surroundings_;
  LabelMap namespace_labels_;
};

}  // namespace

absl::StatusOr<std::vector<Json>> ReadDocuments(std::string_view text) {
  std::vector<Json> documents;
  config::YamlStream stream(text);
  for (;;) {
    switch (stream.Next()) {
      case config::YamlStream::Step::kEnd:
        return documents;
      case config::YamlStream::Step::kBroken: {
        const config::YamlProblem& problem = stream.problems().front();
        return absl::InvalidArgumentError(StrCat("line ", problem.line, ": ", problem.message));
      }
      case config::YamlStream::Step::kDocument:
        documents.push_back(ToSortedJson(stream.root()));
    }
  }
}

absl::StatusOr<std::string> AnswerCase(const std::string& folder, TemplateEngine& engine) {
  return Case(folder, engine).Answer();
}

}  // namespace fairlead::injection
