#include "proto/json.h"

#include <google/protobuf/util/json_util.h>
#include <google/protobuf/util/type_resolver_util.h>

#include "base/strings.h"
#include "proto/descriptors.h"

namespace fairlead::proto {
namespace {

constexpr char kUrlPrefix[] = "type.googleapis.com";

google::protobuf::util::TypeResolver* Types() {
  static auto* resolver =
      google::protobuf::util::NewTypeResolverForDescriptorPool(kUrlPrefix, &WholeApiPool());
  return resolver;
}

std::string Url(std::string_view type) { return StrCat(kUrlPrefix, "/", type); }

absl::Status Failure(const google::protobuf::util::Status& status) {
  return absl::InvalidArgumentError(std::string(status.message()));
}

}  // namespace

absl::StatusOr<std::string> ToJson(std::string_view type, std::string_view bytes, JsonLayout layout) {
  google::protobuf::util::JsonPrintOptions options;
  options.add_whitespace = layout == JsonLayout::kPretty;
  std::string json;
  const auto status =
      google::protobuf::util::BinaryToJsonString(Types(), Url(type), std::string(bytes), &json, options);
  if (!status.ok()) return Failure(status);
  return json;
}

absl::StatusOr<std::string> FromJson(std::string_view type, std::string_view json) {
  google::protobuf::util::JsonParseOptions options;
  options.ignore_unknown_fields = true;
  std::string bytes;
  const auto status =
      google::protobuf::util::JsonToBinaryString(Types(), Url(type), std::string(json), &bytes, options);
  if (!status.ok()) return Failure(status);
  return bytes;
}

}  // namespace fairlead::proto
