#ifndef FAIRLEAD_GEN_SECRET_GATEWAY_ACCOUNT_H_
#define FAIRLEAD_GEN_SECRET_GATEWAY_ACCOUNT_H_

#include "mesh/view/view.h"
#include "model/peer_identity.h"

namespace fairlead::gen::secret {

// Whether the client's account is that of the workload that the client says it is. Labels decide about a
// router's Gateways, and a client may claim any labels. The labels of a pod count if the pod has the proven
// account. Labels without a pod count only if that account has no pod at all, as on a host. A claim that
// proves nothing (FAIRLEAD_PLAINTEXT_IDENTITY) is not asked.
bool OwnsItsLabels(mesh::View& view, const model::PeerIdentity& identity);

// Whether the client may have the Secrets of its namespace. An account of FAIRLEAD_SECRET_READERS may. Of
// others the API server of the client's cluster says whether they may list secrets, which Istio's charts
// grant to gateways alone; unknown until it has said so. Without an API server it must be a router of a
// Gateway by its own labels, or a router whose account has no pod. `cluster`: of the client; "": the control
// plane's own.
model::SecretAccess AccessToSecrets(mesh::View& view, const model::PeerIdentity& identity,
                                    const Interned& cluster);

}  // namespace fairlead::gen::secret

#endif  // FAIRLEAD_GEN_SECRET_GATEWAY_ACCOUNT_H_
