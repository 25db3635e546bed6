#ifndef FAIRLEAD_GEN_SECRET_GATEWAY_REFERENCES_H_
#define FAIRLEAD_GEN_SECRET_GATEWAY_REFERENCES_H_

#include <set>
#include <string>

#include "gen/secret/secret_name.h"
#include "mesh/view.h"
#include "model/peer_identity.h"

namespace fairlead::gen::secret {

// The names of the secrets ("kubernetes-gateway://shop/cert") that the Gateways which the client serves refer
// to and may: the Gateway is of the client's own namespace, and of its service account where it names one,
// and so is the secret, or a ReferenceGrant of the secret's namespace lets the Gateway have it. Source:
// Istio's MergedGateway.VerifiedCertificateReferences.
std::set<std::string, std::less<>> GatewayReferences(mesh::View& view, const model::PeerIdentity& identity);

// The accounts, "namespace/account", of Gateways that name theirs and refer to the secret, for messages.
std::set<std::string> AccountsOf(mesh::View& view, const SecretName& secret);

}  // namespace fairlead::gen::secret

#endif  // FAIRLEAD_GEN_SECRET_GATEWAY_REFERENCES_H_
