#include "source/platform/grpc_link.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include "base/strings.h"
#include "http2/tls.h"
#include "kube/access.h"

namespace fairlead::source {
namespace {

constexpr char kSystemRoots[] = "/etc/ssl/certs/ca-certificates.crt";
constexpr size_t kProduced = 64 << 10;  // at a time

std::string WithoutBrackets(const std::string& host) {
  return host.starts_with('[') ? host.substr(1, host.size() - 2) : host;
}

absl::StatusOr<std::shared_ptr<ssl_ctx_st>> TlsOf(const PlatformOptions& options) {
  http2::ClientTlsMaterial material;
  const std::string& roots_file = options.tls_settings.roots_file;
  auto roots = kube::ReadSmallFile(roots_file.empty() ? kSystemRoots : roots_file);
  if (!roots.ok()) return roots.status();
  material.server_roots = *std::move(roots);
  auto certificate = ReadClientCertificate(options);
  if (!certificate.ok()) return certificate.status();
  material.certificate_chain = std::move(certificate->chain);
  material.private_key = std::move(certificate->key);
  return http2::MakeClientTls(material);
}

}  // namespace

GrpcLink::GrpcLink(Options options)
    : options_(std::move(options)), wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

void GrpcLink::Stop() {
  stopping_ = true;
  const uint64_t one = 1;
  static_cast<void>(!write(wake_.get(), &one, sizeof one));
}

absl::StatusOr<std::unique_ptr<http2::ClientConnection>> GrpcLink::Connect() {
  if (stopping_) return absl::CancelledError("stopped");
  http2::ClientConnection::Place place;
  place.host = WithoutBrackets(Address().first);
  place.port = Address().second;
  const std::string& name = options_.platform.tls_settings.server_name;
  place.server_name = name.empty() ? place.host : name;
  if (options_.platform.tls) {
    auto tls = TlsOf(options_.platform);
    if (!tls.ok()) return tls.status();
    place.tls = *std::move(tls);
  }
  place.wake_file = wake_.get();
  place.cancelled = [this] { return stopping_.load(); };
  place.deadline = Clock::now() + options_.connect;
  return http2::ClientConnection::Open(place);
}

absl::StatusOr<std::unique_ptr<GrpcLink::Call>> GrpcLink::Open(
    const std::string& path, Metadata metadata, std::function<void(std::string message)> take) {
  auto connection = Connect();
  if (!connection.ok()) return connection.status();
  http2::ClientCallOptions options;
  options.authority = StrCat(Address().first, ":", Address().second);
  options.path = path;
  options.tls = options_.platform.tls;
  options.metadata = std::move(metadata);
  options.max_message_size = options_.most_message;
  auto call = std::make_unique<Call>();
  call->connection = *std::move(connection);
  call->call = std::make_unique<http2::ClientCall>(std::move(options), std::move(take));
  return call;
}

absl::StatusOr<std::string> GrpcLink::Ask(const std::string& path, Metadata metadata,
                                          std::string_view request, Clock::time_point until) {
  std::string answer;
  size_t answers = 0;
  auto opened = Open(path, std::move(metadata), [&](std::string message) {
    answer = std::move(message);
    ++answers;
  });
  if (!opened.ok()) return opened.status();
  Call& stream = **opened;
  stream.call->Send(request);
  stream.call->Finish();
  while (!stream.call->ended()) {
    if (absl::Status status = Turn(stream, until); !status.ok()) return status;
  }
  if (!stream.call->status().ok()) return stream.call->status();
  if (answers != 1) return absl::UnavailableError("the server gave no answer");
  return answer;
}

absl::Status GrpcLink::Turn(Call& call, Clock::time_point until) {
  absl::Status written;
  std::string plain;
  do {
    plain.clear();
    if (!call.connection->backed_up()) call.call->Produce(kProduced, &plain);
    call.connection->Queue(plain);
    written = call.connection->Write();
  } while (!plain.empty() && written.ok());
  if (call.call->ended()) return absl::OkStatus();
  absl::Status waited;
  if (written.ok()) waited = call.connection->Wait(until);
  if (stopping_) return absl::CancelledError("stopped");
  if (absl::IsDeadlineExceeded(waited)) return waited;
  // A server that takes no more may have said why.
  absl::Status read = call.connection->Read([&call](std::string_view bytes) { call.call->Receive(bytes); });
  if (call.call->ended()) return absl::OkStatus();
  read.Update(written);
  return read;
}

}  // namespace fairlead::source
