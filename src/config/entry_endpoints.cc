#include "config/entry_endpoints.h"

#include <google/protobuf/util/message_differencer.h>

#include "config/content_hash.h"
#include "istio/networking/v1alpha3/service_entry.pb.h"

namespace fairlead::config {
namespace {

using istio::networking::v1alpha3::ServiceEntry;

bool SameButEndpoints(const ServiceEntry& before, const ServiceEntry& after) {
  google::protobuf::util::MessageDifferencer differencer;
  differencer.IgnoreField(ServiceEntry::descriptor()->FindFieldByNumber(ServiceEntry::kEndpointsFieldNumber));
  return differencer.Compare(before, after);
}

}  // namespace

bool DifferInEndpointsAlone(const ConfigObject& before, const ConfigObject& after) {
  if (before.kind() != Kind::kServiceEntry || after.kind() != Kind::kServiceEntry) return false;
  const ObjectStatus none;
  const auto status = [&none](const ConfigObject& object) -> const ObjectStatus& {
    return object.status() == nullptr ? none : *object.status();
  };
  // The generation counts changes of the spec, the endpoints' among them.
  const auto rest = [](const ConfigObject& object) {
    ObjectMeta meta = object.meta();
    meta.generation = 0;
    return ContentHash().Add(meta).value();
  };
  return rest(before) == rest(after) && status(before) == status(after) &&
         SameButEndpoints(before.Spec<ServiceEntry>(), after.Spec<ServiceEntry>());
}

}  // namespace fairlead::config
