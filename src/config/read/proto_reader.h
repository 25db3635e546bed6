#ifndef FAIRLEAD_CONFIG_READ_PROTO_READER_H_
#define FAIRLEAD_CONFIG_READ_PROTO_READER_H_

#include "config/field_path.h"
#include "config/report.h"
#include "config/tree.h"

namespace google::protobuf {
class Message;
}

namespace fairlead::config {

// kWarning: for the mesh's own files, where istiod goes on too: an unknown field is passed over, and of two
// members of a oneof the one declared last counts.
enum class UnknownFields { kError, kWarning };

// Reads a node as `message` by proto3's JSON mapping (https://protobuf.dev/programming-guides/json), on top
// of what the message holds: singular fields are replaced, lists and maps too; messages are replaced, not
// merged. Beyond the mapping: durations in Go's form, as Istio reads them. Any values are read by their type
// URL, of every type of proto::WholeApiPool(). Reports every mistake and returns whether there was none; what
// is in the message after a mistake is of no use, but for kWarning, where unknown fields are reported and
// passed over. Works on generated and dynamic messages.
bool ReadProto(Node node, const FieldPath& path, Report& report, google::protobuf::Message* message,
               UnknownFields unknown = UnknownFields::kError);

}  // namespace fairlead::config

#endif  // FAIRLEAD_CONFIG_READ_PROTO_READER_H_
