#include "gen/generator.h"

#define XXH_INLINE_ALL
#include <google/protobuf/any.pb.h>
#include <xxhash.h>

#include <string>

#include "base/strings.h"
#include "proto/messages.h"
#include "proto/wire.h"

namespace fairlead::gen {
namespace {

using google::protobuf::Any;

constexpr size_t kFieldHeads = 8;  // of two short tags and lengths, at most

// An Any without its value, with room for it.
std::string Begin(std::string_view type, size_t size) {
  const std::string url = StrCat("type.googleapis.com/", type);
  std::string any;
  any.reserve(url.size() + size + kFieldHeads);
  proto::AppendField(Any::kTypeUrlFieldNumber, url, &any);
  return any;
}

cache::ResourcePtr End(std::string_view name, std::string_view type, const std::string& any,
                       Audience audience) {
  static auto* const packer = new cache::BytePacker;
  auto resource = std::make_shared<cache::Resource>();
  resource->name = Interned(name);
  resource->hash = XXH3_64bits(any.data(), any.size());
  const bool pack = audience == Audience::kOne || any.size() < cache::kLarge;
  resource->any = pack ? packer->Pack(type, any) : cache::PackedBytes(any);
  return resource;
}

}  // namespace

cache::ResourcePtr Encode(std::string_view name, const google::protobuf::Message& message,
                          Audience audience) {
  const std::string& type = message.GetDescriptor()->full_name();
  std::string any = Begin(type, message.ByteSizeLong());
  proto::AppendMessage(Any::kValueFieldNumber, message, &any);
  return End(name, type, any, audience);
}

cache::ResourcePtr EncodeBytes(std::string_view name, std::string_view type, std::string_view message,
                               Audience audience) {
  std::string any = Begin(type, message.size());
  proto::AppendField(Any::kValueFieldNumber, message, &any);
  return End(name, type, any, audience);
}

}  // namespace fairlead::gen
