#ifndef FAIRLEAD_PROTO_JSON_H_
#define FAIRLEAD_PROTO_JSON_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

// Encoded messages to and from JSON (https://protobuf.dev/programming-guides/json) by the embedded
// descriptors: an Any of any type of the whole API is read and written, whether or not code was generated for
// it. Types are given by their full names, "envoy.config.cluster.v3.Cluster". Thread-safe.
namespace fairlead::proto {

enum class JsonLayout { kCompact, kPretty };

// InvalidArgument where the type is unknown, or an Any holds an unknown type or bytes that are none of it.
absl::StatusOr<std::string> ToJson(std::string_view type, std::string_view bytes,
                                   JsonLayout layout = JsonLayout::kCompact);

// The encoded message. Fields that the type does not have are passed over: a peer may know more of them.
// InvalidArgument, saying what is wrong, where the text is no such message.
absl::StatusOr<std::string> FromJson(std::string_view type, std::string_view json);

}  // namespace fairlead::proto

#endif  // FAIRLEAD_PROTO_JSON_H_
