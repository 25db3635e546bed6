#ifndef FAIRLEAD_AGENT_CERTIFICATES_H_
#define FAIRLEAD_AGENT_CERTIFICATES_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "agent/file_secrets.h"
#include "agent/google_token.h"
#include "agent/options.h"
#include "agent/sds_server.h"
#include "agent/secret_store.h"
#include "agent/trust_stream.h"
#include "agent/workload_certificate.h"

namespace fairlead::agent {

// Whether there is anything to give to Envoy as the workload's certificate: an authority to ask, files, or
// somebody else who serves the socket.
bool HasCertificates(const Options& options);

// Whether somebody else serves the certificates' socket (a SPIFFE agent): they then never reach this agent.
bool HasForeignCertificates(const Options& options);

// Tells the control plane of sockets of others: one of the workload's certificate, beside which files have a
// socket of their own, and one of credentials (sds://…). Source: pilot-agent, generateNodeMetadata.
void NoteSockets(Options* options);

// The control plane that gives configuration, and what the agent proves itself by.
ControlPlaneOptions DiscoveryOf(const Options& options);

// The agent's certificates: from mounted files where they are there, else from the authority; given to the
// proxy over SDS, and written to OUTPUT_CERTS.
class Certificates {
 public:
  explicit Certificates(const Options& options);
  ~Certificates();
  // Where somebody else serves the socket already (a SPIFFE agent), secrets of files alone are served, at a
  // socket of their own. Unavailable where the socket cannot be had.
  absl::Status Start();
  SecretStore* store() { return &store_; }
  // Why there is no certificate, and which files cannot be used; "NAME: REASON". Thread-safe after Start.
  std::vector<std::string> Difficulties() const;

 private:
  bool UseMountedFiles();
  void AskAuthority();
  void AskWhatToTrust();
  absl::Status Serve();
  void WriteOut(const std::string& name, const Secret& secret);

  const Options options_;
  const bool foreign_;  // somebody else serves the workload's certificate
  SecretStore store_;
  FileSecrets files_;
  std::unique_ptr<GoogleToken> token_;  // null unless the token is the machine's at Google
  std::unique_ptr<CaClient> client_;
  std::unique_ptr<WorkloadCertificate> workload_;  // null: from files, or none
  std::unique_ptr<TrustStream> trust_;             // null unless it is asked for
  SdsServer server_;
};

}  // namespace fairlead::agent

#endif  // FAIRLEAD_AGENT_CERTIFICATES_H_
