#include "gen/patch/merge.h"

#include <google/protobuf/any.pb.h>
#include <google/protobuf/duration.pb.h>
#include <google/protobuf/message.h>

#include <memory>
#include <string>
#include <vector>

#include "proto/descriptors.h"
#include "proto/messages.h"

namespace fairlead::gen::patch {
namespace {

using google::protobuf::Any;
using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

bool IsDuration(const FieldDescriptor& field) {
  return field.message_type()->full_name() == google::protobuf::Duration::descriptor()->full_name();
}

// Drops what the patch replaces as a whole, so that protobuf's own merging does the rest.
void DropReplaced(const Message& patch, Lists lists, Message* out) {
  std::vector<const FieldDescriptor*> fields;
  patch.GetReflection()->ListFields(patch, &fields);
  const Reflection* reflection = out->GetReflection();
  for (const FieldDescriptor* field : fields) {
    if (field->is_map()) continue;
    if (field->is_repeated()) {
      if (lists == Lists::kReplace) reflection->ClearField(out, field);
      continue;
    }
    if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE || !reflection->HasField(*out, field)) continue;
    if (IsDuration(*field)) {
      reflection->ClearField(out, field);
    } else {
      DropReplaced(patch.GetReflection()->GetMessage(patch, field), lists,
                   reflection->MutableMessage(out, field));
    }
  }
}

// The packed message; null where it cannot be read.
std::unique_ptr<Message> Unpacked(const Any& any) {
  const std::string& url = any.type_url();
  const Descriptor* type = proto::WholeApiPool().FindMessageTypeByName(url.substr(url.rfind('/') + 1));
  if (type == nullptr) return nullptr;
  std::unique_ptr<Message> message(proto::WholeApiMessages().GetPrototype(type)->New());
  return message->ParseFromString(any.value()) ? std::move(message) : nullptr;
}

}  // namespace

void Merge(const Message& patch, Lists lists, Message* out) {
  DropReplaced(patch, lists, out);
  out->MergeFrom(patch);
}

AnyMerge MergeAny(const Any& patch, Any* out) {
  const std::unique_ptr<Message> merged = Unpacked(*out);
  const std::unique_ptr<Message> from = Unpacked(patch);
  if (merged == nullptr || from == nullptr) return AnyMerge::kUnreadable;
  if (merged->GetDescriptor() != from->GetDescriptor()) return AnyMerge::kTypesMismatch;
  Merge(*from, Lists::kAppend, merged.get());
  proto::Pack(*merged, out);
  return AnyMerge::kMerged;
}

}  // namespace fairlead::gen::patch
