#ifndef FAIRLEAD_APP_CERTIFICATES_H_
#define FAIRLEAD_APP_CERTIFICATES_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "app/discovery_options.h"
#include "app/node_pods.h"
#include "base/executor.h"
#include "ca/authority.h"
#include "ca/caller.h"
#include "ca/certificate_service.h"
#include "ca/external_signer.h"
#include "ca/keeper.h"
#include "ca/kubernetes_signer.h"
#include "ca/listener_certificate.h"
#include "ca/token_key_source.h"
#include "ca/turns.h"
#include "kube/api_request.h"
#include "mesh/index/snapshot.h"
#include "server/grpc_server.h"

namespace fairlead::app {

// All about certificates of `fairlead discovery`: the authority, who callers are, and what the TLS listener
// shows.
class ServingCertificates {
 public:
  struct Sources {
    std::function<mesh::SnapshotPtr()> snapshot;  // the newest; never null once Start was called
    // Hears of the authority's roots, whenever they change; null: nobody wants to.
    std::function<void(const ca::Certificates&)> roots;
    // One request to the API server whose Secrets have the authority; blocks. Null: a folder has it.
    std::function<kube::ApiAnswer(kube::ApiRequest)> ask = nullptr;
    // One question to the API server of a cluster ("": the own one); blocks. Null: there is no cluster.
    std::function<kube::ApiAnswer(const std::string& cluster, kube::ApiRequest)> review = nullptr;
    // Hears what vouches for the webhooks' certificate, PEM, whenever that changes; null: nobody wants to.
    std::function<void(const std::string&)> webhook_roots = nullptr;
  };
  // `options` must outlive it.
  ServingCertificates(const DiscoveryOptions& options, Sources sources);
  ~ServingCertificates();  // as Stop()

  // Fails where keys or files cannot be used. To be called after the first snapshot.
  absl::Status Start();
  void Stop();
  // A Secret of the authority's may have changed. Does not block.
  void OnSecretChanged();

  // Of the TLS listener; valid after Start.
  const std::shared_ptr<server::TlsCredentials>& credentials() const { return credentials_; }
  // Of webhooks, whose clients show no certificate; valid after Start.
  const std::shared_ptr<server::TlsCredentials>& webhook_credentials() const { return webhook_credentials_; }
  // CreateCertificate, unless there is no authority (ENABLE_CA_SERVER).
  std::vector<server::GrpcMethod> Methods();
  // The identities that a call has proven: none where it came in plaintext. Unauthenticated where it came
  // over TLS and has proven none. `proven` is called once, at once or later on another thread. REQUIRES:
  // within StreamOpener.
  using Proven = std::function<void(absl::StatusOr<std::vector<std::string>>)>;
  void Prove(const server::ServerStream& stream, Proven proven);

 private:
  absl::Status StartAuthority();
  absl::Status StartRegistration();
  absl::Status StartClusterSigner();
  void AddTokenReviews(const ca::TrustDomains& domains);
  std::string MeshRootsOf(const std::string& signer) const;
  absl::StatusOr<std::vector<std::string>> Judge(absl::StatusOr<ca::Caller> caller,
                                                 const std::string& address) const;
  void TellWebhookRoots() const;
  absl::Status AddAuthenticators();
  absl::Status StartListenerCertificate();
  std::vector<std::string> TrustDomains() const;

  const DiscoveryOptions& options_;
  const Sources sources_;
  ca::Authority authority_;
  std::unique_ptr<ca::Keeper> keeper_;              // null: no authority here
  std::unique_ptr<ca::ExternalSigner> external_;    // null: no signer elsewhere
  std::unique_ptr<ca::KubernetesSigner> cluster_;   // null: no signer of the cluster
  std::string cluster_roots_;                       // file of its roots; "": none
  std::unique_ptr<ca::TokenKeySource> token_keys_;  // null: no tokens of TOKEN_ISSUER
  std::unique_ptr<ca::TokenKeySource> own_keys_;    // of tokens that are made here; null without --stateDir
  ca::Authenticators authenticators_;
  NodePods pods_;
  std::unique_ptr<ca::CertificateService> service_;
  Executor signing_, reviewing_;
  std::shared_ptr<ca::Turns> reviews_;  // of streams whose callers somebody has to be asked about
  std::shared_ptr<server::TlsCredentials> credentials_, webhook_credentials_;
  std::unique_ptr<ca::ListenerCertificate> shown_;
};

}  // namespace fairlead::app

#endif  // FAIRLEAD_APP_CERTIFICATES_H_
