#include "source/etcd/etcd_client.h"

#include <algorithm>
#include <utility>

#include "base/strings.h"
#include "kube/access.h"

namespace fairlead::source {
namespace {

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

EtcdClient::EtcdClient(EtcdOptions options)
    : options_(std::move(options)),
      link_({options_.url.addresses, options_.platform, options_.connect, options_.most_message}) {}

GrpcLink::Metadata EtcdClient::MetadataOfCall() const {
  // A member without a leader says so, and does not keep its clients waiting.
  GrpcLink::Metadata metadata{{"hasleader", "true"}};
  if (!token_.empty()) metadata.emplace_back("token", token_);
  return metadata;
}

absl::StatusOr<std::string> EtcdClient::CallOnce(const std::string& path, std::string_view request) {
  return link_.Ask(path, MetadataOfCall(), request,
                   std::min<Clock::time_point>(Clock::now() + options_.call, deadline_));
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
    if (Clock::now() >= deadline_)
      return attempt == 0 ? absl::DeadlineExceededError("no time is left") : answer;
    if (!options_.user.empty() && token_.empty()) {
      logged_in = true;
      status = LogIn();
    }
    answer = status.ok() ? CallOnce(path, request) : absl::StatusOr<std::string>(status);
    if (answer.ok()) return answer;
    if (IsOfMember(answer.status())) {
      link_.NextServer();
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
    pending->created = news->created;
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
  absl::Status status;
  EtcdNews pending;
  size_t bytes = 0;
  bool heard = false;
  auto opened = link_.Open("/etcdserverpb.Watch/Watch", MetadataOfCall(), [&](std::string message) {
    heard = true;
    bytes += message.size();
    if (status.ok()) TakeMessage(message, &pending, &status, take);
  });
  if (!opened.ok()) return opened.status();
  http2::ClientCall& call = *(*opened)->call;
  call.Send(Encode(request));
  bool asked = false;
  Clock::time_point until = Clock::now() + options_.silence;
  while (!call.ended() && status.ok()) {
    const absl::Status turned = link_.Turn(**opened, until);
    call.Done(std::exchange(bytes, 0));
    if (std::exchange(heard, false)) {
      asked = false;
      until = Clock::now() + options_.silence;
    }
    if (absl::IsDeadlineExceeded(turned) && !std::exchange(asked, true)) {
      call.Send(EncodeProgressRequest());
      until = Clock::now() + options_.silence;
      continue;
    }
    if (status.ok() && !turned.ok()) return turned;
  }
  if (!status.ok()) return status;
  return call.status().ok() ? absl::UnavailableError("etcd ended the watch") : call.status();
}

absl::Status EtcdClient::Watch(const EtcdWatchRequest& request,
                               const std::function<bool(EtcdNews news)>& take) {
  if (!options_.user.empty() && token_.empty()) {
    if (absl::Status status = LogIn(); !status.ok()) {
      if (IsOfMember(status)) link_.NextServer();
      return status;
    }
  }
  absl::Status status = WatchOnce(request, take);
  if (IsOfToken(status)) token_.clear();
  if (!IsCompacted(status) && !absl::IsCancelled(status)) link_.NextServer();
  return status;
}

}  // namespace fairlead::source
