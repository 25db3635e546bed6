#include <google/protobuf/descriptor.h>
#include <google/protobuf/dynamic_message.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "base/strings.h"
#include "base/time_text.h"
#include "config/read/proto_reading.h"
#include "config/read/proto_scalars.h"
#include "config/tree_builder.h"
#include "proto/descriptors.h"

// The messages of google/protobuf/*.proto whose JSON form is their own. Through reflection alone, since
// dynamic messages (inside Any) have them as other classes than generated code has.
namespace fairlead::config {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

const FieldDescriptor* FieldOf(const Message& message, int number) {
  return message.GetDescriptor()->FindFieldByNumber(number);
}

// Duration and Timestamp: seconds are field 1, nanoseconds field 2.
bool ReadTime(Node node, const FieldPath& path, Reading& reading, Message* message, bool duration) {
  const std::string_view expected =
      duration ? "a duration such as 1.5s or 1h30m" : "a time such as 2026-01-02T03:04:05Z";
  if (!node.IsString()) {
    reading.report.WrongType(node, path, expected);
    return false;
  }
  const std::optional<SecondsAndNanos> time =
      duration ? ParseDuration(node.text()) : ParseTimestamp(node.text());
  if (!time) {
    reading.report.Error(duration ? "wrong-duration" : "wrong-timestamp", node, path,
                         StrCat("\"", node.text(), "\" is not ", expected));
    return false;
  }
  message->GetReflection()->SetInt64(message, FieldOf(*message, 1), time->seconds);
  message->GetReflection()->SetInt32(message, FieldOf(*message, 2), time->nanos);
  return true;
}

// Struct.fields and ListValue.values are field 1.
bool ReadStruct(Node node, const FieldPath& path, Reading& reading, Message* message) {
  if (!node.IsMapping()) {
    reading.report.WrongType(node, path, "a mapping");
    return false;
  }
  const FieldDescriptor* fields = FieldOf(*message, 1);
  bool good = true;
  for (const Node::Entry& entry : node.entries()) {
    Message* pair = message->GetReflection()->AddMessage(message, fields);
    pair->GetReflection()->SetString(pair, FieldOf(*pair, 1), std::string(entry.key));
    Message* value = pair->GetReflection()->MutableMessage(pair, FieldOf(*pair, 2));
    good = ReadMessage(entry.value, FieldPath(path, entry.key), reading, value) && good;
  }
  return good;
}

bool ReadListValue(Node node, const FieldPath& path, Reading& reading, Message* message) {
  if (!node.IsSequence()) {
    reading.report.WrongType(node, path, "a list");
    return false;
  }
  bool good = true;
  size_t index = 0;
  for (Node element : node.elements()) {
    Message* value = message->GetReflection()->AddMessage(message, FieldOf(*message, 1));
    good = ReadMessage(element, FieldPath(path, index++), reading, value) && good;
  }
  return good;
}

// Value: null 1, number 2, string 3, bool 4, struct 5, list 6.
bool ReadValue(Node node, const FieldPath& path, Reading& reading, Message* message) {
  const Reflection& reflection = *message->GetReflection();
  switch (node.type()) {
    case NodeType::kNull:
      reflection.SetEnumValue(message, FieldOf(*message, 1), 0);
      return true;
    case NodeType::kInt:
    case NodeType::kFloat:
      reflection.SetDouble(message, FieldOf(*message, 2), *node.Double());
      return true;
    case NodeType::kString:
      reflection.SetString(message, FieldOf(*message, 3), std::string(node.text()));
      return true;
    case NodeType::kBool:
      reflection.SetBool(message, FieldOf(*message, 4), node.Bool());
      return true;
    case NodeType::kMapping:
      return ReadStruct(node, path, reading, reflection.MutableMessage(message, FieldOf(*message, 5)));
    case NodeType::kSequence:
      return ReadListValue(node, path, reading, reflection.MutableMessage(message, FieldOf(*message, 6)));
  }
  return false;
}

// "a.b,c" as paths; JSON names become original ones.
bool ReadFieldMask(Node node, const FieldPath& path, Reading& reading, Message* message) {
  const std::optional<std::string_view> text = ReadString(node, path, reading.report);
  if (!text) return false;
  if (text->empty()) return true;
  for (std::string_view piece : Split(*text, ',')) {
    std::string snake;
    for (char c : piece) {
      if (c >= 'A' && c <= 'Z') {
        snake.push_back('_');
        c = static_cast<char>(c - 'A' + 'a');
      }
      snake.push_back(c);
    }
    message->GetReflection()->AddString(message, FieldOf(*message, 1), snake);
  }
  return true;
}

// The fields beside "@type", or for types with a form of their own the "value".
bool ReadAnyContent(Node node, const FieldPath& path, Reading& reading, Message* content) {
  const MessageSchema& schema = MessageSchema::Of(content->GetDescriptor());
  bool good = true;
  if (schema.form() != MessageSchema::Form::kFields) {
    for (const Node::Entry& entry : node.entries()) {
      if (entry.key != "@type" && entry.key != "value")
        good = reading.Unknown(entry, path, {"value"}) && good;
    }
    return ReadMessage(node.Find("value"), FieldPath(path, "value"), reading, content) && good;
  }
  TreeBuilder builder;
  builder.BeginMapping(node.line());
  for (const Node::Entry& entry : node.entries()) {
    if (entry.key == "@type") continue;
    builder.Key(entry.key, entry.key_line);
    builder.Copy(entry.value);
  }
  builder.End();
  const Tree fields = builder.Build();
  return ReadFields(fields.root(), schema, path, reading, content);
}

std::string EncodeDeterministic(const Message& message) {
  std::string bytes;
  google::protobuf::io::StringOutputStream stream(&bytes);
  google::protobuf::io::CodedOutputStream coded(&stream);
  coded.SetSerializationDeterministic(true);
  message.SerializePartialToCodedStream(&coded);
  coded.Trim();
  return bytes;
}

// Envoy has had none of these since 1.18, and Istio does not know them: "envoy.api.v2.Cluster",
// "envoy.config.filter.http.lua.v2.Lua", "….v2alpha1.…".
bool IsSecondVersion(std::string_view name) {
  if (!name.starts_with("envoy.")) return false;
  const std::vector<std::string_view> parts = Split(name, '.');
  return std::any_of(parts.begin(), parts.end(),
                     [](std::string_view part) { return part == "v2" || part.starts_with("v2alpha"); });
}

bool ReadAny(Node node, const FieldPath& path, Reading& reading, Message* message) {
  if (!node.IsMapping()) {
    reading.report.WrongType(node, path, "a mapping with \"@type\"");
    return false;
  }
  const std::string_view url = node.Find("@type").String();
  if (url.empty()) {
    reading.report.Error("missing-field", node, path,
                         "\"@type\" is missing: a type URL such as type.googleapis.com/…");
    return false;
  }
  const std::string_view name = url.substr(url.rfind('/') + 1);
  const Descriptor* type = proto::WholeApiPool().FindMessageTypeByName(std::string(name));
  const bool old = IsSecondVersion(name);
  if (type == nullptr || old) {
    reading.report.Error(
        "unknown-type", node.Find("@type"), FieldPath(path, "@type"),
        StrCat("no message type ", name, " is known", old ? "; types are of version 3" : ""));
    return false;
  }
  const std::unique_ptr<Message> content(proto::WholeApiMessages().GetPrototype(type)->New());
  if (!ReadAnyContent(node, path, reading, content.get())) return false;
  message->GetReflection()->SetString(message, FieldOf(*message, 1), std::string(url));
  message->GetReflection()->SetString(message, FieldOf(*message, 2), EncodeDeterministic(*content));
  return true;
}

}  // namespace

bool ReadMessage(Node node, const FieldPath& path, Reading& reading, Message* message) {
  using Form = MessageSchema::Form;
  const MessageSchema& schema = MessageSchema::Of(message->GetDescriptor());
  switch (schema.form()) {
    case Form::kFields:
      return ReadFields(node, schema, path, reading, message);
    case Form::kDuration:
      return ReadTime(node, path, reading, message, true);
    case Form::kTimestamp:
      return ReadTime(node, path, reading, message, false);
    case Form::kWrapper:
      return ReadScalar(node, FieldOf(*message, 1), path, reading, message);
    case Form::kStruct:
      return ReadStruct(node, path, reading, message);
    case Form::kValue:
      return ReadValue(node, path, reading, message);
    case Form::kListValue:
      return ReadListValue(node, path, reading, message);
    case Form::kAny:
      return ReadAny(node, path, reading, message);
    case Form::kFieldMask:
      return ReadFieldMask(node, path, reading, message);
  }
  return false;
}

}  // namespace fairlead::config
