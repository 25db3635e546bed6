#ifndef FAIRLEAD_CONFIG_READ_PROTO_KINDS_H_
#define FAIRLEAD_CONFIG_READ_PROTO_KINDS_H_

#include <memory>

#include "config/kind.h"

namespace google::protobuf {
class Message;
}

namespace fairlead::config {

// A new, empty spec of a kind whose payload is a protobuf message; null for the other kinds.
std::shared_ptr<google::protobuf::Message> NewSpec(Kind kind);

}  // namespace fairlead::config

#endif  // FAIRLEAD_CONFIG_READ_PROTO_KINDS_H_
