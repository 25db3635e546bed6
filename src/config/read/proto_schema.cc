#include "config/read/proto_schema.h"

#include <google/protobuf/descriptor.h>

#include <memory>
#include <mutex>

namespace fairlead::config {
namespace {

using google::protobuf::Descriptor;
using Form = MessageSchema::Form;

Form FormOf(const Descriptor* descriptor) {
  switch (descriptor->well_known_type()) {
    case Descriptor::WELLKNOWNTYPE_DURATION:
      return Form::kDuration;
    case Descriptor::WELLKNOWNTYPE_TIMESTAMP:
      return Form::kTimestamp;
    case Descriptor::WELLKNOWNTYPE_STRUCT:
      return Form::kStruct;
    case Descriptor::WELLKNOWNTYPE_VALUE:
      return Form::kValue;
    case Descriptor::WELLKNOWNTYPE_LISTVALUE:
      return Form::kListValue;
    case Descriptor::WELLKNOWNTYPE_ANY:
      return Form::kAny;
    case Descriptor::WELLKNOWNTYPE_FIELDMASK:
      return Form::kFieldMask;
    case Descriptor::WELLKNOWNTYPE_DOUBLEVALUE:
    case Descriptor::WELLKNOWNTYPE_FLOATVALUE:
    case Descriptor::WELLKNOWNTYPE_INT64VALUE:
    case Descriptor::WELLKNOWNTYPE_UINT64VALUE:
    case Descriptor::WELLKNOWNTYPE_INT32VALUE:
    case Descriptor::WELLKNOWNTYPE_UINT32VALUE:
    case Descriptor::WELLKNOWNTYPE_STRINGVALUE:
    case Descriptor::WELLKNOWNTYPE_BYTESVALUE:
    case Descriptor::WELLKNOWNTYPE_BOOLVALUE:
      return Form::kWrapper;
    default:
      return Form::kFields;
  }
}

}  // namespace

const MessageSchema& FieldSchema::Message() const {
  const MessageSchema* known = message.load(std::memory_order_acquire);
  if (known == nullptr) {
    known = &MessageSchema::Of(field->message_type());
    message.store(known, std::memory_order_release);
  }
  return *known;
}

const MessageSchema& MessageSchema::Of(const Descriptor* descriptor) {
  static auto& mutex = *new std::mutex;
  static auto& schemas = *new absl::flat_hash_map<const Descriptor*, std::unique_ptr<const MessageSchema>>;
  std::lock_guard lock(mutex);
  std::unique_ptr<const MessageSchema>& schema = schemas[descriptor];
  if (schema == nullptr) schema.reset(new MessageSchema(descriptor));
  return *schema;
}

MessageSchema::MessageSchema(const Descriptor* descriptor)
    : descriptor_(descriptor),
      form_(FormOf(descriptor)),
      fields_(static_cast<size_t>(descriptor->field_count())) {
  for (int i = 0; i < descriptor->field_count(); ++i) {
    FieldSchema& schema = fields_[static_cast<size_t>(i)];
    schema.field = descriptor->field(i);
    by_name_.emplace(schema.field->name(), &schema);
    by_name_[schema.field->json_name()] = &schema;
  }
}

std::vector<std::string_view> MessageSchema::Names() const {
  std::vector<std::string_view> names;
  names.reserve(fields_.size());
  for (const FieldSchema& field : fields_) names.push_back(field.field->json_name());
  return names;
}

}  // namespace fairlead::config
