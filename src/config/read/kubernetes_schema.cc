#include "config/read/kubernetes_schema.h"

#include <google/protobuf/descriptor.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "base/strings.h"
#include "base/time_text.h"
#include "config/read/proto_scalars.h"
#include "proto/descriptors.h"

namespace fairlead::config {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;

class Schema;

struct Field {
  const FieldDescriptor* field = nullptr;
  mutable std::atomic<const Schema*> message{nullptr};
  const Schema& Message() const;
};

// One message of the Kubernetes API with its fields by JSON name. Made when first used, kept as long as the
// process.
class Schema {
 public:
  // Types that are messages in the schema but something else in manifests.
  enum class Form { kFields, kIntOrString, kQuantity, kTime, kDuration, kAnything };

  static const Schema& Of(const Descriptor* descriptor);

  Form form() const { return form_; }
  const Field* Find(std::string_view name) const {
    const auto it = by_name_.find(name);
    return it == by_name_.end() ? nullptr : it->second.get();
  }
  std::vector<std::string_view> Names() const {
    std::vector<std::string_view> names;
    for (const auto& [name, field] : by_name_) names.push_back(name);
    return names;
  }

 private:
  explicit Schema(const Descriptor* descriptor);
  void AddFields(const Descriptor* descriptor);

  Form form_;
  absl::flat_hash_map<std::string_view, std::unique_ptr<Field>, StringViewHash, StringViewEqual> by_name_;
};

Schema::Form FormOf(std::string_view name) {
  constexpr std::string_view kRoot = "k8s.io.apimachinery.pkg.";
  if (!name.starts_with(kRoot)) return Schema::Form::kFields;
  name.remove_prefix(kRoot.size());
  if (name == "util.intstr.IntOrString") return Schema::Form::kIntOrString;
  if (name == "api.resource.Quantity") return Schema::Form::kQuantity;
  if (name == "apis.meta.v1.Time" || name == "apis.meta.v1.MicroTime") return Schema::Form::kTime;
  if (name == "apis.meta.v1.Duration") return Schema::Form::kDuration;
  if (name == "apis.meta.v1.FieldsV1" || name == "runtime.RawExtension") return Schema::Form::kAnything;
  return Schema::Form::kFields;
}

// Go's embedded structs have a field in the schema, whose fields stand beside the others in JSON.
bool IsEmbedded(const FieldDescriptor* field) {
  static constexpr std::array<std::string_view, 7> kEmbedded = {"volumeSource",
                                                                "persistentVolumeSource",
                                                                "ephemeralContainerCommon",
                                                                "localObjectReference",
                                                                "handler",
                                                                "ingressRuleValue",
                                                                "volumeStatus"};
  return field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE && !field->is_repeated() &&
         std::find(kEmbedded.begin(), kEmbedded.end(), field->name()) != kEmbedded.end();
}

Schema::Schema(const Descriptor* descriptor) : form_(FormOf(descriptor->full_name())) {
  AddFields(descriptor);
}

void Schema::AddFields(const Descriptor* descriptor) {
  for (int i = 0; i < descriptor->field_count(); ++i) {
    const FieldDescriptor* field = descriptor->field(i);
    if (IsEmbedded(field)) {
      AddFields(field->message_type());
      continue;
    }
    auto& entry = by_name_[field->name()];
    entry = std::make_unique<Field>();
    entry->field = field;
  }
}

const Schema& Schema::Of(const Descriptor* descriptor) {
  static auto& mutex = *new std::mutex;
  static auto& schemas = *new absl::flat_hash_map<const Descriptor*, std::unique_ptr<const Schema>>;
  std::lock_guard lock(mutex);
  std::unique_ptr<const Schema>& schema = schemas[descriptor];
  if (schema == nullptr) schema.reset(new Schema(descriptor));
  return *schema;
}

const Schema& Field::Message() const {
  const Schema* known = message.load(std::memory_order_acquire);
  if (known == nullptr) {
    known = &Schema::Of(field->message_type());
    message.store(known, std::memory_order_release);
  }
  return *known;
}

bool CheckMessage(Node node, const Schema& schema, const FieldPath& path, Report& report);

bool CheckInteger(Node node, const FieldPath& path, Report& report, int64_t lowest, int64_t highest) {
  if (node.type() == NodeType::kInt || node.type() == NodeType::kFloat) {
    return ReadSigned(node, path, report, lowest, highest).has_value();
  }
  report.WrongType(node, path, "an integer");
  return false;
}

bool CheckBytes(Node node, const FieldPath& path, Report& report) {
  return ReadBytes(node, path, report).has_value();
}

bool CheckScalar(Node node, const FieldDescriptor* field, const FieldPath& path, Report& report) {
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_STRING:
      if (field->type() == FieldDescriptor::TYPE_BYTES) return CheckBytes(node, path, report);
      if (node.IsString()) return true;
      report.WrongType(node, path, "a string");
      return false;
    case FieldDescriptor::CPPTYPE_BOOL:
      if (node.type() == NodeType::kBool) return true;
      report.WrongType(node, path, "a boolean");
      return false;
    case FieldDescriptor::CPPTYPE_INT32:
      return CheckInteger(node, path, report, INT32_MIN, INT32_MAX);
    case FieldDescriptor::CPPTYPE_INT64:
      return CheckInteger(node, path, report, INT64_MIN, INT64_MAX);
    case FieldDescriptor::CPPTYPE_UINT32:
      return CheckInteger(node, path, report, 0, UINT32_MAX);
    default:
      return true;
  }
}

bool CheckValue(Node node, const Field& field, const FieldPath& path, Report& report) {
  if (node.IsNull()) return true;  // as if it was not there
  if (field.field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) {
    return CheckScalar(node, field.field, path, report);
  }
  return CheckMessage(node, field.Message(), path, report);
}

bool CheckMap(Node node, const Field& field, const FieldPath& path, Report& report) {
  if (!node.IsMapping()) {
    report.WrongType(node, path, "a mapping");
    return false;
  }
  const FieldDescriptor* value = field.field->message_type()->map_value();
  const bool messages = value->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE;
  const Schema* schema = messages ? &Schema::Of(value->message_type()) : nullptr;
  bool good = true;
  for (const Node::Entry& entry : node.entries()) {
    if (entry.value.IsString() && !messages && value->type() == FieldDescriptor::TYPE_STRING) continue;
    const FieldPath here(path, entry.key);
    if (entry.value.IsNull()) continue;
    good = (messages ? CheckMessage(entry.value, *schema, here, report)
                     : CheckScalar(entry.value, value, here, report)) &&
           good;
  }
  return good;
}

bool CheckField(Node node, const Field& field, const FieldPath& path, Report& report) {
  if (!field.field->is_repeated() || node.IsNull()) return CheckValue(node, field, path, report);
  if (field.field->is_map()) return CheckMap(node, field, path, report);
  if (!node.IsSequence()) {
    report.WrongType(node, path, "a list");
    return false;
  }
  bool good = true;
  size_t index = 0;
  for (Node element : node.elements())
    good = CheckValue(element, field, FieldPath(path, index++), report) && good;
  return good;
}

bool CheckFields(Node node, const Schema& schema, const FieldPath& path, bool root, Report& report) {
  if (!node.IsMapping()) {
    report.WrongType(node, path, "a mapping");
    return false;
  }
  bool good = true;
  for (const Node::Entry& entry : node.entries()) {
    const Field* field = schema.Find(entry.key);
    if (field != nullptr) {
      good = CheckField(entry.value, *field, FieldPath(path, entry.key), report) && good;
    } else if (!root || (entry.key != "apiVersion" && entry.key != "kind")) {
      good = report.UnknownField(entry, path, schema.Names()) && good;
    }
  }
  return good;
}

bool CheckTime(Node node, const FieldPath& path, Report& report) {
  if (node.IsString() && ParseTimestamp(node.text())) return true;
  report.WrongType(node, path, "a time such as 2026-01-02T03:04:05Z");
  return false;
}

// Quantities: "100m", "1.5Gi", 2; suffixes are those of Kubernetes' resource.Quantity.
bool IsQuantity(std::string_view text) {
  static constexpr std::array<std::string_view, 16> kSuffixes = {
      "", "n", "u", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  size_t digits = 0, dots = 0;
  while (!text.empty() && ((text[0] >= '0' && text[0] <= '9') || text[0] == '.')) {
    ++(text[0] == '.' ? dots : digits);
    text.remove_prefix(1);
  }
  if (digits == 0 || dots > 1) return false;
  if (std::find(kSuffixes.begin(), kSuffixes.end(), text) != kSuffixes.end()) return true;
  if (text[0] != 'e' && text[0] != 'E') return false;
  text.remove_prefix(1);
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

bool CheckMessage(Node node, const Schema& schema, const FieldPath& path, Report& report) {
  switch (schema.form()) {
    case Schema::Form::kFields:
      return CheckFields(node, schema, path, false, report);
    case Schema::Form::kAnything:
      return true;
    case Schema::Form::kTime:
      return CheckTime(node, path, report);
    case Schema::Form::kIntOrString:
      if (node.IsString()) return true;
      if (node.type() == NodeType::kInt) return CheckInteger(node, path, report, INT32_MIN, INT32_MAX);
      report.WrongType(node, path, "an integer or a string");
      return false;
    case Schema::Form::kQuantity:
      if (node.IsScalar() && node.type() != NodeType::kBool && IsQuantity(node.text())) return true;
      report.WrongType(node, path, "a quantity such as 100m or 1.5Gi");
      return false;
    case Schema::Form::kDuration:
      if (node.IsString() && ParseDuration(node.text())) return true;
      report.WrongType(node, path, "a duration such as 30s");
      return false;
  }
  return false;
}

}  // namespace

std::string KubernetesMessage(std::string_view api_version, std::string_view kind) {
  const size_t slash = api_version.find('/');
  const std::string_view group = slash == std::string_view::npos ? "core" : api_version.substr(0, slash);
  const std::string_view version =
      slash == std::string_view::npos ? api_version : api_version.substr(slash + 1);
  return StrCat("k8s.io.api.", group.substr(0, group.find('.')), ".", version, ".", kind);
}

bool IsKubernetesKind(std::string_view api_version, std::string_view kind) {
  const std::string_view group = api_version.substr(0, api_version.find('/'));
  if (group == "apiextensions.k8s.io" || group == "apiregistration.k8s.io") return true;
  // Custom resources may have a group that begins like one of Kubernetes' own.
  const bool own = group.find('.') == std::string_view::npos || group.ends_with(".k8s.io");
  if (!own) return false;
  return proto::KubernetesApiPool().FindMessageTypeByName(KubernetesMessage(api_version, kind)) != nullptr;
}

bool CheckKubernetes(Node node, std::string_view message, const FieldPath& path, Report& report) {
  const Descriptor* descriptor = proto::KubernetesApiPool().FindMessageTypeByName(std::string(message));
  if (descriptor == nullptr) {
    report.Error("unknown-type", node, path, StrCat("no type ", message, " is known"));
    return false;
  }
  return CheckFields(node, Schema::Of(descriptor), path, true, report);
}

}  // namespace fairlead::config
