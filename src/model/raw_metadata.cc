#include "model/raw_metadata.h"

#include <google/protobuf/struct.pb.h>

#include "proto/field_reader.h"
#include "proto/messages.h"

namespace fairlead::model {
namespace {

using google::protobuf::Struct;
using google::protobuf::Value;
using Bytes = std::optional<std::string_view>;

// A field's content where the message has it.
Bytes FieldOf(std::string_view message, int number) {
  Bytes found;
  for (proto::FieldReader reader(message); reader.Next();) {
    if (reader.number() == static_cast<uint32_t>(number)) found = reader.bytes();
  }
  return found;
}

// The encoded Value by a key of an encoded Struct, whose fields are entries of a key (1) and a value (2).
Bytes Find(std::string_view fields, std::string_view key) {
  for (proto::FieldReader reader(fields); reader.Next();) {
    if (reader.number() == Struct::kFieldsFieldNumber && FieldOf(reader.bytes(), 1).value_or("") == key)
      return FieldOf(reader.bytes(), 2);
  }
  return std::nullopt;
}

}  // namespace

RawMetadata::RawMetadata(const Struct& metadata) : bytes_(proto::DeterministicBytes(metadata)) {}

Bytes RawMetadata::Text(std::string_view key) const {
  const Bytes value = Find(bytes_, key);
  return value ? FieldOf(*value, Value::kStringValueFieldNumber) : std::nullopt;
}

Bytes RawMetadata::Text(std::string_view object, std::string_view key) const {
  const Bytes outer = Find(bytes_, object);
  const Bytes fields = outer ? FieldOf(*outer, Value::kStructValueFieldNumber) : std::nullopt;
  const Bytes value = fields ? Find(*fields, key) : std::nullopt;
  return value ? FieldOf(*value, Value::kStringValueFieldNumber) : std::nullopt;
}

Struct RawMetadata::Parse() const {
  Struct metadata;
  metadata.ParseFromString(bytes_);
  return metadata;
}

}  // namespace fairlead::model
