#include "app/verdict.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/strings.h"
#include "config/check/check.h"
#include "config/kind.h"
#include "config/manifests.h"
#include "config/metadata.h"
#include "config/report.h"
#include "config/yaml.h"
#include "google/protobuf/message.h"
#include "istio/mesh/v1alpha1/config.pb.h"
#include "model/mesh_config.h"

namespace fairlead::app {
namespace {

using config::Node;

class Validation {
 public:
  explicit Validation(const std::string& file) : file_(file) {}

  std::vector<Verdict> Take() { return std::move(verdicts_); }

  void Unreadable(const std::vector<config::YamlProblem>& problems) {
    config::Report report(file_);
    ReportProblems(problems, report);
    verdicts_.push_back({file_, problems.empty() ? 0 : problems[0].line, "", "", "", report.Take()});
  }

  void Document(Node document, const std::vector<config::YamlProblem>& problems) {
    const std::string_view kind = document.Find("kind").String();
    if (kind.ends_with("List") && document.Find("items").IsSequence()) {
      for (Node item : document.Find("items").elements()) Document(item, problems);
      return;
    }
    config::Report report(file_);
    ReportProblems(problems, report);
    Verdict verdict{file_, document.line(), std::string(kind), "", "", {}};
    if (kind == "MeshConfig" || (!document.Find("kind") && !document.Find("apiVersion"))) {
      verdict.kind = "MeshConfig";
      MeshConfig(kind.empty() ? document : document.Find("spec"), report);
    } else if (!Object(document, report, &verdict)) {
      return;
    }
    const Node metadata = document.Find("metadata");
    if (verdict.name.empty()) verdict.name = metadata.Find("name").text();
    verdict.diagnostics = report.Take();
    verdicts_.push_back(std::move(verdict));
  }

 private:
  static void ReportProblems(const std::vector<config::YamlProblem>& problems, config::Report& report) {
    for (const config::YamlProblem& problem : problems)
      report.Error(problem.code, problem.line, problem.path, problem.message);
  }

  static void MeshConfig(Node document, config::Report& report) {
    const auto mesh = model::ReadMeshConfig(document, report);
    if (mesh != nullptr) config::check::CheckMeshConfig(*mesh, document, report);
  }

  // False for kinds that are none of ours.
  static bool Object(Node document, config::Report& report, Verdict* verdict) {
    const std::string_view api_version = document.Find("apiVersion").String();
    const config::KindInfo* kind = config::FindKind(api_version, verdict->kind);
    if (kind == nullptr) {
      report.Error("unknown-kind", document.line(), "",
                   StrCat("no kind \"", verdict->kind, "\" of \"", api_version, "\" is known"));
      return IsIstios(api_version) || api_version.empty() || verdict->kind.empty();
    }
    const std::optional<config::ObjectKey> key = config::ReadKey(*kind, document);
    if (!key) {
      report.Error("missing-field", document.line(), "metadata.name", "the object has no name");
      return true;
    }
    verdict->ns = key->ns;
    verdict->name = key->name;
    report.SetObject(*key);
    const config::ConfigPtr object = config::ParseObject(*kind, *key, document, report);
    if (object != nullptr && kind->payload == config::PayloadType::kProto)
      config::check::CheckObject(*kind, object->meta(), document, object->Spec<google::protobuf::Message>(),
                                 report);
    return true;
  }

  static bool IsIstios(std::string_view api_version) {
    return api_version.substr(0, api_version.find('/')).ends_with(".istio.io");
  }

  std::string file_;
  std::vector<Verdict> verdicts_;
};

}  // namespace

bool Verdict::valid() const {
  return std::none_of(diagnostics.begin(), diagnostics.end(),
                      [](const config::Diagnostic& one) { return one.severity == config::Severity::kError; });
}

std::vector<Verdict> Validate(std::string_view text, const std::string& file) {
  Validation validation(file);
  config::YamlStream stream(text);
  for (;;) {
    const config::YamlStream::Step step = stream.Next();
    if (step == config::YamlStream::Step::kEnd) break;
    if (step == config::YamlStream::Step::kBroken) {
      validation.Unreadable(stream.problems());
    } else {
      validation.Document(stream.root(), stream.problems());
    }
  }
  return validation.Take();
}

}  // namespace fairlead::app
