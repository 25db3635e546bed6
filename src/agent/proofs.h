#ifndef FAIRLEAD_AGENT_PROOFS_H_
#define FAIRLEAD_AGENT_PROOFS_H_

#include <string>

#include "absl/status/statusor.h"
#include "agent/secret_store.h"
#include "agent/upstream.h"

namespace fairlead::agent {

// A control plane that certificates come from, and by what the agent proves to it who it is.
struct ControlPlaneOptions {
  std::string address;      // "istiod.istio-system.svc:15012"
  std::string server_name;  // that its certificate must have; "": the address's host (ISTIOD_SAN)
  std::string roots_file;   // that vouch for it, PEM
  std::string token_file;   // of the workload's token; "": none
  // A folder with cert-chain.pem, key.pem and root-cert.pem that prove who the workload is, in place of a
  // token (PROV_CERT); "": none.
  std::string certificate_folder;
  std::string cluster_id;  // of the workload; sent along
};

UpstreamOptions PlaceOf(const ControlPlaneOptions& options);

// What a call shows: `earlier` if there is one, else the folder's certificate, and the token. Files are read
// now, so that what was rotated counts; Unavailable where what is needed cannot be.
absl::StatusOr<Proofs> ReadProofs(const ControlPlaneOptions& options, const Secret& earlier);

}  // namespace fairlead::agent

#endif  // FAIRLEAD_AGENT_PROOFS_H_
