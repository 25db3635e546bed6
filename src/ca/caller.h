#ifndef FAIRLEAD_CA_CALLER_H_
#define FAIRLEAD_CA_CALLER_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

// The identity of a caller, and its proof.
namespace fairlead::ca {

// The credentials of a caller. Headers are its word alone.
struct Credentials {
  std::string address;                        // "ipv4:10.0.0.1:43210"
  bool verified_certificate = false;          // the transport verified a client certificate
  std::vector<std::string> certificate_uris;  // of it
  std::string authorization;                  // header "authorization"; "": none
  std::string forwarded_certificate;          // header "x-forwarded-client-cert"; "": none
  std::string cluster;                        // header "clusterid"; "": the control plane's own
};

// A transport's address ("ipv4:10.0.0.1:43210") without its port.
std::string AddressWithoutPort(const std::string& address);

// The caller's identity.
struct Caller {
  std::vector<std::string> identities;  // SPIFFE ids, at least one
  // The pod that a Kubernetes token is bound to; "" where it does not say.
  std::string ns, service_account, pod, pod_uid, node;
  std::string cluster;  // whose API server has said so; "": the control plane's own
};

// The mesh's trust domain, then its aliases, as they are now.
using TrustDomains = std::function<std::vector<std::string>()>;

// Knows one kind of proof. Thread-safe.
class Authenticator {
 public:
  virtual ~Authenticator() = default;
  virtual std::string_view name() const = 0;  // "client certificate", for logs
  // Nothing where the caller brings no proof of this kind; Unauthenticated, saying why, where it does not
  // hold.
  // Does not block, unless MayWait.
  virtual absl::StatusOr<std::optional<Caller>> Authenticate(const Credentials& credentials) const = 0;
  // Whether these credentials have to be asked about elsewhere.
  virtual bool MayWait(const Credentials& /*credentials*/) const { return false; }
};

// Tries each in order: the first proof that holds counts. Unauthenticated, with the reasons of all, where
// none does.
class Authenticators {
 public:
  void Add(std::unique_ptr<Authenticator> authenticator) { all_.push_back(std::move(authenticator)); }
  absl::StatusOr<Caller> Authenticate(const Credentials& credentials) const;
  // The same where nobody has to be asked; nothing where somebody has.
  std::optional<absl::StatusOr<Caller>> AuthenticateAtOnce(const Credentials& credentials) const;

 private:
  std::optional<absl::StatusOr<Caller>> Try(const Credentials& credentials, bool may_wait) const;

  std::vector<std::unique_ptr<Authenticator>> all_;
};

// The identities of the text's SPIFFE ids that are of one of these trust domains.
std::vector<std::string> OwnIdentities(const std::vector<std::string>& uris,
                                       const std::vector<std::string>& trust_domains);

// By a certificate that the transport verified: its SPIFFE ids of the mesh's trust domains.
std::unique_ptr<Authenticator> NewCertificateAuthenticator(TrustDomains trust_domains);

// By the header of a trusted gateway (x-forwarded-client-cert), from an address in one of `networks`
// ("10.0.0.0/8") or of this machine. Only the SPIFFE ids of the last element count: the gateway vouches for
// no other. InvalidArgument names a network that cannot be read. Source: Istio's XfccAuthenticator
// (TRUSTED_GATEWAY_CIDR), which believes all elements.
absl::StatusOr<std::unique_ptr<Authenticator>> NewForwardedAuthenticator(
    const std::vector<std::string>& networks, TrustDomains trust_domains);

}  // namespace fairlead::ca

#endif  // FAIRLEAD_CA_CALLER_H_
