#include <google/protobuf/any.pb.h>

#include <algorithm>
#include <string>
#include <utility>

#include "base/hash.h"
#include "base/strings.h"
#include "gen/generator.h"
#include "gen/resource/references.h"
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

std::shared_ptr<cache::Resource> End(std::string_view name, std::string_view type, const std::string& any,
                                     Audience audience, cache::Origins origins) {
  static auto* const packer = new cache::BytePacker;
  auto resource = std::make_shared<cache::Resource>();
  resource->name = Interned(name);
  resource->hash = StableHash(any);
  const bool pack = audience == Audience::kOne || any.size() < cache::kLarge;
  resource->any = pack ? packer->Pack(type, any) : cache::PackedBytes(any);
  std::sort(origins.begin(), origins.end());
  origins.erase(std::unique(origins.begin(), origins.end()), origins.end());
  resource->origins = std::move(origins);
  return resource;
}

}  // namespace

cache::ResourcePtr Encode(std::string_view name, const google::protobuf::Message& message, Audience audience,
                          cache::Origins origins) {
  const std::string& type = message.GetDescriptor()->full_name();
  std::string any = Begin(type, message.ByteSizeLong());
  proto::AppendMessage(Any::kValueFieldNumber, message, &any);
  auto resource = End(name, type, any, audience, std::move(origins));
  resource->references = ReferencesOf(message);
  return resource;
}

cache::ResourcePtr EncodeBytes(std::string_view name, std::string_view type, std::string_view message,
                               Audience audience, cache::Origins origins) {
  std::string any = Begin(type, message.size());
  proto::AppendField(Any::kValueFieldNumber, message, &any);
  return End(name, type, any, audience, std::move(origins));
}

Interned OriginKey(std::string_view kind, std::string_view ns, std::string_view name) {
  return StrCat(kind, "/", ns, "/", name);
}

}  // namespace fairlead::gen
