#include "serving/rest.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <memory>
#include <mutex>
#include <utility>

#include "base/strings.h"
#include "debug/inspector.h"
#include "google/rpc/status.pb.h"
#include "proto/json.h"
#include "serving/rest_body.h"
#include "xds/services.h"

namespace fairlead::serving {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kLongestHold{30000};
// Of the time that a client waits, so that the answer is there before its patience ends.
constexpr double kShareOfPatience = 0.7;
// How long a poll beyond those that may be held can take.
constexpr milliseconds kShortHold{1000};
constexpr char kRetryAfterSeconds[] = "1";

constexpr char kRequestType[] = "envoy.service.discovery.v3.DiscoveryRequest";
constexpr char kResponseType[] = "envoy.service.discovery.v3.DiscoveryResponse";

int HttpStatus(absl::StatusCode code) {
  switch (code) {
    case absl::StatusCode::kInvalidArgument:
      return 400;
    case absl::StatusCode::kUnauthenticated:
      return 401;
    case absl::StatusCode::kPermissionDenied:
      return 403;
    case absl::StatusCode::kNotFound:
      return 404;
    case absl::StatusCode::kResourceExhausted:
      return 429;
    case absl::StatusCode::kUnimplemented:
      return 501;
    case absl::StatusCode::kUnavailable:
      return 503;
    default:
      return 500;
  }
}

server::HttpResponse Failure(const absl::Status& status) {
  google::rpc::Status message;
  message.set_code(static_cast<int>(status.code()));
  message.set_message(std::string(status.message()));
  return {HttpStatus(status.code()),
          proto::ToJson("google.rpc.Status", message.SerializeAsString()).value_or(""), "application/json"};
}

milliseconds HoldOf(const server::HttpRequest& request) {
  const auto header = request.headers.find("x-envoy-expected-rq-timeout-ms");
  int64_t patience = 0;
  if (header == request.headers.end()) return kLongestHold;
  const std::string& text = header->second;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), patience);
  if (error != std::errc() || patience <= 0) return kLongestHold;
  return std::min(kLongestHold,
                  milliseconds(static_cast<int64_t>(static_cast<double>(patience) * kShareOfPatience)));
}

// The polls of one server that are open.
class OpenPolls {
 public:
  explicit OpenPolls(size_t requests) : held_(requests * 3 / 4), most_(requests * 7 / 8) {}

  // One of them, as long as it lives. The polls must outlive it.
  class Place {
   public:
    explicit Place(OpenPolls* polls) : polls_(polls), number_(++polls->open_) {}
    ~Place() { --polls_->open_; }
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;
    bool refused() const { return number_ > polls_->most_; }
    bool may_be_held() const { return number_ <= polls_->held_; }

   private:
    OpenPolls* const polls_;
    const size_t number_;
  };
  using PlacePtr = std::shared_ptr<Place>;

 private:
  const size_t held_, most_;
  std::atomic<size_t> open_{0};
};

// One request for configuration, from its first byte to its answer: what the pusher and the HTTP server see
// of it. Who waits for a change takes no thread.
class Poll final : public push::StreamConnection, public std::enable_shared_from_this<Poll> {
 public:
  Poll(std::string request, server::HttpReplyPtr reply, OpenPolls::PlacePtr place)
      : request_(std::move(request)), reply_(std::move(reply)), place_(std::move(place)) {}

  // REQUIRES: once.
  void Begin(push::StreamPtr stream, milliseconds hold) {
    {
      std::lock_guard lock(mutex_);
      stream_ = stream;
    }
    stream->Start(shared_from_this());
    // The poll lives until this is called, or dropped with the answer.
    reply_->Await(hold, [self = shared_from_this()](bool gone) {
      if (gone || !self->Answered()) self->End([] { return server::HttpResponse{304, ""}; });
    });
  }

  // These come on the pusher's threads, which wait for nobody.
  void Read() override {
    reply_->Run([self = shared_from_this()] {
      if (const push::StreamPtr stream = self->stream()) stream->OnRequest(std::exchange(self->request_, {}));
    });
  }
  void Send(xds::Frame frame) override {
    {
      std::lock_guard lock(mutex_);
      answered_ = true;
    }
    auto response = std::make_shared<const xds::Frame>(std::move(frame));
    reply_->Run([self = shared_from_this(), response] {
      if (const push::StreamPtr stream = self->stream()) stream->OnSent(true);
      self->End([&] { return ToJson(*response); });
    });
  }
  void Close(const absl::Status& status) override {
    if (Answered()) return;
    reply_->Run([self = shared_from_this(), status] { self->End([&] { return Failure(status); }); });
  }
  void Abort() override { Close(absl::DeadlineExceededError("aborted")); }

 private:
  static server::HttpResponse ToJson(const xds::Frame& response) {
    std::string bytes;
    for (const xds::Piece& piece : response) bytes.append(piece.bytes);
    auto json = proto::ToJson(kResponseType, bytes);
    if (!json.ok()) return Failure(absl::InternalError(json.status().message()));
    return {200, *std::move(json), "application/json"};
  }

  push::StreamPtr stream() {
    std::lock_guard lock(mutex_);
    return stream_;
  }

  bool Answered() {
    std::lock_guard lock(mutex_);
    return answered_;
  }

  // The first answer counts.
  template <typename Make>
  void End(const Make& make) {
    push::StreamPtr stream;
    {
      std::lock_guard lock(mutex_);
      stream = std::exchange(stream_, nullptr);
    }
    if (stream == nullptr) return;
    stream->OnClosed();
    place_ = nullptr;
    reply_->Answer(make());
  }

  std::string request_;
  const server::HttpReplyPtr reply_;
  OpenPolls::PlacePtr place_;
  std::mutex mutex_;
  push::StreamPtr stream_;  // null: it has ended; guarded by mutex_
  bool answered_ = false;   // the pusher has; guarded by mutex_
};

server::HttpResponse TooManyPolls() {
  server::HttpResponse response = Failure(absl::UnavailableError("too many polls are open"));
  response.retry_after = kRetryAfterSeconds;
  return response;
}

void Answer(push::Pusher* pusher, xds::TypeId type, const std::shared_ptr<OpenPolls>& polls,
            const server::HttpRequest& request, server::HttpReplyPtr reply) {
  // The place keeps the polls: it may last for longer than the server.
  const auto place =
      OpenPolls::PlacePtr(new OpenPolls::Place(polls.get()), [polls](OpenPolls::Place* own) { delete own; });
  if (place->refused()) return reply->Answer(TooManyPolls());
  if (absl::Status status = CheckRestBody(request.body, pusher->node_limits()); !status.ok())
    return reply->Answer(Failure(status));
  auto bytes = proto::FromJson(kRequestType, request.body);
  if (!bytes.ok()) return reply->Answer(Failure(bytes.status()));
  push::StreamPtr stream =
      pusher->Open({.only = type, .exchange = push::Exchange::kPoll, .peer = {.address = request.peer}});
  const milliseconds hold = place->may_be_held() ? HoldOf(request) : std::min(HoldOf(request), kShortHold);
  std::make_shared<Poll>(*std::move(bytes), std::move(reply), place)->Begin(std::move(stream), hold);
}

server::HttpResponse ClientStatus(const debug::Sources& sources, const server::HttpRequest& request) {
  const auto bytes = proto::FromJson("envoy.service.status.v3.ClientStatusRequest", request.body);
  if (!bytes.ok()) return Failure(bytes.status());
  envoy::service::status::v3::ClientStatusRequest message;
  message.ParseFromString(*bytes);
  const auto response = debug::ClientStatus(sources, {.address = request.peer}, message);
  if (!response.ok()) return Failure(response.status());
  auto json = proto::ToJson("envoy.service.status.v3.ClientStatusResponse", response->SerializeAsString());
  if (!json.ok()) return Failure(absl::InternalError(json.status().message()));
  return {200, *std::move(json), "application/json"};
}

// What did not come as far as a handler.
server::HttpResponse Unanswered(const server::HttpRequest& request, int status) {
  if (!request.path.starts_with("/v3/discovery:")) return {status, ""};
  if (status == 404) {
    server::HttpResponse response = Failure(absl::UnimplementedError("discovery requests are to be POSTed"));
    response.status = 405;
    return response;
  }
  if (status == 503) return TooManyPolls();
  server::HttpResponse response =
      Failure(status == 413 ? absl::ResourceExhaustedError("the request is too large")
                            : absl::InvalidArgumentError("the request is no HTTP"));
  response.status = status;
  return response;
}

}  // namespace

void AddRestPaths(push::Pusher* pusher, const debug::Sources* sources, size_t requests,
                  server::HttpServer* server) {
  const auto polls = std::make_shared<OpenPolls>(requests);
  for (const xds::ServiceInfo& service : xds::kServices) {
    if (service.rest.empty()) continue;
    server->PostLater(std::string(service.rest), [=, type = service.type](const server::HttpRequest& request,
                                                                          server::HttpReplyPtr reply) {
      Answer(pusher, type, polls, request, std::move(reply));
    });
  }
  server->OnUnanswered(Unanswered);
  server->Post("/v3/discovery:client_status",
               [sources](const server::HttpRequest& request) { return ClientStatus(*sources, request); });
  server->Post("/v2/discovery:*", [](const server::HttpRequest& request) {
    return Failure(
        absl::UnimplementedError(StrCat("xDS v2 is not served: use /v3 instead of ", request.path)));
  });
  server->Post("/v3/discovery:*", [](const server::HttpRequest& request) {
    return Failure(absl::UnimplementedError(StrCat(request.path, " is not served")));
  });
}

}  // namespace fairlead::serving
