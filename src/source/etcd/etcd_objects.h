#ifndef FAIRLEAD_SOURCE_ETCD_ETCD_OBJECTS_H_
#define FAIRLEAD_SOURCE_ETCD_ETCD_OBJECTS_H_

#include <optional>
#include <string>
#include <string_view>

#include "config/object.h"
#include "source/platform/platform_view.h"

// Objects as values of keys PREFIX/KIND/NAMESPACE/NAME, or PREFIX/KIND/NAME for kinds without a namespace.
// KIND is the manifest's kind, "VirtualService", or that and its group, "Gateway.gateway.networking.k8s.io".
// Pure.
namespace fairlead::source {

// Which object a key is for, below the prefix with its "/"; nothing where it is for none.
std::optional<config::ObjectKey> ObjectOfEtcdKey(std::string_view key, std::string_view prefix);
// The key of an object. A kind whose name several groups have is written with its group, but for Istio's.
std::string EtcdKeyOf(const config::ObjectKey& object, std::string_view prefix);

// The object of a value, one document in YAML or JSON with the kind, namespace and name of its key. `origin`:
// "etcd://h:2379", for diagnostics. What cannot be read has diagnostics and the objects of `before`, the
// key's last part (may be null). `deny_lost`: a policy without an earlier version denies all requests then.
PlatformPart ReadEtcdValue(const std::string& origin, std::string_view prefix, std::string_view key,
                           std::string_view value, const PlatformPart* before, bool deny_lost);

}  // namespace fairlead::source

#endif  // FAIRLEAD_SOURCE_ETCD_ETCD_OBJECTS_H_
