#ifndef FAIRLEAD_INJECTION_GO_PROTO_JSON_H_
#define FAIRLEAD_INJECTION_GO_PROTO_JSON_H_

#include <google/protobuf/descriptor.h>

#include <nlohmann/json.hpp>
#include <string>

namespace fairlead::injection {

// What Go's jsonpb says of a value that is no JSON of a message, unknown fields allowed; "" where it is.
// Pure. Source: github.com/golang/protobuf, which Istio reads its settings with.
std::string ProtoJsonProblem(const nlohmann::json& value, const google::protobuf::Descriptor& message);

}  // namespace fairlead::injection

#endif  // FAIRLEAD_INJECTION_GO_PROTO_JSON_H_
