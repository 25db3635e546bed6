#ifndef FAIRLEAD_CA_FORWARDED_CERTIFICATE_H_
#define FAIRLEAD_CA_FORWARDED_CERTIFICATE_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace fairlead::ca {

// One element of x-forwarded-client-cert: what one proxy says of its client's certificate.
struct ForwardedCertificate {
  std::vector<std::string> uris, dns_names;
  std::string subject, hash;
};

// The elements in the order of the header: the last one was added by the proxy that is nearest.
// InvalidArgument where the header is not as Envoy writes it, or longer than 64 KiB. Source: Envoy's
// documentation of the header.
absl::StatusOr<std::vector<ForwardedCertificate>> ReadForwardedCertificates(std::string_view header);

}  // namespace fairlead::ca

#endif  // FAIRLEAD_CA_FORWARDED_CERTIFICATE_H_
