#include "agent/ca_client.h"

#include <chrono>
#include <condition_variable>
#include <optional>
#include <utility>

#include "agent/way_out.h"
#include "base/strings.h"
#include "istio/security/v1alpha1/ca.pb.h"

namespace fairlead::agent {
namespace {

constexpr char kPath[] = "/istio.v1.auth.IstioCertificateService/CreateCertificate";
constexpr std::chrono::seconds kPatience{10};

// The answer to a call of one message, or why there is none.
class Answer : public UpstreamHandler {
 public:
  void OnReply(std::string message) override { Note(std::move(message)); }
  void OnTaken() override {}
  void OnEnd(const absl::Status& status) override {
    Note(status.ok() ? absl::InternalError("the answer is no message") : status);
  }
  absl::StatusOr<std::string> Wait() {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, kPatience, [this] { return answer_.has_value(); }))
      return absl::DeadlineExceededError(StrCat("no answer in ", kPatience.count(), " s"));
    return *std::move(answer_);
  }

 private:
  void Note(absl::StatusOr<std::string> answer) {
    std::lock_guard lock(mutex_);
    if (!answer_.has_value()) answer_ = std::move(answer);
    changed_.notify_all();
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<absl::StatusOr<std::string>> answer_;  // guarded by mutex_
};

class GrpcCaClient : public CaClient {
 public:
  GrpcCaClient(ControlPlaneOptions options, std::string signer)
      : options_(std::move(options)), signer_(std::move(signer)), upstream_(PlaceOf(options_)) {}

  absl::StatusOr<std::vector<std::string>> Sign(const std::string& csr, std::chrono::seconds lifetime,
                                                const Secret& earlier) override {
    istio::v1::auth::IstioCertificateRequest request;
    request.set_csr(csr);
    request.set_validity_duration(lifetime.count());
    if (!signer_.empty())
      (*request.mutable_metadata()->mutable_fields())["CertSigner"].set_string_value(signer_);
    const auto answer = Call(request.SerializeAsString(), earlier);
    if (!answer.ok()) return Explained(answer.status());
    istio::v1::auth::IstioCertificateResponse response;
    if (!response.ParseFromString(*answer) || response.cert_chain().empty())
      return absl::InternalError(StrCat(options_.address, ": the answer has no certificates"));
    return std::vector<std::string>(response.cert_chain().begin(), response.cert_chain().end());
  }

 private:
  absl::StatusOr<std::string> Call(std::string_view message, const Secret& earlier) {
    auto proofs = ReadProofs(options_, earlier);
    if (!proofs.ok()) return proofs.status();
    proofs->metadata.emplace_back("grpc-timeout", StrCat(kPatience.count(), "S"));
    const auto answer = std::make_shared<Answer>();
    const auto call = upstream_.Open(kPath, *std::move(proofs), answer);
    if (!call.ok()) return call.status();
    (*call)->SendLast(message);
    return answer->Wait();
  }

  absl::Status Explained(const absl::Status& status) const {
    const std::string reason(FromAbsl(status.message()));
    if (!absl::IsUnimplemented(status))
      return absl::Status(status.code(), WithWayOut(StrCat(options_.address, ": ", reason)));
    return absl::UnimplementedError(
        StrCat(options_.address, " hands out no certificates (", reason,
               "); CA_ADDR names an authority that does, or certificates are files in ./etc/certs"));
  }

  const ControlPlaneOptions options_;
  const std::string signer_;
  Upstream upstream_;
};

}  // namespace

std::unique_ptr<CaClient> NewCaClient(ControlPlaneOptions options, std::string signer) {
  return std::make_unique<GrpcCaClient>(std::move(options), std::move(signer));
}

}  // namespace fairlead::agent
