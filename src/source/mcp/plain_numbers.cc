#include "source/mcp/plain_numbers.h"

#include <google/protobuf/descriptor.h>

#include <charconv>
#include <nlohmann/json.hpp>
#include <string>

#include "proto/descriptors.h"

namespace fairlead::source {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using Json = nlohmann::ordered_json;

template <typename Number>
void Unquote(Json* value) {
  if (!value->is_string()) return;
  const auto& text = value->get_ref<const std::string&>();
  Number number = 0;
  if (std::from_chars(text.data(), text.data() + text.size(), number).ptr == text.data() + text.size())
    *value = number;
}

void UnquoteMessage(const Descriptor& message, Json* object);

void UnquoteValue(const FieldDescriptor& field, Json* value) {
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT64:
      return Unquote<int64_t>(value);
    case FieldDescriptor::CPPTYPE_UINT64:
      return Unquote<uint64_t>(value);
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return UnquoteMessage(*field.message_type(), value);
    default:
      return;
  }
}

void UnquoteField(const FieldDescriptor& field, Json* value) {
  if (!field.is_repeated()) return UnquoteValue(field, value);
  const FieldDescriptor& one = field.is_map() ? *field.message_type()->map_value() : field;
  for (Json& element : *value) UnquoteValue(one, &element);
}

// Well-known types have a JSON of their own: a wrapper is its value.
void UnquoteMessage(const Descriptor& message, Json* object) {
  if (message.well_known_type() == Descriptor::WELLKNOWNTYPE_INT64VALUE) return Unquote<int64_t>(object);
  if (message.well_known_type() == Descriptor::WELLKNOWNTYPE_UINT64VALUE) return Unquote<uint64_t>(object);
  if (message.well_known_type() != Descriptor::WELLKNOWNTYPE_UNSPECIFIED || !object->is_object()) return;
  for (int i = 0; i < message.field_count(); ++i) {
    const FieldDescriptor& field = *message.field(i);
    if (const auto it = object->find(field.json_name()); it != object->end()) UnquoteField(field, &*it);
  }
}

}  // namespace

void UnquoteNumbers(std::string_view message, Json* object) {
  const Descriptor* const type = proto::WholeApiPool().FindMessageTypeByName(std::string(message));
  if (type != nullptr) UnquoteMessage(*type, object);
}

}  // namespace fairlead::source
