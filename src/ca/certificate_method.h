#ifndef FAIRLEAD_CA_CERTIFICATE_METHOD_H_
#define FAIRLEAD_CA_CERTIFICATE_METHOD_H_

#include <memory>
#include <string>

#include "ca/caller.h"
#include "ca/certificate_service.h"
#include "ca/turns.h"
#include "rpc/grpc_server.h"

namespace fairlead::ca {

// What a call brings to prove who its caller is. REQUIRES: within the call's StreamOpener.
Credentials CredentialsOf(const rpc::ServerStream& stream);

// Whose turn a request takes: the identity of a verified certificate, else the address without its port. What
// a token says counts only once it was verified, which is work that waits for its turn already.
std::string WaitsAs(const Credentials& credentials);

// istio.v1.auth.IstioCertificateService/CreateCertificate, over TLS alone: a token would else be anybody's.
// Requests take turns by peer; one beyond those that may wait is refused at once (ResourceExhausted). The
// service must outlive the server.
rpc::GrpcMethod CertificateMethod(const CertificateService* service, std::shared_ptr<Turns> turns);

}  // namespace fairlead::ca

#endif  // FAIRLEAD_CA_CERTIFICATE_METHOD_H_
