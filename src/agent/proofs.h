#ifndef FAIRLEAD_AGENT_PROOFS_H_
#define FAIRLEAD_AGENT_PROOFS_H_

#include <string>

#include "absl/status/statusor.h"
#include "agent/secret_store.h"
#include "agent/upstream.h"

namespace fairlead::agent {

// The machine's roots, and the word for them in XDS_ROOT_CA and CA_ROOT_CA.
inline constexpr char kSystemRoots[] = "/etc/ssl/certs/ca-certificates.crt", kSystem[] = "SYSTEM";

// A control plane that issues certificates, and the agent's proofs of identity for it.
struct ControlPlaneOptions {
  std::string address;      // "istiod.istio-system.svc:15012"
  std::string server_name;  // that its certificate must have; "": the address's host (ISTIOD_SAN)
  std::string roots_file;   // that vouch for it, PEM; "SYSTEM": the machine's
  std::string token_file;   // of the workload's token; "": none
  // A folder with cert-chain.pem, key.pem and root-cert.pem that prove who the workload is, in place of a
  // token (PROV_CERT); "": none.
  std::string certificate_folder;
  std::string cluster_id;  // of the workload; sent along
  Metadata headers = {};   // further ones (CA_HEADER_…, XDS_HEADER_…)
  bool plaintext = false;  // the address speaks no TLS
};

UpstreamOptions PlaceOf(const ControlPlaneOptions& options);

// The proofs of a call: `earlier` if there is one, otherwise the folder's certificate, and the token. Files
// are read at each call, so that rotated ones count; Unavailable if a needed file cannot be read.
absl::StatusOr<Proofs> ReadProofs(const ControlPlaneOptions& options, const Secret& earlier);

// The proofs of a call with a certificate that is at hand, and with the token if `with_token`. Roots of the
// file count besides `roots`; a file that cannot be read is left out.
Proofs ProofsOfCertificate(const ControlPlaneOptions& options, const Secret& own, const std::string& roots,
                           bool with_token);

}  // namespace fairlead::agent

#endif  // FAIRLEAD_AGENT_PROOFS_H_
