#ifndef FAIRLEAD_CONFIG_READ_PROTO_SCALARS_H_
#define FAIRLEAD_CONFIG_READ_PROTO_SCALARS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "config/field_path.h"
#include "config/report.h"
#include "config/tree.h"

namespace google::protobuf {
class EnumDescriptor;
}

namespace fairlead::config {

// Scalars of proto3's JSON mapping. Each reports what is wrong and returns nothing then.
// Numbers may be quoted; integers may be written as 1e3 or 2.0.
std::optional<int64_t> ReadSigned(Node node, const FieldPath& path, Report& report, int64_t lowest,
                                  int64_t highest);
std::optional<uint64_t> ReadUnsigned(Node node, const FieldPath& path, Report& report, uint64_t highest);
// "NaN", "Infinity" and "-Infinity" too.
std::optional<double> ReadDouble(Node node, const FieldPath& path, Report& report, double highest);
std::optional<bool> ReadBool(Node node, const FieldPath& path, Report& report);
std::optional<std::string_view> ReadString(Node node, const FieldPath& path, Report& report);
// Base64, standard or URL-safe, padded or not.
std::optional<std::string> ReadBytes(Node node, const FieldPath& path, Report& report);
// By name or number.
std::optional<int> ReadEnum(Node node, const google::protobuf::EnumDescriptor& type, const FieldPath& path,
                            Report& report);

}  // namespace fairlead::config

#endif  // FAIRLEAD_CONFIG_READ_PROTO_SCALARS_H_
