#include "gen/generator.h"

#define XXH_INLINE_ALL
#include <google/protobuf/any.pb.h>
#include <xxhash.h>

#include "base/strings.h"
#include "proto/messages.h"
#include "proto/wire.h"

namespace fairlead::gen {

cache::ResourcePtr Encode(std::string_view name, const google::protobuf::Message& message) {
  return EncodeBytes(name, message.GetTypeName(), proto::DeterministicBytes(message));
}

cache::ResourcePtr EncodeBytes(std::string_view name, std::string_view type, std::string_view message) {
  auto resource = std::make_shared<cache::Resource>();
  resource->name = Interned(name);
  resource->any.reserve(message.size() + type.size() + 40);
  proto::AppendField(google::protobuf::Any::kTypeUrlFieldNumber, StrCat("type.googleapis.com/", type),
                     &resource->any);
  proto::AppendField(google::protobuf::Any::kValueFieldNumber, message, &resource->any);
  resource->hash = XXH3_64bits(resource->any.data(), resource->any.size());
  return resource;
}

}  // namespace fairlead::gen
