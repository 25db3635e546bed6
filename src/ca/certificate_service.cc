#include "ca/certificate_service.h"

#include <google/protobuf/struct.pb.h>

#include <algorithm>

#include "base/excerpt.h"
#include "base/log.h"
#include "base/log_rate.h"
#include "base/strings.h"
#include "ca/metrics.h"
#include "istio/security/v1alpha1/ca.pb.h"
#include "model/peer_identity.h"

namespace fairlead::ca {
namespace {

using istio::v1::auth::IstioCertificateRequest;
using istio::v1::auth::IstioCertificateResponse;

LogScope ca_log("serverca");

// Of a request's metadata. Source: Istio's security.ImpersonatedIdentity and CertSigner.
constexpr char kImpersonatedIdentity[] = "ImpersonatedIdentity", kCertSigner[] = "CertSigner";

std::string MetadataOf(const IstioCertificateRequest& request, const char* name) {
  const auto& fields = request.metadata().fields();
  const auto it = fields.find(name);
  return it == fields.end() ? std::string() : it->second.string_value();
}

absl::Status Refuse(const Credentials& credentials, std::string_view what, const absl::Status& why) {
  Metrics().authentication_failures.Add();
  static auto* const rate = new LogRate;
  if (const auto more = rate->Admit(HostOfPeer(credentials.address)))
    ca_log.Warn("{}: {}: {}{}", credentials.address, what, Excerpt(FromAbsl(why.message())), *more);
  return absl::UnauthenticatedError(ToAbsl(what));
}

std::string Encode(const Signed& made) {
  IstioCertificateResponse response;
  for (const std::string& certificate : made.chain) response.add_cert_chain(certificate);
  // The last element holds all roots.
  response.add_cert_chain(made.roots);
  return response.SerializeAsString();
}

}  // namespace

absl::Status NodeAgents::MayImpersonate(const Caller& caller, const std::string& identity) const {
  if (accounts_.empty())
    return absl::PermissionDeniedError("no node agent is trusted (CA_TRUSTED_NODE_ACCOUNTS)");
  const std::string account = StrCat(caller.ns, "/", caller.service_account);
  if (caller.pod.empty() || std::find(accounts_.begin(), accounts_.end(), account) == accounts_.end())
    return absl::PermissionDeniedError(StrCat(account, " is not a trusted node agent"));
  // The token may say which node it is; the mesh knows best.
  const std::optional<Pods::Pod> pod = pods_->Find(caller.cluster, caller.ns, caller.pod);
  if (pod && !caller.pod_uid.empty() && !pod->uid.empty() && pod->uid != caller.pod_uid)
    return absl::PermissionDeniedError(StrCat("the pod ", caller.pod, " of the token is not there any more"));
  if (pod && !pod->service_account.empty() && pod->service_account != caller.service_account)
    return absl::PermissionDeniedError(StrCat("the pod ", caller.pod, " has another account"));
  const std::string node = pod && !pod->node.empty() ? pod->node : caller.node;
  const auto wanted = model::ParseSpiffeId(identity);
  if (node.empty() || !wanted) return absl::PermissionDeniedError("the node or the identity is not known");
  const auto own = model::ParseSpiffeId(caller.identities.front());
  if (!own || own->trust_domain != wanted->trust_domain)
    return absl::PermissionDeniedError("the identity is of another trust domain");
  if (pods_->Runs(caller.cluster, wanted->ns, wanted->service_account, node)) return absl::OkStatus();
  return absl::PermissionDeniedError(StrCat("no workload of ", identity, " runs on the agent's node"));
}

absl::Status CertificateService::KeepRate(const std::string& identity, const Credentials& credentials) const {
  const IssueRate::Verdict verdict =
      rate_->Take(StrCat(identity, " ", AddressWithoutPort(credentials.address)), Clock::now());
  if (verdict == IssueRate::Verdict::kGranted) return absl::OkStatus();
  RefusedRequests(RefusalReason::kRate).Add();
  if (verdict == IssueRate::Verdict::kFirstRefused) {
    ca_log.Warn("{}: {} asks for certificates faster than {} a second, {} at once: some are refused",
                credentials.address, identity, rate_->limits().per_second, rate_->limits().burst);
  }
  return absl::ResourceExhaustedError("certificates are asked for too fast; come again in a second");
}

absl::StatusOr<std::string> CertificateService::CreateCertificate(const std::string& message,
                                                                  const Credentials& credentials) const {
  Metrics().requests.Add();
  const auto caller = authenticators_->Authenticate(credentials);
  if (!caller.ok()) return Refuse(credentials, "request authenticate failure", caller.status());
  IstioCertificateRequest request;
  if (!request.ParseFromString(message)) {
    Metrics().unreadable.Add();
    return absl::InvalidArgumentError("the request cannot be read");
  }
  SignRequest wanted;
  wanted.csr = request.csr();
  wanted.identities = caller->identities;
  wanted.signer = MetadataOf(request, kCertSigner);
  wanted.lifetime = std::chrono::seconds(request.validity_duration());
  if (const std::string identity = MetadataOf(request, kImpersonatedIdentity); !identity.empty()) {
    const absl::Status may = node_agents_.MayImpersonate(*caller, identity);
    if (!may.ok()) return Refuse(credentials, "request impersonation authentication failure", may);
    wanted.identities = {identity};
  }
  if (absl::Status kept = KeepRate(wanted.identities.front(), credentials); !kept.ok()) return kept;
  const Signed made = signer_->Sign(wanted);
  if (made.error != Signed::Error::kNone) {
    SignErrors(made.error).Add();
    ca_log.Error("{}: no certificate for {}: {}", credentials.address, Join(wanted.identities, ", "),
                 made.message);
    return absl::Status(CodeOf(made.error), StrCat("CSR signing error (", made.message, ")"));
  }
  Metrics().issued.Add();
  ca_log.Debug("{}: certificate for {}", credentials.address, Join(wanted.identities, ", "));
  return Encode(made);
}

}  // namespace fairlead::ca
