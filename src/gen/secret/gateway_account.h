#ifndef FAIRLEAD_GEN_SECRET_GATEWAY_ACCOUNT_H_
#define FAIRLEAD_GEN_SECRET_GATEWAY_ACCOUNT_H_

#include "mesh/view.h"
#include "model/peer_identity.h"

namespace fairlead::gen::secret {

// Whether the client's account is that of the workload that the client says it is. Labels decide which
// Gateways are a router's, and any client may claim any: those of a pod count where the pod is of the proven
// account; those of no pod where no pod of that account is written, as on a host. A claim that proves nothing
// (FAIRLEAD_PLAINTEXT_IDENTITY) is not asked.
bool OwnsItsLabels(mesh::View& view, const model::PeerIdentity& identity);

// Whether the Secrets of the client's namespace are for it: it is a router of a Gateway, by labels that are
// its own, or a router whose account has no pod, or its account is one of FAIRLEAD_SECRET_READERS. Istiod asks Kubernetes whether the account may
// list secrets, which Istio's charts grant to gateways alone.
bool ReadsSecrets(mesh::View& view, const model::PeerIdentity& identity);

}  // namespace fairlead::gen::secret

#endif  // FAIRLEAD_GEN_SECRET_GATEWAY_ACCOUNT_H_
