#ifndef FAIRLEAD_AGENT_CA_CLIENT_H_
#define FAIRLEAD_AGENT_CA_CLIENT_H_

#include <memory>

#include "agent/proofs.h"
#include "agent/workload_certificate.h"

namespace fairlead::agent {

// An authority that speaks istio.v1.auth.IstioCertificateService over TLS. Each request goes on a connection
// of its own, with proofs read anew.
std::unique_ptr<CaClient> NewCaClient(ControlPlaneOptions options);

}  // namespace fairlead::agent

#endif  // FAIRLEAD_AGENT_CA_CLIENT_H_
