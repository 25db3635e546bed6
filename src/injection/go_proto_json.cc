#include "injection/go_proto_json.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <string_view>

#include "base/duration.h"
#include "base/json.h"
#include "base/strings.h"
#include "injection/go_text.h"
#include "injection/typed_json.h"

namespace fairlead::injection {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;

std::string Unfit(std::string_view what, std::string_view type) {
  return StrCat("json: cannot unmarshal ", what, " into Go value of type ", type);
}

std::string_view KindOfJson(const Json& value) {
  if (value.is_object()) return "object";
  if (value.is_array()) return "array";
  if (value.is_string()) return "string";
  return value.is_boolean() ? "bool" : "number";
}

std::string IntegerProblem(const Json& value, std::string_view type, double least, double most) {
  if (value.is_string()) {
    // Quotes do not count.
    if (const absl::Status status = CheckGoJson(TextOf(value)); !status.ok())
      return std::string(FromAbsl(status.message()));
    const absl::StatusOr<Json> inner = ReadJson(TextOf(value));
    return inner.ok() && !inner->is_string() ? IntegerProblem(*inner, type, least, most) : "";
  }
  if (value.is_null()) return "";
  if (!value.is_number()) return Unfit(KindOfJson(value), type);
  const auto number = value.get<double>();
  const bool fits = number >= least && number <= most && std::floor(number) == number;
  return fits ? "" : Unfit(StrCat("number ", JsonText(value)), type);
}

template <typename T>
std::string IntegerProblem(const Json& value, std::string_view type) {
  return IntegerProblem(value, type, static_cast<double>(std::numeric_limits<T>::min()),
                        static_cast<double>(std::numeric_limits<T>::max()));
}

std::string EnumProblem(const Json& value, const google::protobuf::EnumDescriptor& type) {
  if (!value.is_string()) return IntegerProblem<int32_t>(value, "protoreflect.EnumNumber");
  if (type.FindValueByName(TextOf(value)) != nullptr) return "";
  return StrCat("unknown value ", GoQuote(JsonText(value)), " for enum ", type.full_name());
}

std::string DurationProblem(const Json& value) {
  if (!value.is_string()) return Unfit(KindOfJson(value), "string");
  const std::string text = TextOf(value);
  if (ParseGoDuration(text)) return "";
  const bool digits = !text.empty() && text.find_first_not_of("+-0123456789.") == std::string::npos;
  return StrCat("bad Duration: time: ", digits ? "missing unit in" : "invalid", " duration ", GoQuote(text));
}

std::string SingularProblem(const Json& value, const FieldDescriptor& field) {
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_BOOL:
      return value.is_boolean() || value.is_null() ? "" : Unfit(KindOfJson(value), "bool");
    case FieldDescriptor::CPPTYPE_INT32:
      return IntegerProblem<int32_t>(value, "int32");
    case FieldDescriptor::CPPTYPE_INT64:
      return IntegerProblem<int64_t>(value, "int64");
    case FieldDescriptor::CPPTYPE_UINT32:
      return IntegerProblem<uint32_t>(value, "uint32");
    case FieldDescriptor::CPPTYPE_UINT64:
      return IntegerProblem<uint64_t>(value, "uint64");
    case FieldDescriptor::CPPTYPE_STRING:
      return value.is_string() || value.is_null() ? "" : Unfit(KindOfJson(value), "string");
    case FieldDescriptor::CPPTYPE_ENUM:
      return EnumProblem(value, *field.enum_type());
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return ProtoJsonProblem(value, *field.message_type());
    default:
      return value.is_number() || value.is_null() ? "" : Unfit(KindOfJson(value), "float64");
  }
}

std::string FieldProblem(const Json& value, const FieldDescriptor& field) {
  if (!field.is_repeated()) return SingularProblem(value, field);
  if (field.is_map()) {
    if (!value.is_object()) return Unfit(KindOfJson(value), "map[string]json.RawMessage");
    for (const auto& [key, member] : value.items()) {
      if (std::string problem = SingularProblem(member, *field.message_type()->map_value()); !problem.empty())
        return problem;
    }
    return "";
  }
  if (!value.is_array()) return Unfit(KindOfJson(value), "[]json.RawMessage");
  for (const Json& element : value) {
    if (std::string problem = SingularProblem(element, field); !problem.empty()) return problem;
  }
  return "";
}

}  // namespace

std::string ProtoJsonProblem(const Json& value, const Descriptor& message) {
  if (value.is_null()) return "";
  const std::string& name = message.full_name();
  if (name == "google.protobuf.Duration") return DurationProblem(value);
  if (name.starts_with("google.protobuf.")) {
    return name.ends_with("Value") && message.field_count() == 1 ? SingularProblem(value, *message.field(0))
                                                                 : "";
  }
  if (!value.is_object()) return Unfit(KindOfJson(value), "map[string]json.RawMessage");
  for (int i = 0; i < message.field_count(); ++i) {
    const FieldDescriptor& field = *message.field(i);
    const Json& written = Member(value, field.name());
    const Json& json = Member(value, field.json_name());
    const Json& given = json.is_null() ? written : json;
    if (given.is_null()) continue;
    if (std::string problem = FieldProblem(given, field); !problem.empty()) return problem;
  }
  return "";
}

}  // namespace fairlead::injection
