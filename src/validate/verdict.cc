#include "validate/verdict.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "base/strings.h"
#include "config/check/check.h"
#include "config/kind.h"
#include "config/metadata.h"
#include "config/quoting.h"
#include "config/read/document_class.h"
#include "config/read/lua.h"
#include "config/read/manifests.h"
#include "config/read/no_effect.h"
#include "config/read/yaml.h"
#include "config/report.h"
#include "istio/mesh/v1alpha1/config.pb.h"
#include "istio/mesh/v1alpha1/network.pb.h"
#include "model/mesh_config.h"

namespace fairlead::validate {
namespace {

using config::Diagnostic;
using config::Node;
using config::Report;
using config::Severity;

void Append(std::vector<Diagnostic> more, std::vector<Diagnostic>* all) {
  all->insert(all->end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

void ReportProblems(const std::vector<config::YamlProblem>& problems, Report& report) {
  for (const config::YamlProblem& problem : problems)
    report.PlainError(problem.code, problem.line, problem.path, problem.message);
}

// Whether a document without apiVersion and kind is meant for a mesh's settings: one of its fields is one of
// theirs, or nearly. One with metadata is an object that lost its kind.
bool HasSettings(Node document) {
  if (document.Find("metadata")) return false;
  std::vector<std::string_view> names = {"networks"};
  const google::protobuf::Descriptor* mesh = istio::mesh::v1alpha1::MeshConfig::descriptor();
  for (int i = 0; i < mesh->field_count(); ++i) {
    names.push_back(mesh->field(i)->json_name());
    names.push_back(mesh->field(i)->name());
  }
  for (const Node::Entry& entry : document.entries()) {
    if (!config::NearestName(entry.key, names).empty()) return true;
  }
  return false;
}

std::string_view Trimmed(std::string_view line) {
  while (line.starts_with(' ')) line.remove_prefix(1);
  while (line.ends_with(' ') || line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

// The mesh's settings in one node. Fields that are unknown, and providers that are wrong, are no warnings of
// Istio's, so they are notes.
class Settings {
 public:
  explicit Settings(const std::string& file) : reading_(file), checks_(file), providers_(file) {}

  void MeshConfig(Node document) {
    const auto mesh = model::ReadMeshConfig(document, reading_);
    if (mesh == nullptr) return;
    model::NoteNotActedOn(document, reading_);
    config::check::CheckMeshConfig(*mesh, document, checks_);
    config::check::CheckExtensionProviders(*mesh, document, providers_);
  }
  void MeshNetworks(Node document) {
    if (const auto networks = model::ReadMeshNetworks(document, reading_))
      config::check::CheckMeshNetworks(*networks, document, checks_);
  }
  void MoveTo(Verdict* verdict) {
    for (Diagnostic& one : reading_.Take())
      (one.severity == Severity::kError ? verdict->diagnostics : verdict->notes).push_back(std::move(one));
    Append(checks_.Take(), &verdict->diagnostics);
    Append(providers_.Take(), &verdict->notes);
  }

 private:
  Report reading_, checks_, providers_;
};

class Validation {
 public:
  Validation(std::string_view text, const std::string& file) : file_(file), lines_(Split(text, '\n')) {}

  std::vector<Verdict> Take() { return std::move(verdicts_); }

  void Unreadable(const std::vector<config::YamlProblem>& problems) {
    Report report(file_);
    report.SetQuoting(config::Quoting::kNothing);
    ReportProblems(problems, report);
    verdicts_.push_back({file_, problems.empty() ? 0 : problems[0].line, "", "", "", report.Take(), {}});
  }

  void Document(Node document, const std::vector<config::YamlProblem>& problems) {
    const std::string_view kind = document.Find("kind").String();
    if (kind.ends_with("List") && document.Find("items").IsSequence()) {
      for (Node item : document.Find("items").elements()) Document(item, problems);
      return;
    }
    Report report(file_);
    Verdict verdict{file_, document.line(), std::string(config::ShownKind(kind)), "", "", {}, {}};
    if (IsSettings(document, &verdict)) {
      ReportProblems(problems, report);
    } else if (!Object(document, problems, report, &verdict)) {
      return;
    }
    Append(report.Take(), &verdict.diagnostics);
    Sort(&verdict.diagnostics);
    Sort(&verdict.notes);
    verdicts_.push_back(std::move(verdict));
  }

 private:
  // In the order of the lines: maps of the API have none.
  static void Sort(std::vector<Diagnostic>* diagnostics) {
    std::sort(diagnostics->begin(), diagnostics->end(), [](const Diagnostic& a, const Diagnostic& b) {
      return std::tie(a.line, a.path, a.message) < std::tie(b.line, b.path, b.message);
    });
  }

  bool IsSettings(Node document, Verdict* verdict) const {
    const bool bare = !document.Find("kind") && !document.Find("apiVersion");
    const bool networks =
        bare ? static_cast<bool>(document.Find("networks")) : verdict->kind == "MeshNetworks";
    if (bare ? !document.IsMapping() || !HasSettings(document) : !networks && verdict->kind != "MeshConfig")
      return false;
    verdict->kind = networks ? "MeshNetworks" : "MeshConfig";
    verdict->name = document.Find("metadata").Find("name").text();
    Settings settings(file_);
    const Node spec = bare ? document : document.Find("spec");
    networks ? settings.MeshNetworks(spec) : settings.MeshConfig(spec);
    settings.MoveTo(verdict);
    return true;
  }

  // False for what there is nothing to say of.
  bool Object(Node document, const std::vector<config::YamlProblem>& problems, Report& report,
              Verdict* verdict) {
    const config::DocumentClass type = config::Classify(document);
    report.SetQuoting(type.kind == nullptr ? config::Quoting::kNothing : config::QuotingOf(type.kind->kind));
    ReportProblems(problems, report);
    if (type.kind == nullptr) {
      NameUnknown(document, verdict);
      return PassOver(document, type, report, verdict);
    }
    const config::KindInfo* kind = type.kind;
    const std::optional<config::ObjectKey> key = config::ReadKey(*kind, document);
    if (!key) {
      report.PlainError("missing-field", document.line(), "metadata.name", "the object has no name");
      return true;
    }
    if (kind->kind == config::Kind::kSecret && !config::IsProperName(*key)) {
      report.PlainError("invalid-value", document.line(), "metadata.name", config::kNoSecretName);
      return true;
    }
    verdict->ns = key->ns;
    verdict->name = key->name;
    if (const auto [seen, first] = seen_.try_emplace(*key, document.line()); !first) {
      report.PlainError("duplicate-object", document.line(), "",
                        StrCat("the same object is at line ", seen->second, ", which counts"));
    }
    report.SetObject(*key);
    verdict->object = config::AdmitObject(*kind, *key, document, report);
    if (verdict->object != nullptr) {
      Report notes(file_);
      notes.SetObject(*key);
      if (kind->payload == config::PayloadType::kProto)
        NoteLuaMistakes(kind->kind, document, verdict->object->Spec<google::protobuf::Message>(), notes);
      config::NoteNoEffect(kind->kind, document, notes);
      verdict->notes = notes.Take();
    }
    if (kind->kind == config::Kind::kConfigMap &&
        (key->name == "istio" || key->name.str().starts_with("istio-")))
      MeshOfConfigMap(document.Find("data"), verdict);
    return true;
  }

  // An object of an unknown kind may be a Secret: only proper names are said, never what may be its content.
  static void NameUnknown(Node document, Verdict* verdict) {
    const Node metadata = document.Find("metadata");
    const config::ObjectKey key{config::Kind{}, Interned(metadata.Find("namespace").text()),
                                Interned(metadata.Find("name").text())};
    if (key.name.empty() || !config::IsProperName(key)) return;
    verdict->ns = key.ns;
    verdict->name = key.name;
  }

  bool PassOver(Node document, const config::DocumentClass& type, Report& report, Verdict* verdict) const {
    using Type = config::DocumentClass::Type;
    if (type.type == Type::kMistake)
      report.PlainError(type.code, document.line(), std::string(type.path), type.message);
    if (type.type == Type::kForeign) {
      Report note(file_);
      note.PlainWarning(type.code, document.line(), "", type.message);
      verdict->notes = note.Take();
    }
    return type.type != Type::kKubernetes;
  }

  void MeshOfConfigMap(Node data, Verdict* verdict) const {
    for (const std::string_view name : {"mesh", "meshNetworks"}) {
      const Node text = data.Find(name);
      if (!text.IsString()) continue;
      const config::YamlDocument document = config::ParseYamlDocument(text.text());
      Report report(file_);
      ReportProblems(document.problems, report);
      Settings settings(file_);
      const Node root = document.tree.root();
      name == "mesh" ? settings.MeshConfig(root) : settings.MeshNetworks(root);
      Verdict inner;
      inner.diagnostics = report.Take();
      settings.MoveTo(&inner);
      for (auto* list : {&inner.diagnostics, &inner.notes}) {
        for (Diagnostic& one : *list) Relocate(text, name, &one);
      }
      Append(std::move(inner.diagnostics), &verdict->diagnostics);
      Append(std::move(inner.notes), &verdict->notes);
    }
  }

  // From the place in a text to the one in the file. A block scalar's lines stand behind its header's; where
  // the text was written otherwise, it has the line it begins at.
  void Relocate(Node text, std::string_view name, Diagnostic* diagnostic) const {
    const std::string_view dot = diagnostic->path.empty() || diagnostic->path[0] == '[' ? "" : ".";
    diagnostic->path = StrCat("data.", name, dot, diagnostic->path);
    const std::vector<std::string_view> inner = Split(text.text(), '\n');
    const size_t line = static_cast<size_t>(diagnostic->line),
                 outer = static_cast<size_t>(text.line()) + line;
    const bool same = line >= 1 && line <= inner.size() && outer <= lines_.size() &&
                      Trimmed(lines_[outer - 1]) == Trimmed(inner[line - 1]);
    diagnostic->line = same ? static_cast<int>(outer) : text.line();
  }

  const std::string file_;
  const std::vector<std::string_view> lines_;
  std::map<config::ObjectKey, int> seen_;  // line of the first one
  std::vector<Verdict> verdicts_;
};

}  // namespace

bool Verdict::valid() const {
  return std::none_of(diagnostics.begin(), diagnostics.end(),
                      [](const Diagnostic& one) { return one.severity == Severity::kError; });
}

std::vector<Verdict> Validate(std::string_view text, const std::string& file) {
  Validation validation(text, file);
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

}  // namespace fairlead::validate
