#include "gen/generator.h"

#define XXH_INLINE_ALL
#include <google/protobuf/any.pb.h>
#include <xxhash.h>

#include "base/strings.h"
#include "proto/messages.h"
#include "proto/wire.h"

namespace fairlead::gen {

namespace {

using google::protobuf::Any;

constexpr size_t kFieldHeads = 8;  // of two short tags and lengths, at most

std::shared_ptr<cache::Resource> Begin(std::string_view name, std::string_view type, size_t size) {
  auto resource = std::make_shared<cache::Resource>();
  resource->name = Interned(name);
  const std::string url = StrCat("type.googleapis.com/", type);
  resource->any.reserve(url.size() + size + kFieldHeads);
  proto::AppendField(Any::kTypeUrlFieldNumber, url, &resource->any);
  return resource;
}

cache::ResourcePtr End(std::shared_ptr<cache::Resource> resource) {
  resource->hash = XXH3_64bits(resource->any.data(), resource->any.size());
  return resource;
}

}  // namespace

cache::ResourcePtr Encode(std::string_view name, const google::protobuf::Message& message) {
  auto resource = Begin(name, message.GetDescriptor()->full_name(), message.ByteSizeLong());
  proto::AppendMessage(Any::kValueFieldNumber, message, &resource->any);
  return End(std::move(resource));
}

cache::ResourcePtr EncodeBytes(std::string_view name, std::string_view type, std::string_view message) {
  auto resource = Begin(name, type, message.size());
  proto::AppendField(Any::kValueFieldNumber, message, &resource->any);
  return End(std::move(resource));
}

}  // namespace fairlead::gen
