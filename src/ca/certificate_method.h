#ifndef FAIRLEAD_CA_CERTIFICATE_METHOD_H_
#define FAIRLEAD_CA_CERTIFICATE_METHOD_H_

#include <memory>
#include <string>

#include "ca/caller.h"
#include "ca/certificate_service.h"
#include "ca/turns.h"
#include "server/grpc_server.h"

namespace fairlead::ca {

// The proofs of a call for its caller's identity. REQUIRES: within the call's StreamOpener.
Credentials CredentialsOf(const server::ServerStream& stream);

// The peer of a request for turns: the identity of a verified certificate, otherwise the address without its
// port. A token counts only after its verification, and that work already waits for its turn.
std::string WaitsAs(const Credentials& credentials);

// istio.v1.auth.IstioCertificateService/CreateCertificate, over TLS alone: a token would else be anybody's.
// Requests take turns by peer; one beyond those that may wait is refused at once (ResourceExhausted). The
// service must outlive the server.
server::GrpcMethod CertificateMethod(const CertificateService* service, std::shared_ptr<Turns> turns);

}  // namespace fairlead::ca

#endif  // FAIRLEAD_CA_CERTIFICATE_METHOD_H_
