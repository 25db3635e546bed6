#ifndef FAIRLEAD_PUSH_STREAM_PROXY_WARNING_H_
#define FAIRLEAD_PUSH_STREAM_PROXY_WARNING_H_

#include <string>

#include "mesh/view/proxy_scope.h"

namespace fairlead::push {

// The node metadata by which `fairlead agent` says that it has no certificates to give to its Envoy: the
// value is then "none".
inline constexpr char kCertificatesKey[] = "FAIRLEAD_CERTIFICATES";

// What a proxy will be sent and cannot use, for the log: listeners with mutual TLS for one that says that it
// has no certificates; they would wait for ever. "" where there is nothing. Pure.
std::string WarningFor(const mesh::ProxyScope& scope);

}  // namespace fairlead::push

#endif  // FAIRLEAD_PUSH_STREAM_PROXY_WARNING_H_
