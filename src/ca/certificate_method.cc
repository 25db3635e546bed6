#include "ca/certificate_method.h"

#include <memory>
#include <string>
#include <utility>

namespace fairlead::ca {
namespace {

// One call: a message, its answer, the end.
class Call : public rpc::StreamHandler, public std::enable_shared_from_this<Call> {
 public:
  Call(std::shared_ptr<rpc::ServerStream> stream, const CertificateService* service, Executor* executor)
      : stream_(std::move(stream)),
        credentials_(CredentialsOf(*stream_)),
        secure_(stream_->tls() != nullptr),
        service_(service),
        executor_(executor) {}

  void OnMessage(std::string_view bytes) override {
    if (!secure_) return stream_->Close(absl::UnauthenticatedError("certificates are given over TLS alone"));
    executor_->Submit(Urgency::kPatient, [self = shared_from_this(), bytes = std::string(bytes)] {
      auto answer = self->service_->CreateCertificate(bytes, self->credentials_);
      if (!answer.ok()) return self->stream_->Close(answer.status());
      auto owner = std::make_shared<const std::string>(*std::move(answer));
      self->stream_->Send({{owner, *owner}});
    });
  }
  void OnSent(bool /*ok*/) override { stream_->Close(absl::OkStatus()); }
  void OnClosed() override {}

 private:
  const std::shared_ptr<rpc::ServerStream> stream_;
  const Credentials credentials_;
  const bool secure_;
  const CertificateService* const service_;
  Executor* const executor_;
};

}  // namespace

Credentials CredentialsOf(const rpc::ServerStream& stream) {
  Credentials credentials;
  credentials.address = stream.peer();
  if (const rpc::TlsPeer* peer = stream.tls(); peer != nullptr && peer->verified) {
    credentials.verified_certificate = true;
    credentials.certificate_uris = peer->uris;
  }
  credentials.authorization = stream.Metadata("authorization").value_or("");
  credentials.forwarded_certificate = stream.Metadata("x-forwarded-client-cert").value_or("");
  return credentials;
}

rpc::GrpcMethod CertificateMethod(const CertificateService* service, Executor* executor) {
  return {
      std::string(kCreateCertificate),
      [service, executor](std::shared_ptr<rpc::ServerStream> stream) -> std::shared_ptr<rpc::StreamHandler> {
        rpc::ServerStream& to_read = *stream;
        auto call = std::make_shared<Call>(std::move(stream), service, executor);
        to_read.Read();
        return call;
      }};
}

}  // namespace fairlead::ca
