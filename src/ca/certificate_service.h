#ifndef FAIRLEAD_CA_CERTIFICATE_SERVICE_H_
#define FAIRLEAD_CA_CERTIFICATE_SERVICE_H_

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "ca/caller.h"
#include "ca/issue_rate.h"
#include "ca/signer.h"

namespace fairlead::ca {

inline constexpr std::string_view kCreateCertificate =
    "/istio.v1.auth.IstioCertificateService/CreateCertificate";

// The pods of the mesh, as far as node agents are concerned. Thread-safe.
class Pods {
 public:
  virtual ~Pods() = default;
  struct Pod {
    std::string uid, node, service_account;
  };
  // Nothing where it is not known. `cluster`: "" for the control plane's own.
  virtual std::optional<Pod> Find(const std::string& cluster, const std::string& ns,
                                  const std::string& name) const = 0;
  // Whether a pod of the service account runs on the node.
  virtual bool Runs(const std::string& cluster, const std::string& ns, const std::string& service_account,
                    const std::string& node) const = 0;
};

// Agents of nodes that may ask for certificates of workloads on their node. Source: Istio's NodeAuthorizer.
class NodeAgents {
 public:
  // `accounts`: "namespace/account" (CA_TRUSTED_NODE_ACCOUNTS). `pods` must outlive it.
  NodeAgents(std::vector<std::string> accounts, const Pods* pods)
      : accounts_(std::move(accounts)), pods_(pods) {}
  // PermissionDenied, with the reason, unless the caller is such an agent. Its token must be bound to its
  // pod, and a workload of that identity must run on its node, in its cluster.
  absl::Status MayImpersonate(const Caller& caller, const std::string& identity) const;

 private:
  const std::vector<std::string> accounts_;
  const Pods* const pods_;
};

// Answers istio.v1.auth.IstioCertificateService: a certificate for whom the caller has proven to be, whatever
// its request says, and no faster than the rate. Counts citadel_server_*. Thread-safe.
//
// The rate belongs to an identity at an address. An account has many replicas, a workload is one, and a node
// agent counts as each workload of its requests.
class CertificateService {
 public:
  // All pointers must outlive it.
  CertificateService(Signer* signer, const Authenticators* authenticators, NodeAgents node_agents,
                     IssueRate::Limits rate = {})
      : signer_(signer),
        authenticators_(authenticators),
        node_agents_(std::move(node_agents)),
        rate_(std::make_unique<IssueRate>(rate)) {}
  // An encoded IstioCertificateRequest; the encoded response, or the call's status: ResourceExhausted for
  // more than the rate. Why a caller was refused is logged and not told.
  absl::StatusOr<std::string> CreateCertificate(const std::string& message,
                                                const Credentials& credentials) const;

 private:
  absl::Status KeepRate(const std::string& identity, const Credentials& credentials) const;

  Signer* const signer_;
  const Authenticators* const authenticators_;
  const NodeAgents node_agents_;
  const std::unique_ptr<IssueRate> rate_;
};

}  // namespace fairlead::ca

#endif  // FAIRLEAD_CA_CERTIFICATE_SERVICE_H_
