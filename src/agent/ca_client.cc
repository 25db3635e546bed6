#include "agent/ca_client.h"

#include <grpcpp/grpcpp.h>

#include <chrono>

#include "base/strings.h"
#include "ca/secret_file.h"
#include "istio/security/v1alpha1/ca.grpc.pb.h"

namespace fairlead::agent {
namespace {

using istio::v1::auth::IstioCertificateService;

constexpr std::chrono::seconds kPatience{10};

class GrpcCaClient : public CaClient {
 public:
  explicit GrpcCaClient(CaClientOptions options) : options_(std::move(options)) {}

  absl::StatusOr<std::vector<std::string>> Sign(const std::string& csr, std::chrono::seconds lifetime,
                                                const Secret& earlier) override {
    grpc::SslCredentialsOptions tls;
    if (absl::Status status = ReadProofs(earlier, &tls); !status.ok()) return status;
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + kPatience);
    if (absl::Status status = AddMetadata(&context); !status.ok()) return status;
    grpc::ChannelArguments arguments;
    if (!options_.server_name.empty()) arguments.SetSslTargetNameOverride(options_.server_name);
    const auto stub = IstioCertificateService::NewStub(
        grpc::CreateCustomChannel(options_.address, grpc::SslCredentials(tls), arguments));
    istio::v1::auth::IstioCertificateRequest request;
    request.set_csr(csr);
    request.set_validity_duration(lifetime.count());
    istio::v1::auth::IstioCertificateResponse response;
    const grpc::Status status = stub->CreateCertificate(&context, request, &response);
    if (!status.ok())
      return absl::Status(static_cast<absl::StatusCode>(status.error_code()),
                          StrCat(options_.address, ": ", status.error_message()));
    return std::vector<std::string>(response.cert_chain().begin(), response.cert_chain().end());
  }

 private:
  absl::Status ReadInto(const std::string& file, std::string* text) const {
    auto read = ca::ReadSecretFile(file);
    if (!read.ok()) return read.status();
    *text = *std::move(read);
    return absl::OkStatus();
  }

  absl::Status ReadProofs(const Secret& earlier, grpc::SslCredentialsOptions* tls) const {
    if (absl::Status status = ReadInto(options_.roots_file, &tls->pem_root_certs); !status.ok())
      return status;
    if (!earlier.key.empty()) {
      tls->pem_cert_chain = earlier.chain;
      tls->pem_private_key = earlier.key;
    } else if (!options_.certificate_folder.empty()) {
      absl::Status status =
          ReadInto(StrCat(options_.certificate_folder, "/cert-chain.pem"), &tls->pem_cert_chain);
      if (status.ok())
        status = ReadInto(StrCat(options_.certificate_folder, "/key.pem"), &tls->pem_private_key);
      return status;
    }
    return absl::OkStatus();
  }

  // A token that cannot be read is an error only where there is nothing else.
  absl::Status AddMetadata(grpc::ClientContext* context) const {
    if (!options_.cluster_id.empty()) context->AddMetadata("clusterid", options_.cluster_id);
    if (options_.token_file.empty()) return absl::OkStatus();
    const auto token = ca::ReadSecretFile(options_.token_file);
    if (token.ok()) context->AddMetadata("authorization", StrCat("Bearer ", Trim(*token)));
    return absl::OkStatus();
  }

  const CaClientOptions options_;
};

}  // namespace

std::unique_ptr<CaClient> NewCaClient(CaClientOptions options) {
  return std::make_unique<GrpcCaClient>(std::move(options));
}

}  // namespace fairlead::agent
