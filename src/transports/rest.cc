#include "transports/rest.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <condition_variable>
#include <mutex>
#include <utility>

#include "base/strings.h"
#include "debug/inspector.h"
#include "google/rpc/status.pb.h"
#include "proto/json.h"
#include "xds/services.h"

namespace fairlead::transports {
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

rpc::HttpResponse Failure(const absl::Status& status) {
  google::rpc::Status message;
  message.set_code(static_cast<int>(status.code()));
  message.set_message(std::string(status.message()));
  return {HttpStatus(status.code()),
          proto::ToJson("google.rpc.Status", message.SerializeAsString()).value_or(""), "application/json"};
}

// The pusher's view of one poll. The stream's callbacks come on its threads; the poll waits on its own.
class Poll : public push::Connection {
 public:
  explicit Poll(std::string request) : request_(std::move(request)) {}
  void Read() override {
    Note([this] { reading_ = true; });
  }
  void Send(xds::Frame frame) override {
    Note([&] {
      for (const xds::Piece& piece : frame) response_.append(piece.bytes);
      sent_ = true;
    });
  }
  void Close(const absl::Status& status) override {
    Note([&] {
      closed_ = true;
      status_ = status;
    });
  }
  void Abort() override { Close(absl::DeadlineExceededError("aborted")); }

  // The encoded response; "" where there was none in time.
  absl::StatusOr<std::string> Run(const push::StreamPtr& stream, milliseconds hold) {
    const auto until = std::chrono::steady_clock::now() + hold;
    std::unique_lock lock(mutex_);
    changed_.wait_until(lock, until, [this] { return reading_ || closed_; });
    if (reading_ && !closed_) {
      lock.unlock();
      stream->OnRequest(std::move(request_));
      lock.lock();
      changed_.wait_until(lock, until, [this] { return sent_ || closed_; });
    }
    if (sent_) return std::move(response_);
    if (closed_) return status_;
    return "";
  }

 private:
  template <typename Change>
  void Note(const Change& change) {
    std::lock_guard lock(mutex_);
    change();
    changed_.notify_all();
  }

  std::string request_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool reading_ = false, sent_ = false, closed_ = false;  // guarded by mutex_
  absl::Status status_;                                   // likewise
  std::string response_;                                  // likewise
};

milliseconds HoldOf(const rpc::HttpRequest& request) {
  const auto header = request.headers.find("x-envoy-expected-rq-timeout-ms");
  int64_t patience = 0;
  if (header == request.headers.end()) return kLongestHold;
  const std::string& text = header->second;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), patience);
  if (error != std::errc() || patience <= 0) return kLongestHold;
  return std::min(kLongestHold,
                  milliseconds(static_cast<int64_t>(static_cast<double>(patience) * kShareOfPatience)));
}

// The polls of one server that are open, each of which has a thread while it is.
class OpenPolls {
 public:
  explicit OpenPolls(size_t connections) : held_(connections * 3 / 4), most_(connections * 7 / 8) {}

  // One of them, as long as it lives.
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

 private:
  const size_t held_, most_;
  std::atomic<size_t> open_{0};
};

rpc::HttpResponse TooManyPolls() {
  rpc::HttpResponse response = Failure(absl::UnavailableError("too many polls are open"));
  response.retry_after = kRetryAfterSeconds;
  return response;
}

rpc::HttpResponse Answer(push::Pusher* pusher, xds::TypeId type, OpenPolls* polls,
                         const rpc::HttpRequest& request) {
  const OpenPolls::Place place(polls);
  if (place.refused()) return TooManyPolls();
  auto bytes = proto::FromJson(kRequestType, request.body);
  if (!bytes.ok()) return Failure(bytes.status());
  const push::StreamPtr stream =
      pusher->Open({.only = type, .exchange = push::Exchange::kPoll, .peer = {.address = request.peer}});
  const auto poll = std::make_shared<Poll>(*std::move(bytes));
  stream->Start(poll);
  const auto response =
      poll->Run(stream, place.may_be_held() ? HoldOf(request) : std::min(HoldOf(request), kShortHold));
  if (response.ok() && !response->empty()) stream->OnSent(true);
  stream->OnClosed();
  if (!response.ok()) return Failure(response.status());
  if (response->empty()) return {304, ""};
  auto json = proto::ToJson(kResponseType, *response);
  if (!json.ok()) return Failure(absl::InternalError(json.status().message()));
  return {200, *std::move(json), "application/json"};
}

rpc::HttpResponse ClientStatus(const debug::Sources& sources, const rpc::HttpRequest& request) {
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
rpc::HttpResponse Unanswered(const rpc::HttpRequest& request, int status) {
  if (!request.path.starts_with("/v3/discovery:")) return {status, ""};
  if (status == 404) {
    rpc::HttpResponse response = Failure(absl::UnimplementedError("discovery requests are to be POSTed"));
    response.status = 405;
    return response;
  }
  rpc::HttpResponse response =
      Failure(status == 413 ? absl::ResourceExhaustedError("the request is too large")
                            : absl::InvalidArgumentError("the request is no HTTP"));
  response.status = status;
  return response;
}

}  // namespace

void AddRestPaths(push::Pusher* pusher, const debug::Sources* sources, size_t connections,
                  rpc::HttpServer* server) {
  const auto polls = std::make_shared<OpenPolls>(connections);
  for (const xds::ServiceInfo& service : xds::kServices) {
    if (service.rest.empty()) continue;
    server->Post(std::string(service.rest), [=, type = service.type](const rpc::HttpRequest& request) {
      return Answer(pusher, type, polls.get(), request);
    });
  }
  server->OnUnanswered(Unanswered);
  server->Post("/v3/discovery:client_status",
               [sources](const rpc::HttpRequest& request) { return ClientStatus(*sources, request); });
  server->Post("/v2/discovery:.*", [](const rpc::HttpRequest& request) {
    return Failure(
        absl::UnimplementedError(StrCat("xDS v2 is not served: use /v3 instead of ", request.path)));
  });
  server->Post("/v3/discovery:.*", [](const rpc::HttpRequest& request) {
    return Failure(absl::UnimplementedError(StrCat(request.path, " is not served")));
  });
}

}  // namespace fairlead::transports
