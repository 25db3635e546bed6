#include "ca/certificate_method.h"

#include <memory>
#include <string>
#include <utility>

#include "ca/metrics.h"

namespace fairlead::ca {
namespace {

// Of a request: twice what is read of a CSR.
constexpr size_t kMostMessage = 128 << 10;

// One call: a message, its answer, the end.
class Call : public server::StreamHandler, public std::enable_shared_from_this<Call> {
 public:
  Call(std::shared_ptr<server::ServerStream> stream, const CertificateService* service,
       std::shared_ptr<Turns> turns)
      : stream_(std::move(stream)),
        credentials_(CredentialsOf(*stream_)),
        secure_(stream_->tls() != nullptr),
        service_(service),
        turns_(std::move(turns)) {}

  void OnMessage(std::string_view bytes) override {
    if (!secure_) return stream_->Close(absl::UnauthenticatedError("certificates are given over TLS alone"));
    if (bytes.size() > kMostMessage)
      return stream_->Close(absl::InvalidArgumentError("the request is too large"));
    const bool waits =
        turns_->Add(WaitsAs(credentials_),
                    [self = shared_from_this(), bytes = std::string(bytes)] { self->Answer(bytes); });
    if (waits) return;
    RefusedRequests(RefusalReason::kWaiting).Add();
    stream_->Close(absl::ResourceExhaustedError("too many of your requests for certificates wait already"));
  }
  void OnSent(bool /*ok*/) override { stream_->Close(absl::OkStatus()); }
  void OnClosed() override {}

 private:
  void Answer(const std::string& request) {
    auto answer = service_->CreateCertificate(request, credentials_);
    if (!answer.ok()) return stream_->Close(answer.status());
    auto owner = std::make_shared<const std::string>(*std::move(answer));
    stream_->Send({{owner, *owner}});
  }

  const std::shared_ptr<server::ServerStream> stream_;
  const Credentials credentials_;
  const bool secure_;
  const CertificateService* const service_;
  const std::shared_ptr<Turns> turns_;
};

}  // namespace

Credentials CredentialsOf(const server::ServerStream& stream) {
  Credentials credentials;
  credentials.address = stream.peer();
  if (const server::TlsPeer* peer = stream.tls(); peer != nullptr && peer->verified) {
    credentials.verified_certificate = true;
    credentials.certificate_uris = peer->uris;
  }
  credentials.authorization = stream.Metadata("authorization").value_or("");
  credentials.forwarded_certificate = stream.Metadata("x-forwarded-client-cert").value_or("");
  credentials.cluster = stream.Metadata("clusterid").value_or("");
  return credentials;
}

std::string WaitsAs(const Credentials& credentials) {
  if (credentials.verified_certificate && !credentials.certificate_uris.empty())
    return credentials.certificate_uris.front();
  return AddressWithoutPort(credentials.address);
}

server::GrpcMethod CertificateMethod(const CertificateService* service, std::shared_ptr<Turns> turns) {
  return {std::string(kCreateCertificate),
          [service, turns = std::move(turns)](
              std::shared_ptr<server::ServerStream> stream) -> std::shared_ptr<server::StreamHandler> {
            server::ServerStream& to_read = *stream;
            auto call = std::make_shared<Call>(std::move(stream), service, turns);
            to_read.Read();
            return call;
          }};
}

}  // namespace fairlead::ca
