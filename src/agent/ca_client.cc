#include "agent/ca_client.h"

#include <chrono>
#include <utility>

#include "agent/grpc_request.h"
#include "base/strings.h"
#include "istio/security/v1alpha1/ca.pb.h"

namespace fairlead::agent {
namespace {

constexpr std::string_view kPath = "/istio.v1.auth.IstioCertificateService/CreateCertificate";
constexpr std::chrono::seconds kPatience{10};
constexpr size_t kMaxAnswer = 4 << 20;

size_t TakeBody(char* data, size_t size, size_t count, void* body) {
  auto& taken = *static_cast<std::string*>(body);
  if (taken.size() + size * count > kMaxAnswer) return 0;  // ends the transfer
  taken.append(data, size * count);
  return size * count;
}

class GrpcCaClient : public CaClient {
 public:
  explicit GrpcCaClient(CaClientOptions options) : options_(std::move(options)) {}

  absl::StatusOr<std::vector<std::string>> Sign(const std::string& csr, std::chrono::seconds lifetime,
                                                const Secret& earlier) override {
    istio::v1::auth::IstioCertificateRequest request;
    request.set_csr(csr);
    request.set_validity_duration(lifetime.count());
    const auto answer = Call(request.SerializeAsString(), earlier);
    if (!answer.ok())
      return absl::Status(answer.status().code(),
                          StrCat(options_.address, ": ", FromAbsl(answer.status().message())));
    istio::v1::auth::IstioCertificateResponse response;
    if (!response.ParseFromString(*answer) || response.cert_chain().empty())
      return absl::InternalError(StrCat(options_.address, ": the answer has no certificates"));
    return std::vector<std::string>(response.cert_chain().begin(), response.cert_chain().end());
  }

 private:
  // A call of one message, answered by one.
  absl::StatusOr<std::string> Call(std::string_view message, const Secret& earlier) const {
    GrpcRequest request;
    if (!request.ok()) return absl::InternalError("libcurl cannot be used");
    if (absl::Status status = request.AddProofs(options_, earlier); !status.ok()) return status;
    request.SetPlace(options_, kPath);
    request.AddField(StrCat("grpc-timeout: ", kPatience.count(), "S"));
    const std::string bytes = GrpcFrame(message);
    std::string body;
    GrpcEnd end;
    request.Set(CURLOPT_TIMEOUT_MS, static_cast<long>(std::chrono::milliseconds(kPatience).count()));
    request.Set(CURLOPT_POSTFIELDSIZE, static_cast<long>(bytes.size()));
    request.Set(CURLOPT_POSTFIELDS, bytes.data());
    request.Set(CURLOPT_WRITEFUNCTION, &TakeBody);
    request.Set(CURLOPT_WRITEDATA, &body);
    request.Prepare(&end);
    if (const CURLcode code = curl_easy_perform(request.handle()); code != CURLE_OK)
      return request.Failure(code);
    if (absl::Status status = end.Said(); !status.ok()) return status;
    const bool compressed = !body.empty() && body[0] != 0;
    if (body.size() < kGrpcPrefix || compressed) return absl::InternalError("the answer is no message");
    return body.substr(kGrpcPrefix);
  }

  const CaClientOptions options_;
};

}  // namespace

std::unique_ptr<CaClient> NewCaClient(CaClientOptions options) {
  return std::make_unique<GrpcCaClient>(std::move(options));
}

}  // namespace fairlead::agent
