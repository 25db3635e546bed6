#include "config/read/proto_reader.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <algorithm>
#include <cfloat>
#include <limits>
#include <map>

#include "base/strings.h"
#include "config/read/proto_reading.h"
#include "config/read/proto_scalars.h"

namespace fairlead::config {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

// Null stands for "absent", but for the two types whose value it is.
bool NullIsValue(const FieldDescriptor* field) {
  if (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
    return field->message_type()->well_known_type() == google::protobuf::Descriptor::WELLKNOWNTYPE_VALUE;
  }
  return field->cpp_type() == FieldDescriptor::CPPTYPE_ENUM &&
         field->enum_type()->full_name() == "google.protobuf.NullValue";
}

// Of a map with numbers as keys each key is a number of JSON, as golang/protobuf's jsonpb reads it: no zeros
// in front.
bool IsPlainInteger(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  if (text.empty() || (text.size() > 1 && text.starts_with('0'))) return false;
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// A map's key is a string in every document; the field may want a number or a boolean.
bool SetMapKey(const FieldDescriptor* key, std::string_view text, Node at, const FieldPath& path,
               Reading& reading, Message* entry) {
  const Reflection& reflection = *entry->GetReflection();
  if (key->cpp_type() == FieldDescriptor::CPPTYPE_STRING) {
    reflection.SetString(entry, key, std::string(text));
    return true;
  }
  if (key->cpp_type() == FieldDescriptor::CPPTYPE_BOOL && (text == "true" || text == "false")) {
    reflection.SetBool(entry, key, text == "true");
    return true;
  }
  if (key->cpp_type() != FieldDescriptor::CPPTYPE_BOOL && !IsPlainInteger(text)) {
    reading.report.Error("wrong-type", at, path, StrCat("expected an integer, got string \"", text, "\""));
    return false;
  }
  const Node::Data data{text.data(), static_cast<uint32_t>(text.size()), static_cast<uint32_t>(at.line()), 1,
                        NodeType::kString};
  if (key->cpp_type() != FieldDescriptor::CPPTYPE_BOOL)
    return ReadScalar(Node(&data), key, path, reading, entry);
  reading.report.Error("wrong-type", at, path, "expected true or false as key");
  return false;
}

bool ReadMap(Node node, const FieldDescriptor* field, const FieldPath& path, Reading& reading,
             Message* message) {
  if (!node.IsMapping()) {
    reading.report.WrongType(node, path, "a mapping");
    return false;
  }
  const Reflection& reflection = *message->GetReflection();
  const FieldDescriptor* key = field->message_type()->map_key();
  const FieldDescriptor* value = field->message_type()->map_value();
  bool good = true;
  for (const Node::Entry& entry : node.entries()) {
    const FieldPath here(path, entry.key);
    if (entry.value.IsNull() && !NullIsValue(value)) continue;  // an API server prunes it
    Message* pair = reflection.AddMessage(message, field);
    good = SetMapKey(key, entry.key, entry.value, here, reading, pair) && good;
    good = ReadSingular(entry.value, value, here, reading, pair) && good;
  }
  return good;
}

bool ReadList(Node node, const FieldDescriptor* field, const FieldPath& path, Reading& reading,
              Message* message) {
  if (!node.IsSequence()) {
    reading.report.WrongType(node, path, "a list");
    return false;
  }
  bool good = true;
  size_t index = 0;
  for (Node element : node.elements()) {
    const FieldPath here(path, index++);
    if (element.IsNull() && !NullIsValue(field)) {
      reading.report.WrongType(element, here, "a value");
      good = false;
    } else if (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
      good =
          ReadMessage(element, here, reading, message->GetReflection()->AddMessage(message, field)) && good;
    } else {
      good = ReadScalar(element, field, here, reading, message) && good;
    }
  }
  return good;
}

bool ReadField(Node node, const FieldDescriptor* field, const FieldPath& path, Reading& reading,
               Message* message) {
  const Reflection& reflection = *message->GetReflection();
  if (node.IsNull() && (field->is_repeated() || !NullIsValue(field))) {
    return true;
  }
  if (field->is_repeated() || field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
    reflection.ClearField(message, field);  // a value replaces what a default put there
  }
  if (field->is_map()) return ReadMap(node, field, path, reading, message);
  if (field->is_repeated()) return ReadList(node, field, path, reading, message);
  return ReadSingular(node, field, path, reading, message);
}

// Finds fields that are given twice: by both their names, or as two members of one oneof.
class SeenFields {
 public:
  struct Other {
    const FieldDescriptor* field = nullptr;
    std::string_view key;
  };
  // The field that was there before; null where there was none.
  Other Add(const FieldDescriptor* field, std::string_view key) {
    const auto* oneof = field->real_containing_oneof();
    if (oneof == nullptr && field->name() == field->json_name()) return {};
    const void* what = oneof != nullptr ? static_cast<const void*>(oneof) : field;
    for (auto& [seen, other] : seen_) {
      if (seen == what) return other;
    }
    seen_.push_back({what, {field, key}});
    return {};
  }

 private:
  std::vector<std::pair<const void*, Other>> seen_;
};

// Two members of a oneof. Where mistakes are passed over the one that is declared last counts, as for istiod.
bool Conflict(const Node::Entry& entry, const FieldDescriptor* field, const SeenFields::Other& other,
              const FieldPath& here, Reading& reading, Message* message) {
  const std::string text = StrCat("cannot be set together with ", other.key);
  if (reading.unknown == UnknownFields::kError) {
    reading.report.Error("conflicting-fields", entry.key_line, here.ToText(), text);
    return false;
  }
  reading.report.Warning("conflicting-fields", entry.key_line, here.ToText(), text);
  if (field->index() < other.field->index()) return true;
  return ReadField(entry.value, field, here, reading, message);
}

}  // namespace

bool ReadFields(Node node, const MessageSchema& schema, const FieldPath& path, Reading& reading,
                Message* message) {
  if (!node.IsMapping()) {
    reading.report.WrongType(node, path, "a mapping");
    return false;
  }
  bool good = true;
  SeenFields seen;
  for (const Node::Entry& entry : node.entries()) {
    const FieldSchema* field = schema.Find(entry.key);
    if (field == nullptr) {
      good = reading.Unknown(entry, path, schema.Names()) && good;
      continue;
    }
    const FieldPath here(path, entry.key);
    if (!entry.value.IsNull() || NullIsValue(field->field)) {
      if (const SeenFields::Other other = seen.Add(field->field, entry.key); other.field != nullptr) {
        good = Conflict(entry, field->field, other, here, reading, message) && good;
        continue;
      }
    }
    good = ReadField(entry.value, field->field, here, reading, message) && good;
  }
  return good;
}

bool ReadSingular(Node node, const FieldDescriptor* field, const FieldPath& path, Reading& reading,
                  Message* message) {
  if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE)
    return ReadScalar(node, field, path, reading, message);
  return ReadMessage(node, path, reading, message->GetReflection()->MutableMessage(message, field));
}

bool ReadScalar(Node node, const FieldDescriptor* field, const FieldPath& path, Reading& reading,
                Message* message) {
  const Reflection& reflection = *message->GetReflection();
  Report& report = reading.report;
  const bool add = field->is_repeated();
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32: {
      const auto value = ReadSigned(node, path, report, INT32_MIN, INT32_MAX);
      if (!value) return false;
      const auto number = static_cast<int32_t>(*value);
      add ? reflection.AddInt32(message, field, number) : reflection.SetInt32(message, field, number);
      return true;
    }
    case FieldDescriptor::CPPTYPE_INT64: {
      const auto value = ReadSigned(node, path, report, INT64_MIN, INT64_MAX);
      if (!value) return false;
      add ? reflection.AddInt64(message, field, *value) : reflection.SetInt64(message, field, *value);
      return true;
    }
    case FieldDescriptor::CPPTYPE_UINT32: {
      const auto value = ReadUnsigned(node, path, report, UINT32_MAX);
      if (!value) return false;
      const auto number = static_cast<uint32_t>(*value);
      add ? reflection.AddUInt32(message, field, number) : reflection.SetUInt32(message, field, number);
      return true;
    }
    case FieldDescriptor::CPPTYPE_UINT64: {
      const auto value = ReadUnsigned(node, path, report, UINT64_MAX);
      if (!value) return false;
      add ? reflection.AddUInt64(message, field, *value) : reflection.SetUInt64(message, field, *value);
      return true;
    }
    case FieldDescriptor::CPPTYPE_DOUBLE: {
      const auto value = ReadDouble(node, path, report, DBL_MAX);
      if (!value) return false;
      add ? reflection.AddDouble(message, field, *value) : reflection.SetDouble(message, field, *value);
      return true;
    }
    case FieldDescriptor::CPPTYPE_FLOAT: {
      const auto value = ReadDouble(node, path, report, FLT_MAX);
      if (!value) return false;
      const auto number = static_cast<float>(*value);
      add ? reflection.AddFloat(message, field, number) : reflection.SetFloat(message, field, number);
      return true;
    }
    case FieldDescriptor::CPPTYPE_BOOL: {
      const auto value = ReadBool(node, path, report);
      if (!value) return false;
      add ? reflection.AddBool(message, field, *value) : reflection.SetBool(message, field, *value);
      return true;
    }
    case FieldDescriptor::CPPTYPE_ENUM: {
      const auto value = node.IsNull() ? 0 : ReadEnum(node, *field->enum_type(), path, report);
      if (!value) return false;
      add ? reflection.AddEnumValue(message, field, *value) : reflection.SetEnumValue(message, field, *value);
      return true;
    }
    case FieldDescriptor::CPPTYPE_STRING:
      return ReadText(node, field, path, reading, message);
    case FieldDescriptor::CPPTYPE_MESSAGE:
      break;
  }
  return false;
}

bool ReadText(Node node, const FieldDescriptor* field, const FieldPath& path, Reading& reading,
              Message* message) {
  std::string text;
  if (field->type() == FieldDescriptor::TYPE_BYTES) {
    std::optional<std::string> bytes = ReadBytes(node, path, reading.report);
    if (!bytes) return false;
    text = std::move(*bytes);
  } else {
    const std::optional<std::string_view> string = ReadString(node, path, reading.report);
    if (!string) return false;
    text = *string;
  }
  const Reflection& reflection = *message->GetReflection();
  field->is_repeated() ? reflection.AddString(message, field, std::move(text))
                       : reflection.SetString(message, field, std::move(text));
  return true;
}

bool Reading::Unknown(const Node::Entry& entry, const FieldPath& path,
                      const std::vector<std::string_view>& names) {
  if (report.passes_over_unknown()) return true;
  if (unknown == UnknownFields::kError) return report.UnknownField(entry, path, names);
  report.Warning("unknown-field", entry.key_line, FieldPath(path, entry.key).ToText(),
                 StrCat("unknown field, passed over", Suggestion(entry.key, names)));
  return true;
}

bool ReadProto(Node node, const FieldPath& path, Report& report, Message* message, UnknownFields unknown) {
  Reading reading{report, unknown};
  return ReadMessage(node, path, reading, message);
}

}  // namespace fairlead::config
