#include "config/schema/crd_schema.h"

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "config/read/yaml.h"
#include "config/schema/schema_type.h"
#include "proto/descriptors.h"

namespace fairlead::config {
namespace {

// The definition named "httproutes.gateway.networking.k8s.io" among the documents, "" where there is none.
// Found by its text, since reading all of them takes a while and few meshes have more than a few kinds.
std::string_view FindDefinition(std::string_view documents, std::string_view name) {
  constexpr std::string_view kMarker = "\n---\n";
  const std::string line = StrCat("\n  name: ", name, "\n");
  const size_t at = documents.find(line);
  if (at == std::string_view::npos) return "";
  const size_t before = documents.rfind(kMarker, at);
  const size_t begin = before == std::string_view::npos ? 0 : before + 1;
  return documents.substr(begin, documents.find(kMarker, at) - begin);
}

Node FindVersion(Node definition, std::string_view version) {
  const Node versions = definition.Find("spec").Find("versions");
  for (Node candidate : versions.elements()) {
    if (candidate.Find("name").String() == version) return candidate;
  }
  return versions.At(0);
}

bool CheckType(Node value, Node schema, const FieldPath& path, Report& report) {
  if (schema.Find("x-kubernetes-int-or-string").Bool()) {
    if (value.IsString() || value.Int()) return true;
    report.WrongType(value, path, "an integer or a string");
    return false;
  }
  const std::string_view type = schema.Find("type").String();
  if (HasSchemaType(value, type)) return true;
  report.WrongType(value, path, NameOfSchemaType(type));
  return false;
}

bool CheckEnum(Node value, Node schema, const FieldPath& path, Report& report) {
  const Node known = schema.Find("enum");
  if (!known) return true;
  std::vector<std::string_view> names;
  for (Node name : known.elements()) {
    if (name.text() == value.text()) return true;
    names.push_back(name.text());
  }
  report.Error("unknown-value", value, path,
               StrCat("unknown value ", value.text(), Suggestion(value.text(), names),
                      " (known: ", Join(names, ", "), ")"));
  return false;
}

bool CheckBounds(Node value, Node schema, const FieldPath& path, Report& report) {
  const auto within = [&](std::string_view least, std::string_view most, double actual,
                          std::string_view what) {
    const auto low = schema.Find(least).Double(), high = schema.Find(most).Double();
    if ((!low || actual >= *low) && (!high || actual <= *high)) return true;
    const bool below = low && actual < *low;
    report.Error(
        "out-of-range", value, path,
        StrCat(what, " must be at ", below ? "least " : "most ", schema.Find(below ? least : most).text()));
    return false;
  };
  if (value.IsString()) {
    return within("minLength", "maxLength", static_cast<double>(LengthOf(value.text())), "the length");
  }
  if (value.IsSequence())
    return within("minItems", "maxItems", static_cast<double>(value.size()), "the number of items");
  if (value.IsMapping()) {
    return within("minProperties", "maxProperties", static_cast<double>(value.size()),
                  "the number of entries");
  }
  if (const auto number = value.Double()) return within("minimum", "maximum", *number, "the number");
  return true;
}

bool CheckRequired(Node value, Node schema, const FieldPath& path, Report& report) {
  bool good = true;
  for (Node name : schema.Find("required").elements()) {
    if (!value.Find(name.text()).IsNull()) continue;
    if (schema.Find("properties").Find(name.text()).Find("default")) continue;
    report.Error("missing-field", value, FieldPath(path, name.text()), "this field is required");
    good = false;
  }
  return good;
}

bool CopyMapping(Node value, Node schema, const FieldPath& path, Report& report, TreeBuilder& out) {
  const Node properties = schema.Find("properties");
  const Node additional = schema.Find("additionalProperties");
  const bool open = schema.Find("x-kubernetes-preserve-unknown-fields").Bool() || additional.Bool();
  bool good = CheckRequired(value, schema, path, report);
  out.BeginMapping(value.line());
  for (const Node::Entry& entry : value.entries()) {
    const Node property = properties.Find(entry.key);
    const Node below = property ? property : additional;
    if (entry.value.IsNull() && !below.Find("nullable").Bool() && !(open && !below)) continue;
    if (!below && !open) {
      std::vector<std::string_view> names;
      for (const Node::Entry& known : properties.entries()) names.push_back(known.key);
      report.UnknownField(entry, path, names);
      good = false;
      continue;
    }
    out.Key(entry.key, entry.key_line);
    good = CopyBySchema(entry.value, below, FieldPath(path, entry.key), report, out) && good;
  }
  for (const Node::Entry& property : properties.entries()) {
    const Node fallback = property.value.Find("default");
    if (!fallback || !value.Find(property.key).IsNull()) continue;
    out.Key(property.key, value.line());
    good = CopyBySchema(fallback, property.value, FieldPath(path, property.key), report, out) && good;
  }
  out.End();
  return good;
}

bool CopyList(Node value, Node schema, const FieldPath& path, Report& report, TreeBuilder& out) {
  const Node items = schema.Find("items");
  bool good = true;
  size_t index = 0;
  out.BeginSequence(value.line());
  for (Node element : value.elements()) {
    good = CopyBySchema(element, items, FieldPath(path, index++), report, out) && good;
  }
  out.End();
  return good;
}

}  // namespace

Node CrdSchemaOf(const KindInfo& kind, std::string_view version) {
  static auto& mutex = *new std::mutex;
  static auto& definitions = *new std::map<Kind, Tree>;
  std::lock_guard lock(mutex);
  auto it = definitions.find(kind.kind);
  if (it == definitions.end()) {
    const std::string name = StrCat(kind.plural, ".", kind.group);
    std::string_view text =
        FindDefinition(proto::GatewayApiCrds(proto::GatewayApiChannel::kExperimental), name);
    if (text.empty()) text = FindDefinition(proto::IstioCrds(), name);
    it = definitions.emplace(kind.kind, ParseYamlDocument(text).tree).first;
  }
  return FindVersion(it->second.root(), version).Find("schema").Find("openAPIV3Schema");
}

bool CopyBySchema(Node value, Node schema, const FieldPath& path, Report& report, TreeBuilder& out) {
  if (!schema) {
    out.Copy(value);
    return true;
  }
  if (value.IsNull() && schema.Find("nullable").Bool()) {
    out.Copy(value);
    return true;
  }
  if (!CheckType(value, schema, path, report)) {
    out.Copy(value);
    return false;
  }
  bool good = CheckEnum(value, schema, path, report);
  good = CheckBounds(value, schema, path, report) && good;
  if (value.IsMapping()) return CopyMapping(value, schema, path, report, out) && good;
  if (value.IsSequence()) return CopyList(value, schema, path, report, out) && good;
  out.Copy(value);
  return good;
}

}  // namespace fairlead::config
