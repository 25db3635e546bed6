#include "model/duration_texts.h"

#include <google/protobuf/descriptor.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "base/time_text.h"
#include "google/protobuf/struct.pb.h"

namespace fairlead::model {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Value;

// By its name in either spelling; null where the message has no such field.
const FieldDescriptor* FindField(const Descriptor& type, const std::string& name) {
  const FieldDescriptor* field = type.FindFieldByCamelcaseName(name);
  return field != nullptr ? field : type.FindFieldByName(name);
}

// Room for the sign, 19 digits, the point, nine digits and the unit.
constexpr size_t kLongestDuration = 40;

void RewriteDuration(Value* value) {
  const auto duration = ParseDuration(value->string_value());
  if (!duration) return;
  char text[kLongestDuration];
  const bool negative = duration->seconds < 0 || duration->nanos < 0;
  std::snprintf(text, sizeof text, "%s%lld.%09ds", negative ? "-" : "",
                std::llabs(static_cast<long long>(duration->seconds)), std::abs(duration->nanos));
  value->set_string_value(text);
}

void RewriteValue(const Descriptor& type, Value* value) {
  if (value->has_struct_value()) {
    RewriteGoDurations(type, value->mutable_struct_value());
  } else if (value->has_string_value() && type.full_name() == "google.protobuf.Duration") {
    RewriteDuration(value);
  }
}

void RewriteField(const FieldDescriptor& field, Value* value) {
  if (field.is_map()) {
    const FieldDescriptor& item = *field.message_type()->map_value();
    if (!value->has_struct_value() || item.message_type() == nullptr) return;
    for (auto& [key, entry] : *value->mutable_struct_value()->mutable_fields())
      RewriteValue(*item.message_type(), &entry);
  } else if (field.message_type() == nullptr) {
    return;
  } else if (field.is_repeated()) {
    if (!value->has_list_value()) return;
    for (Value& entry : *value->mutable_list_value()->mutable_values())
      RewriteValue(*field.message_type(), &entry);
  } else {
    RewriteValue(*field.message_type(), value);
  }
}

}  // namespace

void RewriteGoDurations(const Descriptor& type, google::protobuf::Struct* message) {
  for (auto& [name, value] : *message->mutable_fields()) {
    if (const FieldDescriptor* field = FindField(type, name)) RewriteField(*field, &value);
  }
}

}  // namespace fairlead::model
