#ifndef FAIRLEAD_GATEWAY_API_CONVERSION_LISTENER_TLS_H_
#define FAIRLEAD_GATEWAY_API_CONVERSION_LISTENER_TLS_H_

#include <memory>

#include "config/object.h"
#include "config/tree.h"
#include "gateway_api/error.h"
#include "gateway_api/lookups.h"

namespace istio::networking::v1alpha3 {
class ServerTLSSettings;
}

namespace fairlead::gateway_api {

// Reasons of listeners' conditions. Source: Gateway API, ListenerConditionReason.
inline constexpr std::string_view kInvalidCertificateRef = "InvalidCertificateRef";
inline constexpr std::string_view kInvalidCaCertificateRef = "InvalidCACertificateRef";
inline constexpr std::string_view kInvalidCaCertificateKind = "InvalidCACertificateKind";
inline constexpr std::string_view kRefNotPermitted = "RefNotPermitted";

struct ListenerTls {
  std::shared_ptr<const istio::networking::v1alpha3::ServerTLSSettings> settings;  // null: no TLS section
  MaybeError error;
};

// What a listener's TLS section means. `owner`: the Gateway or ListenerSet that has the listener, whose
// namespace references start from; `gateway`: the spec of the Gateway, whose spec.tls.frontend says how
// clients are validated.
ListenerTls BuildListenerTls(const config::ConfigObject& owner, config::Node gateway, config::Node listener,
                             int64_t port, Lookups& lookups);

// What is wrong with the certificate that a Gateway is to show to backends
// (spec.tls.backend.clientCertificateRef).
MaybeError CheckBackendCertificate(const config::ConfigObject& gateway, Lookups& lookups);

}  // namespace fairlead::gateway_api

#endif  // FAIRLEAD_GATEWAY_API_CONVERSION_LISTENER_TLS_H_
