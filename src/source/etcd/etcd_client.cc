#include "source/etcd/etcd_client.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <utility>

#include "base/strings.h"
#include "http2/client_call.h"
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
  if (!options.certificate_file.empty()) {
    auto certificate = kube::ReadSmallFile(options.certificate_file),
         key = kube::ReadSmallFile(options.key_file);
    if (!certificate.ok()) return certificate.status();
    if (!key.ok()) return key.status();
    material.certificate_chain = *std::move(certificate);
    material.private_key = *std::move(key);
  }
  return http2::MakeClientTls(material);
}

bool IsCompacted(const absl::Status& status) { return status.code() == absl::StatusCode::kOutOfRange; }

// Another member may know better: it is away, or cut off from the others.
bool IsOfMember(const absl::Status& status) {
  return absl::IsUnavailable(status) || absl::IsDeadlineExceeded(status);
}

bool IsOfToken(const absl::Status& status) {
  return absl::IsUnauthenticated(status) ||
         FromAbsl(status.message()).find("invalid auth token") != std::string_view::npos;
}

}  // namespace

struct EtcdClient::Stream {
  std::unique_ptr<http2::ClientConnection> connection;
  std::unique_ptr<http2::ClientCall> call;
};

EtcdClient::EtcdClient(EtcdOptions options)
    : options_(std::move(options)), wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

void EtcdClient::Stop() {
  stopping_ = true;
  const uint64_t one = 1;
  static_cast<void>(!write(wake_.get(), &one, sizeof one));
}

// Files of certificates may be renewed at any time: they are read for each connection.
absl::StatusOr<std::unique_ptr<http2::ClientConnection>> EtcdClient::Connect() {
  if (stopping_) return absl::CancelledError("stopped");
  const auto& [host, port] = options_.url.addresses[member_ % options_.url.addresses.size()];
  http2::ClientConnection::Place place;
  place.host = WithoutBrackets(host);
  place.port = port;
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

std::unique_ptr<EtcdClient::Stream> EtcdClient::Open(const std::string& path,
                                                     std::function<void(std::string message)> take) {
  const auto& [host, port] = options_.url.addresses[member_ % options_.url.addresses.size()];
  http2::ClientCallOptions options;
  options.authority = StrCat(host, ":", port);
  options.path = path;
  options.tls = options_.platform.tls;
  // A member without a leader says so, and does not keep its clients waiting.
  options.metadata.emplace_back("hasleader", "true");
  if (!token_.empty()) options.metadata.emplace_back("token", token_);
  options.max_message_size = options_.most_message;
  auto stream = std::make_unique<Stream>();
  stream->call = std::make_unique<http2::ClientCall>(std::move(options), std::move(take));
  return stream;
}

// Writes and reads what there is, and waits for more.
absl::Status EtcdClient::Turn(Stream& stream, Clock::time_point until) {
  absl::Status written;
  std::string plain;
  do {
    plain.clear();
    if (!stream.connection->backed_up()) stream.call->Produce(kProduced, &plain);
    stream.connection->Queue(plain);
    written = stream.connection->Write();
  } while (!plain.empty() && written.ok());
  if (stream.call->ended()) return absl::OkStatus();
  absl::Status waited;
  if (written.ok()) waited = stream.connection->Wait(until);
  if (stopping_) return absl::CancelledError("stopped");
  if (absl::IsDeadlineExceeded(waited)) return waited;
  // A server that takes no more may have said why.
  absl::Status read =
      stream.connection->Read([&stream](std::string_view bytes) { stream.call->Receive(bytes); });
  if (stream.call->ended()) return absl::OkStatus();
  read.Update(written);
  return read;
}

absl::StatusOr<std::string> EtcdClient::CallOnce(const std::string& path, std::string_view request) {
  auto connection = Connect();
  if (!connection.ok()) return connection.status();
  std::string answer;
  size_t answers = 0;
  auto stream = Open(path, [&](std::string message) {
    answer = std::move(message);
    ++answers;
  });
  stream->connection = *std::move(connection);
  stream->call->Send(request);
  stream->call->Finish();
  const Clock::time_point until = Clock::now() + options_.call;
  while (!stream->call->ended()) {
    if (absl::Status status = Turn(*stream, until); !status.ok()) return status;
  }
  if (!stream->call->status().ok()) return stream->call->status();
  if (answers != 1) return absl::UnavailableError("etcd gave no answer");
  return answer;
}

absl::Status EtcdClient::LogIn() {
  token_.clear();
  auto password = kube::ReadSmallFile(options_.password_file);
  if (!password.ok()) return password.status();
  auto answer = CallOnce("/etcdserverpb.Auth/Authenticate", EncodeLogin(options_.user, Trim(*password)));
  if (!answer.ok()) return answer.status();
  auto token = DecodeToken(*answer);
  if (!token) return absl::UnavailableError("etcd gave no token");
  token_ = *std::move(token);
  return absl::OkStatus();
}

// Once with each member. A token ends with the member that gave it, or after some minutes.
absl::StatusOr<std::string> EtcdClient::Call(const std::string& path, std::string_view request) {
  absl::StatusOr<std::string> answer = absl::UnavailableError("no member");
  bool logged_in = false;
  for (size_t attempt = 0; attempt < options_.url.addresses.size() + 1; ++attempt) {
    absl::Status status;
    if (!options_.user.empty() && token_.empty()) {
      logged_in = true;
      status = LogIn();
    }
    answer = status.ok() ? CallOnce(path, request) : absl::StatusOr<std::string>(status);
    if (answer.ok()) return answer;
    if (IsOfMember(answer.status())) {
      ++member_;
    } else if (!options_.user.empty() && IsOfToken(answer.status()) && !logged_in) {
      token_.clear();
    } else {
      return answer;
    }
  }
  return answer;
}

absl::StatusOr<EtcdRange> EtcdClient::Read(const EtcdRangeRequest& request) {
  const auto answer = Call("/etcdserverpb.KV/Range", Encode(request));
  if (!answer.ok()) return answer.status();
  auto range = DecodeRange(*answer);
  if (!range) return absl::UnavailableError("etcd's answer is malformed");
  return *std::move(range);
}

absl::StatusOr<EtcdRange> EtcdClient::ReadAll(const std::string& prefix) {
  EtcdRange all;
  EtcdRangeRequest request{prefix, EndOfPrefix(prefix), options_.page};
  do {
    auto page = Read(request);
    if (absl::IsResourceExhausted(page.status()) && request.limit > 1) {
      request.limit /= 2;  // its values are large
      continue;
    }
    if (!page.ok()) return page.status();
    if (request.revision == 0) request.revision = all.revision = page->revision;
    all.more = page->more && !page->keys.empty();
    if (!page->keys.empty()) request.key = page->keys.back().key + '\0';
    for (EtcdKey& key : page->keys) all.keys.push_back(std::move(key));
    if (all.keys.size() > options_.most_keys)
      return absl::ResourceExhaustedError(
          ToAbsl(StrCat("more than ", options_.most_keys, " keys below ", prefix)));
  } while (all.revision == 0 || all.more);
  return all;
}

absl::StatusOr<EtcdOutcome> EtcdClient::Write(const std::vector<EtcdWrite>& writes) {
  const auto answer = Call("/etcdserverpb.KV/Txn", EncodeWrites(writes));
  if (!answer.ok()) return answer.status();
  auto outcome = DecodeOutcome(*answer);
  if (!outcome) return absl::UnavailableError("etcd's answer is malformed");
  return *std::move(outcome);
}

// Fragments of one revision take effect together. False: the watch is over.
bool EtcdClient::TakeMessage(const std::string& message, EtcdNews* pending, absl::Status* status,
                             const std::function<bool(EtcdNews news)>& take) const {
  auto news = DecodeNews(message);
  if (!news) {
    *status = absl::UnavailableError("etcd's news are malformed");
  } else if (news->compact_revision > 0) {
    *status = absl::OutOfRangeError("the revision is compacted");
  } else if (news->canceled) {
    *status = absl::UnavailableError(ToAbsl(StrCat("etcd ended the watch: ", news->cancel_reason)));
  } else {
    for (EtcdNews::Event& event : news->events) pending->events.push_back(std::move(event));
    pending->revision = news->revision;
    if (pending->events.size() > options_.most_keys) {
      *status = absl::ResourceExhaustedError("etcd's news are too many at once");
    } else if (!news->fragment && !take(std::exchange(*pending, {}))) {
      *status = absl::CancelledError("stopped");
    }
  }
  return status->ok();
}

absl::Status EtcdClient::WatchOnce(const EtcdWatchRequest& request,
                                   const std::function<bool(EtcdNews news)>& take) {
  auto connection = Connect();
  if (!connection.ok()) return connection.status();
  absl::Status status;
  EtcdNews pending;
  size_t bytes = 0;
  bool heard = false;
  auto stream = Open("/etcdserverpb.Watch/Watch", [&](std::string message) {
    heard = true;
    bytes += message.size();
    if (status.ok()) TakeMessage(message, &pending, &status, take);
  });
  stream->connection = *std::move(connection);
  stream->call->Send(Encode(request));
  bool asked = false;
  Clock::time_point until = Clock::now() + options_.silence;
  while (!stream->call->ended() && status.ok()) {
    const absl::Status turned = Turn(*stream, until);
    stream->call->Done(std::exchange(bytes, 0));
    if (std::exchange(heard, false)) {
      asked = false;
      until = Clock::now() + options_.silence;
    }
    if (absl::IsDeadlineExceeded(turned) && !std::exchange(asked, true)) {
      stream->call->Send(EncodeProgressRequest());
      until = Clock::now() + options_.silence;
      continue;
    }
    if (status.ok() && !turned.ok()) return turned;
  }
  if (!status.ok()) return status;
  return stream->call->status().ok() ? absl::UnavailableError("etcd ended the watch")
                                     : stream->call->status();
}

absl::Status EtcdClient::Watch(const EtcdWatchRequest& request,
                               const std::function<bool(EtcdNews news)>& take) {
  if (!options_.user.empty() && token_.empty()) {
    if (absl::Status status = LogIn(); !status.ok()) {
      if (IsOfMember(status)) ++member_;
      return status;
    }
  }
  absl::Status status = WatchOnce(request, take);
  if (IsOfToken(status)) token_.clear();
  if (!IsCompacted(status) && !absl::IsCancelled(status)) ++member_;
  return status;
}

}  // namespace fairlead::source
