#include "injection/kubernetes_types.h"

#include <map>
#include <utility>

extern "C" const char fairlead_kubernetes_types_begin[];
extern "C" const char fairlead_kubernetes_types_end[];

namespace fairlead::injection {
namespace {

using Form = GoType::Form;

struct NamedForm {
  std::string_view name;
  Form form;
};
constexpr NamedForm kForms[] = {
    {"string", Form::kString},
    {"bool", Form::kBool},
    {"int32", Form::kInt32},
    {"int64", Form::kInt64},
    {"resource.Quantity", Form::kQuantity},
    {"intstr.IntOrString", Form::kIntOrString},
    {"meta.Time", Form::kTime},
    {"meta.MicroTime", Form::kTime},
    {"meta.Duration", Form::kDuration},
    {"meta.FieldsV1", Form::kRaw},
    {"runtime.RawExtension", Form::kRaw},
};

// The packages of the API's groups are all called after their version.
std::string PrintedName(std::string_view name) {
  const size_t dot = name.find('.');
  if (dot == std::string_view::npos) return std::string(name);
  const std::string_view package = name.substr(0, dot);
  if (package == "autoscaling") return StrCat("v2", name.substr(dot));
  const bool group = package == "core" || package == "meta" || package == "apps" || package == "batch" ||
                     package == "policy";
  return StrCat(group ? "v1" : package, name.substr(dot));
}

// The table, read once. Structs are made when something of their type is met, so that they can point to each
// other.
class Table {
 public:
  explicit Table(std::string_view text) {
    for (std::string_view line : Split(text, '\n')) {
      const size_t blank = line.find(' ');
      lines_.emplace(line.substr(0, blank), blank == std::string_view::npos ? "" : line.substr(blank + 1));
    }
    lines_.erase("");
    for (const auto& [name, fields] : lines_) structs_.try_emplace(std::string(name));
    for (const auto& [name, fields] : lines_) Fill(name, fields, &structs_.find(name)->second);
  }

  const GoStruct* Find(std::string_view name) const {
    const auto it = structs_.find(name);
    return it == structs_.end() ? nullptr : &it->second;
  }

 private:
  void Fill(std::string_view name, std::string_view fields, GoStruct* out) {
    out->printed_name = PrintedName(name);
    out->name = name.substr(name.find('.') + 1);
    AddFields(fields, "", out);
    for (size_t i = 0; i < out->fields.size(); ++i) {
      out->exact.emplace(out->fields[i].name, i);
      out->lower.emplace(AsciiLower(out->fields[i].name), i);
    }
  }

  void AddFields(std::string_view fields, const std::string& path, GoStruct* out) {
    for (std::string_view text : Split(fields, ' ')) {
      if (!text.empty()) AddField(text, path, out);
    }
  }

  // NAME[?]:TYPE[!STRATEGY][@KEY]; +NAME for what is embedded.
  void AddField(std::string_view text, const std::string& path, GoStruct* out) {
    const size_t colon = text.find(':');
    std::string_view name = text.substr(0, colon), type = text.substr(colon + 1);
    GoField field;
    if (name.ends_with('?')) {
      field.omit_empty = true;
      name.remove_suffix(1);
    }
    if (name.starts_with('+')) {
      const auto embedded = lines_.find(type);
      if (embedded != lines_.end()) AddFields(embedded->second, StrCat(path, name.substr(1), "."), out);
      return;
    }
    if (const size_t at = type.find('@'); at != std::string_view::npos) {
      field.merge_key = type.substr(at + 1);
      type = type.substr(0, at);
    }
    if (const size_t at = type.find('!'); at != std::string_view::npos) {
      field.merge = type.substr(at + 1).starts_with("merge");
      type = type.substr(0, at);
    }
    field.name = name;
    field.path = StrCat(path, name);
    field.type = TypeOf(type);
    out->fields.push_back(std::move(field));
  }

  GoType TypeOf(std::string_view text) const {
    GoType type;
    if (text.starts_with('*')) {
      type = TypeOf(text.substr(1));
      type.pointer = true;
      return type;
    }
    if (text == "[]byte" || text == "[]uint8") {
      type.form = Form::kBytes;
      type.name = "[]uint8";
      return type;
    }
    if (text.starts_with("[]")) return WithElement(Form::kList, "[]", text.substr(2));
    if (text.starts_with('{')) {
      const size_t end = text.find('}');
      const std::string_view key = text.substr(1, end - 1);
      return WithElement(Form::kMap, StrCat("map[", PrintedName(key.substr(0, key.find('('))), "]"),
                         text.substr(end + 1));
    }
    return Named(text);
  }

  GoType WithElement(Form form, std::string_view prefix, std::string_view element) const {
    GoType type;
    type.form = form;
    type.element = std::make_shared<GoType>(TypeOf(element));
    type.name = StrCat(prefix, type.element->pointer ? "*" : "", type.element->name);
    return type;
  }

  GoType Named(std::string_view text) const {
    GoType type;
    std::string_view form = text;
    if (const size_t open = text.find('('); open != std::string_view::npos) {
      form = text.substr(open + 1, text.size() - open - 2);
      text = text.substr(0, open);
    }
    type.name = PrintedName(text);
    for (const NamedForm& one : kForms) {
      if (one.name != form) continue;
      type.form = one.form;
      return type;
    }
    type.form = Form::kStruct;
    type.structure = Find(text);
    return type;
  }

  std::map<std::string_view, std::string_view> lines_;
  std::map<std::string, GoStruct, std::less<>> structs_;  // which keeps places
};

}  // namespace

const GoField* GoStruct::Find(std::string_view field) const {
  if (const auto it = exact.find(field); it != exact.end()) return &fields[it->second];
  const auto it = lower.find(AsciiLower(field));
  return it == lower.end() ? nullptr : &fields[it->second];
}

const GoStruct* FindGoStruct(std::string_view name) {
  static const Table& table = *new Table(
      std::string_view(fairlead_kubernetes_types_begin,
                       static_cast<size_t>(fairlead_kubernetes_types_end - fairlead_kubernetes_types_begin)));
  return table.Find(name);
}

const GoStruct& PodType() {
  static const GoStruct& type = *FindGoStruct("core.Pod");
  return type;
}

const GoStruct& ContainerType() {
  static const GoStruct& type = *FindGoStruct("core.Container");
  return type;
}

}  // namespace fairlead::injection
