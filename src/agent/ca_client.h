#ifndef FAIRLEAD_AGENT_CA_CLIENT_H_
#define FAIRLEAD_AGENT_CA_CLIENT_H_

#include <memory>
#include <string>

#include "agent/workload_certificate.h"

namespace fairlead::agent {

struct CaClientOptions {
  std::string address;      // "istiod.istio-system.svc:15012"
  std::string server_name;  // that its certificate must have; "": the address's host (ISTIOD_SAN)
  std::string roots_file;   // that vouch for it, PEM
  std::string token_file;   // of the workload's token; "": none
  // A folder with cert-chain.pem, key.pem and root-cert.pem that prove who the workload is, in place of a
  // token (PROV_CERT); "": none.
  std::string certificate_folder;
  std::string cluster_id;  // of the workload; sent along
};

// An authority that speaks istio.v1.auth.IstioCertificateService over TLS. Files are read for each request,
// and the connection is made anew, so that what was rotated counts. The agent proves who it is by its earlier
// certificate, by the folder's, or by the token.
std::unique_ptr<CaClient> NewCaClient(CaClientOptions options);

}  // namespace fairlead::agent

#endif  // FAIRLEAD_AGENT_CA_CLIENT_H_
