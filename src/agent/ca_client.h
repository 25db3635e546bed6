#ifndef FAIRLEAD_AGENT_CA_CLIENT_H_
#define FAIRLEAD_AGENT_CA_CLIENT_H_

#include <memory>
#include <string>

#include "agent/proofs.h"
#include "agent/workload_certificate.h"

namespace fairlead::agent {

// An authority that speaks istio.v1.auth.IstioCertificateService over TLS, or in plaintext at a port that has
// none. Each request goes on a connection of its own, with proofs read anew. `signer`: which of the
// authority's signers is asked for; "": its choice.
std::unique_ptr<CaClient> NewCaClient(ControlPlaneOptions options, std::string signer = "");

}  // namespace fairlead::agent

#endif  // FAIRLEAD_AGENT_CA_CLIENT_H_
