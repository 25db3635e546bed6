#ifndef FAIRLEAD_CA_CERTIFICATE_METHOD_H_
#define FAIRLEAD_CA_CERTIFICATE_METHOD_H_

#include "base/executor.h"
#include "ca/caller.h"
#include "ca/certificate_service.h"
#include "rpc/grpc_server.h"

namespace fairlead::ca {

// What a call brings to prove who its caller is. REQUIRES: within the call's StreamOpener.
Credentials CredentialsOf(const rpc::ServerStream& stream);

// istio.v1.auth.IstioCertificateService/CreateCertificate, over TLS alone: a token would else be anybody's.
// The service works on the executor's threads; both must outlive the server.
rpc::GrpcMethod CertificateMethod(const CertificateService* service, Executor* executor);

}  // namespace fairlead::ca

#endif  // FAIRLEAD_CA_CERTIFICATE_METHOD_H_
