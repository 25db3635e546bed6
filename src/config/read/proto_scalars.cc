#include "config/read/proto_scalars.h"

#include <google/protobuf/descriptor.h>

#include <charconv>
#include <cmath>
#include <vector>

#include "base/base64.h"
#include "base/strings.h"

namespace fairlead::config {
namespace {

template <typename Number>
std::optional<Number> FromText(std::string_view text) {
  Number value{};
  const char* end = text.data() + text.size();
  auto [at, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || at != end) return std::nullopt;
  return value;
}

std::string OutOfRange(Node node, std::string_view lowest, std::string_view highest) {
  return StrCat(node.text(), " is out of range: from ", lowest, " to ", highest);
}

// An integer node's text may be beyond 64 bits only as a float; 2.5 is no integer at all.
bool IsWhole(Node node) {
  const std::optional<double> value = node.Double();
  return value && std::isfinite(*value) && *value == std::trunc(*value);
}

// Whether the text could be an integer, so that the mistake is its size.
bool LooksWhole(Node node) {
  if (node.IsString()) {
    const std::optional<double> value = FromText<double>(node.text());
    return value && *value == std::trunc(*value);
  }
  return IsWhole(node);
}

}  // namespace

std::optional<int64_t> ReadSigned(Node node, const FieldPath& path, Report& report, int64_t lowest,
                                  int64_t highest) {
  const std::optional<int64_t> value = node.IsString() ? FromText<int64_t>(node.text()) : node.Int();
  if (value && *value >= lowest && *value <= highest) return value;
  if (value || LooksWhole(node)) {
    report.Error("out-of-range", node, path, OutOfRange(node, StrCat(lowest), StrCat(highest)));
  } else {
    report.WrongType(node, path, "an integer");
  }
  return std::nullopt;
}

std::optional<uint64_t> ReadUnsigned(Node node, const FieldPath& path, Report& report, uint64_t highest) {
  const std::optional<uint64_t> value = node.IsString() ? FromText<uint64_t>(node.text()) : node.Unsigned();
  if (value && *value <= highest) return value;
  if (value || LooksWhole(node)) {
    report.Error("out-of-range", node, path, OutOfRange(node, "0", StrCat(highest)));
  } else {
    report.WrongType(node, path, "an integer");
  }
  return std::nullopt;
}

std::optional<double> ReadDouble(Node node, const FieldPath& path, Report& report, double highest) {
  std::optional<double> value = node.Double();
  if (node.IsString()) {
    const std::string_view text = node.text();
    if (text == "NaN") return std::nan("");
    if (text == "Infinity") return HUGE_VAL;
    if (text == "-Infinity") return -HUGE_VAL;
    value = FromText<double>(text);
  }
  if (!value) {
    report.WrongType(node, path, "a number");
    return std::nullopt;
  }
  if (std::isfinite(*value) && std::abs(*value) > highest) {
    report.Error("out-of-range", node, path, StrCat(node.text(), " is out of range"));
    return std::nullopt;
  }
  return value;
}

std::optional<bool> ReadBool(Node node, const FieldPath& path, Report& report) {
  if (node.type() == NodeType::kBool) return node.Bool();
  report.WrongType(node, path, "a boolean");
  return std::nullopt;
}

std::optional<std::string_view> ReadString(Node node, const FieldPath& path, Report& report) {
  if (node.IsString()) return node.text();
  report.WrongType(node, path, "a string");
  return std::nullopt;
}

std::optional<std::string> ReadBytes(Node node, const FieldPath& path, Report& report) {
  const std::optional<std::string_view> text = ReadString(node, path, report);
  if (!text) return std::nullopt;
  std::optional<std::string> bytes = DecodeBase64(*text);
  if (!bytes) report.PlainError("wrong-base64", node, path, "the text is not base64");
  return bytes;
}

std::optional<int> ReadEnum(Node node, const google::protobuf::EnumDescriptor& type, const FieldPath& path,
                            Report& report) {
  const google::protobuf::EnumValueDescriptor* value = nullptr;
  if (node.IsString()) {
    value = type.FindValueByName(std::string(node.text()));
  } else if (const std::optional<int64_t> number = node.Int();
             number && *number == static_cast<int>(*number)) {
    value = type.FindValueByNumber(static_cast<int>(*number));
  } else if (!number) {
    report.WrongType(node, path, "the name of a value");
    return std::nullopt;
  }
  if (value != nullptr) return value->number();
  std::vector<std::string_view> names;
  names.reserve(type.value_count());
  for (int i = 0; i < type.value_count(); ++i) names.push_back(type.value(i)->name());
  report.Error("unknown-value", node, path,
               StrCat("unknown value ", node.text(), Suggestion(node.text(), names),
                      " (known: ", Join(names, ", "), ")"));
  return std::nullopt;
}

}  // namespace fairlead::config
