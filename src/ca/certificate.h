#ifndef FAIRLEAD_CA_CERTIFICATE_H_
#define FAIRLEAD_CA_CERTIFICATE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ca/key.h"

struct x509_st;

// X.509 certificates (RFC 5280) in PEM (RFC 7468). Times are Unix seconds.
namespace fairlead::ca {

// Immutable, may be used by any thread.
using CertificatePtr = std::shared_ptr<x509_st>;
using Certificates = std::vector<CertificatePtr>;

// All certificates of a text, which may hold other things besides. InvalidArgument where there is none, one
// cannot be read, or the text is beyond 1 MiB.
absl::StatusOr<Certificates> ReadCertificates(std::string_view pem);
// One, in DER (X.690), and nothing behind it. InvalidArgument where it is not.
absl::StatusOr<CertificatePtr> ReadCertificateDer(std::string_view der);
std::string CertificatePem(const CertificatePtr& certificate);
std::string CertificatePems(const Certificates& certificates);

int64_t NotBefore(const CertificatePtr& certificate);
int64_t NotAfter(const CertificatePtr& certificate);
bool IsAuthority(const CertificatePtr& certificate);
bool SameCertificate(const CertificatePtr& a, const CertificatePtr& b);
// The subject alternative names that are URIs. Empty where the extension cannot be read.
std::vector<std::string> UriNames(const CertificatePtr& certificate);
std::vector<std::string> DnsNames(const CertificatePtr& certificate);
// Whether the subject alternative names are these URIs, in any order, and nothing else, and the common name
// is one of them or absent.
bool IsForUrisAlone(const CertificatePtr& certificate, std::vector<std::string> uris);
KeyPtr PublicKey(const CertificatePtr& certificate);

// InvalidArgument unless the text is one or more revocation lists (RFC 5280, 5), PEM.
absl::Status CheckRevocations(std::string_view pem);

// Whether `leaf` leads to one of `roots` by way of `between` and holds at `now`; with `crl` (PEM, may be "")
// none of them revoked. Unauthenticated with the reason. `client`: the leaf must be one for clients.
absl::Status VerifyChain(const CertificatePtr& leaf, const Certificates& between, const Certificates& roots,
                         std::string_view crl, int64_t now, bool client = false);

}  // namespace fairlead::ca

#endif  // FAIRLEAD_CA_CERTIFICATE_H_
