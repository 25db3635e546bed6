#ifndef FAIRLEAD_CONFIG_READ_PROTO_SCHEMA_H_
#define FAIRLEAD_CONFIG_READ_PROTO_SCHEMA_H_

#include <atomic>
#include <string_view>
#include <vector>

#include "base/strings.h"

namespace google::protobuf {
class Descriptor;
class FieldDescriptor;
}  // namespace google::protobuf

namespace fairlead::config {

class MessageSchema;

struct FieldSchema {
  const google::protobuf::FieldDescriptor* field = nullptr;
  mutable std::atomic<const MessageSchema*> message{nullptr};  // filled when first asked for
  const MessageSchema& Message() const;                        // of a field that holds messages
};

// A message's fields by the names that protobuf's JSON mapping reads: the JSON name and the original one.
// Made once for each descriptor and kept as long as the process. Thread-safe.
class MessageSchema {
 public:
  // Messages whose JSON form is not that of their fields.
  enum class Form { kFields, kDuration, kTimestamp, kWrapper, kStruct, kValue, kListValue, kAny, kFieldMask };

  static const MessageSchema& Of(const google::protobuf::Descriptor* descriptor);

  Form form() const { return form_; }
  const google::protobuf::Descriptor* descriptor() const { return descriptor_; }
  const FieldSchema* Find(std::string_view name) const {
    const auto it = by_name_.find(name);
    return it == by_name_.end() ? nullptr : it->second;
  }
  // JSON names, for suggestions.
  std::vector<std::string_view> Names() const;

 private:
  explicit MessageSchema(const google::protobuf::Descriptor* descriptor);

  const google::protobuf::Descriptor* descriptor_;
  Form form_;
  std::vector<FieldSchema> fields_;
  absl::flat_hash_map<std::string_view, const FieldSchema*, StringViewHash, StringViewEqual> by_name_;
};

}  // namespace fairlead::config

#endif  // FAIRLEAD_CONFIG_READ_PROTO_SCHEMA_H_
