#ifndef FAIRLEAD_GATEWAY_API_CONVERSION_DERIVED_OBJECT_H_
#define FAIRLEAD_GATEWAY_API_CONVERSION_DERIVED_OBJECT_H_

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include "base/labels.h"
#include "config/object.h"

namespace google::protobuf {
class Message;
}

namespace fairlead::gateway_api {

// An object of Istio's API that is made of another one, whose origin it has. `spec` is the kind's message,
// `hashed` the same as a Message; `creation_time` as in ObjectMeta.
config::ConfigPtr MakeDerivedObject(config::Kind kind, std::string_view ns, std::string_view name,
                                    const config::ConfigObject& source, LabelMap annotations,
                                    std::shared_ptr<const void> spec, const google::protobuf::Message& hashed,
                                    int64_t creation_time);

template <typename Spec>
config::ConfigPtr MakeDerived(config::Kind kind, std::string_view ns, std::string_view name,
                              const config::ConfigObject& source, LabelMap annotations, Spec spec,
                              int64_t creation_time) {
  auto owned = std::make_shared<const Spec>(std::move(spec));
  const google::protobuf::Message& hashed = *owned;
  return MakeDerivedObject(kind, ns, name, source, std::move(annotations), std::move(owned), hashed,
                           creation_time);
}
// As old as the source.
template <typename Spec>
config::ConfigPtr MakeDerived(config::Kind kind, std::string_view ns, std::string_view name,
                              const config::ConfigObject& source, LabelMap annotations, Spec spec) {
  return MakeDerived(kind, ns, name, source, std::move(annotations), std::move(spec),
                     source.meta().creation_time);
}

}  // namespace fairlead::gateway_api

#endif  // FAIRLEAD_GATEWAY_API_CONVERSION_DERIVED_OBJECT_H_
