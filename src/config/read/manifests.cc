#include "config/read/manifests.h"

#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "base/strings.h"
#include "config/flow_text.h"
#include "config/metadata.h"
#include "config/quoting.h"
#include "config/read/document_class.h"
#include "config/read/lua.h"
#include "config/read/no_effect.h"
#include "config/read/yaml.h"

namespace fairlead::config {
namespace {

class ManifestParser {
 public:
  ManifestParser(const Interned& file, Admission admission, Documents documents, const Interned& cluster)
      : report_(file), admission_(admission), documents_(documents), cluster_(cluster) {}

  ParseResult Parse(std::string_view text) {
    YamlStream stream(text);
    for (;;) {
      const YamlStream::Step step = stream.Next();
      if (step == YamlStream::Step::kEnd) break;
      result_.empty = false;
      if (step == YamlStream::Step::kBroken) {
        TakeBroken(stream);
      } else {
        TakeDocument(stream.root(), stream.problems(), "");
      }
    }
    result_.diagnostics = report_.Take();
    return std::move(result_);
  }

 private:
  void ReportProblems(const std::vector<YamlProblem>& problems) {
    for (const YamlProblem& problem : problems) {
      report_.PlainError(problem.code, problem.line, problem.path, problem.message);
    }
  }

  // What follows is about a document of which one does not know whom it is about.
  void BeginUnknown() {
    report_.SetObject(std::nullopt);
    report_.SetQuoting(Quoting::kNothing);
  }

  void TakeBroken(const YamlStream& stream) {
    BeginUnknown();
    result_.unreadable = true;
    ReportProblems(stream.problems());
    Lose(LostPolicyOfText(stream.broken_text(), stream.broken_line(), report_.file()));
  }

  void Lose(std::optional<LostPolicy> policy) {
    if (policy) result_.lost_policies.push_back(*std::move(policy));
  }

  // `item_kind`: what the items of a typed list are that do not say so themselves.
  void TakeDocument(Node document, const std::vector<YamlProblem>& problems, std::string_view item_kind) {
    BeginUnknown();
    const std::string_view kind = document.Find("kind").String(item_kind);
    if (kind.ends_with("List") && document.Find("items").IsSequence())
      return TakeList(document, kind, problems);
    const DocumentClass type = Classify(document, item_kind);
    if (type.kind == nullptr) return PassOver(document, type);
    std::optional<ObjectKey> key = ReadKey(*type.kind, document);
    if (!key) {
      if (IsPolicyKind(type.kind->kind)) Lose(LostPolicyOf(document, report_.file()));
      return Unreadable(document, "missing-field", "metadata.name",
                        StrCat("this ", type.kind->name, " has no name"));
    }
    key->cluster = cluster_;
    if (type.kind->kind == Kind::kSecret && !IsProperName(*key)) return TakeNameless(document);
    TakeObject(*type.kind, *key, document, problems);
  }

  // A Secret whose name is none, and maybe a part of its content.
  void TakeNameless(Node document) { Unreadable(document, "invalid-value", "metadata.name", kNoSecretName); }

  void TakeObject(const KindInfo& info, const ObjectKey& key, Node document,
                  const std::vector<YamlProblem>& problems) {
    report_.SetObject(key);
    report_.SetQuoting(QuotingOf(info.kind));
    const auto [seen, first] = lines_.try_emplace(key, document.line());
    if (!first) {
      return report_.PlainError("duplicate-object", document.line(), "",
                                StrCat("the same object is at line ", seen->second, ", which counts"));
    }
    ReportProblems(problems);
    ConfigPtr object = admission_ == Admission::kChecked ? AdmitObject(info, key, document, report_)
                                                         : ParseObject(info, key, document, report_);
    if (object == nullptr || !problems.empty()) {
      result_.broken.push_back(key);
      // It may be the one that had a proper name before.
      if (!IsProperName(key)) result_.unreadable = true;
      if (IsPolicyKind(info.kind)) Lose(LostPolicyOf(document, report_.file()));
    } else {
      if (info.payload == PayloadType::kProto)
        NoteLuaMistakes(info.kind, document, object->Spec<google::protobuf::Message>(), report_);
      result_.objects.push_back(std::move(object));
      NoteNoEffect(info.kind, document, report_);
      if (documents_ == Documents::kKept)
        result_.documents.push_back(info.kind == Kind::kSecret ? "" : FlowText(document, info.name));
    }
  }

  void TakeList(Node document, std::string_view kind, const std::vector<YamlProblem>& problems) {
    // A duplicate key inside an item has no item's name: the whole list is in doubt.
    if (!problems.empty()) {
      result_.unreadable = true;
      return ReportProblems(problems);
    }
    const std::string_view item_kind = kind.substr(0, kind.size() - std::string_view("List").size());
    for (Node item : document.Find("items").elements()) TakeDocument(item, problems, item_kind);
  }

  void PassOver(Node document, const DocumentClass& type) {
    if (type.type == DocumentClass::Type::kMistake && type.policy)
      Lose(LostPolicyOf(document, report_.file()));
    if (type.type == DocumentClass::Type::kMistake)
      return Unreadable(document, type.code, std::string(type.path), type.message);
    if (type.type == DocumentClass::Type::kForeign)
      report_.PlainWarning(type.code, document.line(), "", type.message);
  }

  void Unreadable(Node document, std::string_view code, std::string path, std::string message) {
    result_.unreadable = true;
    report_.PlainError(code, document.line(), std::move(path), std::move(message));
  }

  Report report_;
  const Admission admission_;
  const Documents documents_;
  const Interned cluster_;
  ParseResult result_;
  absl::flat_hash_map<ObjectKey, int> lines_;
};

}  // namespace

ParseResult ParseManifests(std::string_view text, const Interned& file, Admission admission,
                           Documents documents, const Interned& cluster) {
  return ManifestParser(file, admission, documents, cluster).Parse(text);
}

}  // namespace fairlead::config
