#include "gateway_api/conversion/derived_object.h"

#include "config/content_hash.h"
#include "proto/messages.h"

namespace fairlead::gateway_api {

config::ConfigPtr MakeDerivedObject(config::Kind kind, std::string_view ns, std::string_view name,
                                    const config::ConfigObject& source, LabelMap annotations,
                                    std::shared_ptr<const void> spec, const google::protobuf::Message& hashed,
                                    int64_t creation_time) {
  config::ObjectMeta meta;
  meta.name = name;
  meta.ns = ns;
  meta.annotations = std::move(annotations);
  meta.creation_time = creation_time;
  config::ContentHash hash;
  hash.Add(static_cast<uint8_t>(kind)).Add(meta).Add(proto::DeterministicBytes(hashed));
  return std::make_shared<const config::ConfigObject>(kind, std::move(meta), source.origin(), std::move(spec),
                                                      hash.value());
}

}  // namespace fairlead::gateway_api
