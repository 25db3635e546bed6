#include <algorithm>
#include <utility>

#include "base/excerpt.h"
#include "base/log.h"
#include "base/strings.h"
#include "proto/field_reader.h"
#include "push/stream/push_metrics.h"
#include "push/stream/pusher.h"
#include "push/stream/stream.h"
#include "xds/request.h"

// How a stream takes its client's requests.
namespace fairlead::push {
namespace {

LogScope ads_log("ads");

// A proxy's agent may send this before the proxy's own first request; it says nothing about configuration.
constexpr std::string_view kHealthInformation = "type.googleapis.com/istio.v1.HealthInformation";
constexpr std::string_view kVersion2Prefix = "type.googleapis.com/envoy.api.v2.";

// Bytes of the request's node, which is not read.
size_t SizeOfNode(xds::Framing framing, std::string_view request) {
  const uint32_t number = framing == xds::Framing::kDelta ? 1 : 2;
  size_t size = 0;
  for (proto::FieldReader reader(request); reader.Next();) {
    if (reader.number() == number) size = std::max(size, reader.bytes().size());
  }
  return size;
}

bool MayHoldMore(const xds::DecodedRequest& request) {
  return request.rejected || !request.subscribe.empty() || !request.unsubscribe.empty() ||
         !request.initial_versions.empty();
}

void NoteSize(size_t request) {
  metrics::Gauge& largest = Metrics().largest_request;
  if (static_cast<double>(request) > largest.Value()) largest.Set(static_cast<double>(request));
}

}  // namespace

// Most requests are answers after which nothing is due: they are not worth another thread's turn. Left to
// Run: the first one, what it does for longer than a moment, and all while it is at work.
bool Stream::TakeAtOnce(std::string_view bytes) {
  bool due = false;
  {
    std::unique_lock work(work_mutex_, std::try_to_lock);
    if (!work || proxy_ == nullptr || options_.exchange != Exchange::kStream) return false;
    if (share_.IsLarge(bytes.size())) return false;
    auto request = core_.Decode(bytes);
    if (!request.ok() || xds::FindType(request->type_url) == nullptr) return false;
    if (options_.only && request->type_url != xds::InfoOf(*options_.only).url) return false;
    NoteSize(bytes.size());
    const xds::RequestVerdict verdict = core_.OnRequest(*request);
    Note(*request, verdict);
    due = core_.Due() && verdict.kind != xds::RequestVerdict::kTooMuch;
    if (MayHoldMore(*request) && HoldsTooMuch()) return true;
    if (!due) NoteIdle();
  }
  if (due) Schedule();
  return true;
}

// Ends the stream because of a request that is not worth the memory to wait in. False: it may wait.
bool Stream::TurnAway(std::string_view bytes) {
  const size_t most = pusher_->options_.node_limits.bytes;
  if (bytes.size() > most && SizeOfNode(core_.framing(), bytes) > most) {
    Close(absl::InvalidArgumentError(StrCat("the node has more than ", most, " bytes")));
    return true;
  }
  if (share_.MayWait(bytes.size())) return false;
  Close(absl::ResourceExhaustedError(
      "the request is too large for a peer without identity, or too many wait: try again"));
  return true;
}

// Ends the stream where peers without identity hold too much.
bool Stream::HoldsTooMuch() {
  if (share_.Holds(core_.Holds())) return false;
  Warn(StrCat("ending the stream of node:", proxy_->id, " of ", options_.peer.address,
              ": peers without identity hold too much (FAIRLEAD_UNPROVEN_MEMORY)"));
  Close(absl::ResourceExhaustedError(
      "peers without identity hold too much memory together: connect over TLS, or ask for less"));
  return true;
}

bool Stream::TakeRequest() {
  std::string bytes;
  std::shared_ptr<StreamConnection> connection;
  {
    std::lock_guard lock(mutex_);
    if (!request_ || connection_ == nullptr || kept_waiting_) return false;
    bytes = std::move(*request_);
    request_.reset();
    connection = connection_;
  }
  read_later_ = options_.exchange != Exchange::kStream;
  Handle(bytes);
  if (std::exchange(asks_again_, false)) {
    std::lock_guard lock(mutex_);
    request_ = std::move(bytes);
    return false;
  }
  share_.NoteTaken();
  if (!read_later_) connection->Read();
  return true;
}

void Stream::Handle(std::string_view bytes) {
  NoteSize(bytes.size());
  auto request = core_.Decode(bytes);
  if (!request.ok()) return Close(request.status());
  if (request->type_url == kHealthInformation) return TellHealth(*request);
  if (!CheckType(&*request)) return;
  if (proxy_ == nullptr && !Identify(*request)) return;
  if (request->type_url.starts_with(kInspectionPrefix)) return Inspect(*request);
  if (pusher_->maker_.objects().authorize && IsObjectType(request->type_url))
    return TakeObjectRequest(*request);
  if (xds::FindType(request->type_url) == nullptr) return AnswerUnknown(*request);
  Note(*request, core_.OnRequest(*request));
  if (MayHoldMore(*request) && HoldsTooMuch()) return;
  if (options_.exchange != Exchange::kStream && !core_.Subscribed(*options_.only)) {
    Close(absl::InvalidArgumentError(
        StrCat("resources of ", request->type_url, " have to be asked for by name")));
  }
}

// The workload is as healthy as its agent found it last.
void Stream::TellHealth(const xds::DecodedRequest& request) {
  if (proxy_ == nullptr || !observed_) return;
  pusher_->options_.connections->OnHealth(number_, !request.rejected, request.error_message);
}

// On a stream of one type, requests need not name it.
bool Stream::CheckType(xds::DecodedRequest* request) {
  if (request->type_url.starts_with(kVersion2Prefix)) {
    Close(absl::InvalidArgumentError(
        StrCat("xDS v2 is not served: ask for the v3 type instead of ", request->type_url)));
    return false;
  }
  if (!options_.only) return true;
  const std::string_view url = xds::InfoOf(*options_.only).url;
  if (request->type_url.empty()) request->type_url = url;
  if (request->type_url == url) return true;
  Close(absl::InvalidArgumentError(
      StrCat("this is a service of ", url, ", which does not have ", request->type_url)));
  return false;
}

void Stream::Note(const xds::DecodedRequest& request, const xds::RequestVerdict& verdict) {
  if (verdict.kind == xds::RequestVerdict::kTooMuch) return Refuse(request.type_url, verdict.excess);
  NoteTimes(request, verdict.kind, &times_[static_cast<size_t>(verdict.type)]);
  if (verdict.kind == xds::RequestVerdict::kStale) Metrics().Of(verdict.type).expired_nonces.Add();
  // Whatever it answers: what a client rejected may have been replaced before it could say so, and a poll
  // knows of no response before.
  if (request.rejected && verdict.kind != xds::RequestVerdict::kUnknownType)
    CountReject(verdict.type, proxy_->id, request.error_code);
  LogRequest(request, verdict.kind, xds::InfoOf(verdict.type).name);
  if (verdict.answers && options_.exchange == Exchange::kStream) TellAnswer(request, verdict.type);
}

void Stream::TellAnswer(const xds::DecodedRequest& request, xds::TypeId type) {
  TypeTimes& times = times_[static_cast<size_t>(type)];
  const bool behind = core_.Behind(type);
  if (behind && times.behind == WallTime{}) times.behind = std::chrono::system_clock::now();
  if (!behind) times.behind = {};
  const std::string_view error = request.error_message.substr(0, xds::kLongestError);
  const ProxyAnswer answer{number_,
                           proxy_,
                           position_.following()->name(),
                           type,
                           request.rejected,
                           error,
                           core_.SentOf(type),
                           core_.AcceptanceOf(type)};
  // Under the lock, so that nothing is said of a stream whose end was told.
  std::lock_guard lock(mutex_);
  if (connection_ == nullptr) return;
  for (AnswerObserver* observer : pusher_->options_.observers) observer->OnAnswer(answer);
}

// The client asks for more than it may.
void Stream::Refuse(std::string_view type_url, const std::string& excess) {
  Warn(StrCat("ending the stream of node:", name_, ": it asks for too much of ", Excerpt(type_url), ": ",
              excess));
  Close(absl::ResourceExhaustedError(StrCat("too much is asked for of ", Excerpt(type_url), ": ", excess)));
}

void Stream::NoteTimes(const xds::DecodedRequest& request, xds::RequestVerdict::Kind verdict,
                       TypeTimes* times) {
  const bool answers = verdict != xds::RequestVerdict::kStale && verdict != xds::RequestVerdict::kUnknownType;
  if (request.nonce.empty() || !answers) return;
  (request.rejected ? times->nacked : times->acked) = std::chrono::system_clock::now();
}

void Stream::LogRequest(const xds::DecodedRequest& request, xds::RequestVerdict::Kind verdict,
                        std::string_view type) const {
  if (request.rejected && verdict != xds::RequestVerdict::kUnknownType)
    Warn(StrCat(type, ": NACK from node:", name_, " code:", request.error_code, " ",
                Excerpt(request.error_message)));
  switch (verdict) {
    case xds::RequestVerdict::kNack:
    case xds::RequestVerdict::kTooMuch:
      break;
    case xds::RequestVerdict::kStale:
      ads_log.Debug("{}: expired nonce {} from node:{}", type, request.nonce, name_);
      break;
    case xds::RequestVerdict::kUnknownType:
      ads_log.Debug("node:{} asks for {}, which is not served", name_, request.type_url);
      break;
    case xds::RequestVerdict::kAck:
      ads_log.Debug("{}: ACK from node:{} nonce:{}", type, name_, request.nonce);
      break;
    case xds::RequestVerdict::kSubscribe:
    case xds::RequestVerdict::kUnsubscribe:
      ads_log.Debug("{}: REQ from node:{} names:{} nonce:{}", type, name_, request.subscribe.size(),
                    request.nonce);
      break;
  }
}

}  // namespace fairlead::push
