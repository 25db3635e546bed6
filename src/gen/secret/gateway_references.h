#ifndef FAIRLEAD_GEN_SECRET_GATEWAY_REFERENCES_H_
#define FAIRLEAD_GEN_SECRET_GATEWAY_REFERENCES_H_

#include <set>
#include <string>

#include "gen/secret/secret_name.h"
#include "mesh/view/view.h"
#include "model/peer_identity.h"

namespace fairlead::gen::secret {

// The names of the secrets ("kubernetes-gateway://shop/cert") that the client's Gateways refer to and may
// have. A Gateway counts if it has the client's namespace, and the client's service account if it names one.
// The secret must have that namespace, too, or a ReferenceGrant of its namespace must allow it. Source:
// Istio's MergedGateway.VerifiedCertificateReferences.
std::set<std::string, std::less<>> GatewayReferences(mesh::View& view, const model::PeerIdentity& identity);

// The accounts, "namespace/account", of Gateways that name theirs and refer to the secret, for messages.
std::set<std::string> AccountsOf(mesh::View& view, const SecretName& secret);

}  // namespace fairlead::gen::secret

#endif  // FAIRLEAD_GEN_SECRET_GATEWAY_REFERENCES_H_
