#include "ca/certificate_method.h"

#include <atomic>
#include <memory>
#include <string>
#include <utility>

namespace fairlead::ca {
namespace {

// Of a request: twice what is read of a CSR.
constexpr size_t kMostMessage = 128 << 10;
// Requests that wait at a time: some seconds of work. Agents come again.
constexpr int kMostWaiting = 10'000;

using Waiting = std::shared_ptr<std::atomic<int>>;

// One call: a message, its answer, the end.
class Call : public rpc::StreamHandler, public std::enable_shared_from_this<Call> {
 public:
  Call(std::shared_ptr<rpc::ServerStream> stream, const CertificateService* service, Executor* executor,
       Waiting waiting)
      : stream_(std::move(stream)),
        credentials_(CredentialsOf(*stream_)),
        secure_(stream_->tls() != nullptr),
        service_(service),
        executor_(executor),
        waiting_(std::move(waiting)) {}

  void OnMessage(std::string_view bytes) override {
    if (!secure_) return stream_->Close(absl::UnauthenticatedError("certificates are given over TLS alone"));
    if (bytes.size() > kMostMessage)
      return stream_->Close(absl::InvalidArgumentError("the request is too large"));
    if (*waiting_ >= kMostWaiting)
      return stream_->Close(absl::ResourceExhaustedError("too many certificates are asked for"));
    ++*waiting_;
    executor_->Submit(Urgency::kPatient, [self = shared_from_this(), bytes = std::string(bytes)] {
      --*self->waiting_;
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
  const Waiting waiting_;
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
  auto waiting = std::make_shared<std::atomic<int>>(0);
  return {std::string(kCreateCertificate),
          [service, executor,
           waiting](std::shared_ptr<rpc::ServerStream> stream) -> std::shared_ptr<rpc::StreamHandler> {
            rpc::ServerStream& to_read = *stream;
            auto call = std::make_shared<Call>(std::move(stream), service, executor, waiting);
            to_read.Read();
            return call;
          }};
}

}  // namespace fairlead::ca
