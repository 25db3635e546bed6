#ifndef FAIRLEAD_GATEWAY_API_CERTIFICATES_H_
#define FAIRLEAD_GATEWAY_API_CERTIFICATES_H_

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "config/object.h"

// What is wrong with certificates that objects refer to. The texts are those that Istio and Go report: they
// are part of statuses. All functions are pure; nothing means that nothing is wrong.
namespace fairlead::gateway_api {

// Of a Secret that is to hold a certificate and its key (tls.crt and tls.key, or cert and key): what is
// missing.
std::optional<std::string> MissingKeyPair(const std::map<std::string, std::string>& data);
// Of such a Secret: whether the two can be read and go together (Go: tls.X509KeyPair).
std::optional<std::string> BrokenKeyPair(const std::map<std::string, std::string>& data);

// Of a ConfigMap or Secret that is to hold CA certificates (ca.crt, or cacert): what is missing.
std::optional<std::string> MissingRoot(const std::map<std::string, std::string>& data);
// Whether that text holds a certificate at all.
bool HasCertificate(const std::map<std::string, std::string>& data);

// Whether a Secret may hold certificates by its type: Istio does not look at service account tokens and Helm
// releases.
bool IsReadSecret(const config::ConfigObject& secret);

}  // namespace fairlead::gateway_api

#endif  // FAIRLEAD_GATEWAY_API_CERTIFICATES_H_
