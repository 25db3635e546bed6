#ifndef FAIRLEAD_CONFIG_READ_PROTO_READING_H_
#define FAIRLEAD_CONFIG_READ_PROTO_READING_H_

#include <google/protobuf/message.h>

#include <string_view>
#include <vector>

#include "config/read/proto_reader.h"
#include "config/read/proto_schema.h"

// The parts of ReadProto, which call one another. Each reports its mistakes and returns whether there were
// none.
namespace fairlead::config {

struct Reading {
  Report& report;
  UnknownFields unknown;
  bool Unknown(const Node::Entry& entry, const FieldPath& path, const std::vector<std::string_view>& names);
};

// A message in whatever JSON form its type has.
bool ReadMessage(Node node, const FieldPath& path, Reading& reading, google::protobuf::Message* message);
// A message as a mapping of its fields.
bool ReadFields(Node node, const MessageSchema& schema, const FieldPath& path, Reading& reading,
                google::protobuf::Message* message);
// Sets a field that is not repeated.
bool ReadSingular(Node node, const google::protobuf::FieldDescriptor* field, const FieldPath& path,
                  Reading& reading, google::protobuf::Message* message);
// Sets a field that is no message, or adds to it if it is repeated.
bool ReadScalar(Node node, const google::protobuf::FieldDescriptor* field, const FieldPath& path,
                Reading& reading, google::protobuf::Message* message);
// The same for strings and bytes.
bool ReadText(Node node, const google::protobuf::FieldDescriptor* field, const FieldPath& path,
              Reading& reading, google::protobuf::Message* message);

}  // namespace fairlead::config

#endif  // FAIRLEAD_CONFIG_READ_PROTO_READING_H_
