#include <google/protobuf/struct.pb.h>

#include <utility>

#include "base/log.h"
#include "base/strings.h"
#include "envoy/config/core/v3/base.pb.h"
#include "push/proxy_warning.h"
#include "push/push_metrics.h"
#include "push/pusher.h"
#include "push/stream.h"
#include "xds/request.h"

// How a stream takes its client's requests.
namespace fairlead::push {
namespace {

LogScope ads_log("ads");

// A proxy's agent may send this before the proxy's own first request; it says nothing about configuration.
constexpr std::string_view kHealthInformation = "type.googleapis.com/istio.v1.HealthInformation";
constexpr std::string_view kVersion2Prefix = "type.googleapis.com/envoy.api.v2.";

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
    auto request = core_.Decode(bytes);
    if (!request.ok() || xds::FindType(request->type_url) == nullptr) return false;
    if (options_.only && request->type_url != xds::InfoOf(*options_.only).url) return false;
    NoteSize(bytes.size());
    const xds::Verdict verdict = core_.OnRequest(*request);
    Note(*request, verdict);
    due = core_.Due() && verdict.kind != xds::Verdict::kTooMuch;
    if (!due) NoteIdle();
  }
  if (due) Schedule();
  return true;
}

bool Stream::TakeRequest() {
  std::string bytes;
  std::shared_ptr<Connection> connection;
  {
    std::lock_guard lock(mutex_);
    if (!request_ || connection_ == nullptr) return false;
    bytes = std::move(*request_);
    request_.reset();
    connection = connection_;
  }
  read_later_ = options_.exchange != Exchange::kStream;
  Handle(bytes);
  if (!read_later_) connection->Read();
  return true;
}

void Stream::Handle(std::string_view bytes) {
  NoteSize(bytes.size());
  auto request = core_.Decode(bytes);
  if (!request.ok()) return Close(request.status());
  if (request->type_url == kHealthInformation) return;
  if (!CheckType(&*request)) return;
  if (proxy_ == nullptr && !Identify(*request)) return;
  if (request->type_url.starts_with(kInspectionPrefix)) return Inspect(*request);
  if (pusher_->maker_.objects().authorize && IsObjectType(request->type_url))
    return TakeObjectRequest(*request);
  if (xds::FindType(request->type_url) == nullptr) return AnswerUnknown(*request);
  Note(*request, core_.OnRequest(*request));
  if (options_.exchange != Exchange::kStream && !core_.Subscribed(*options_.only)) {
    Close(absl::InvalidArgumentError(
        StrCat("resources of ", request->type_url, " have to be asked for by name")));
  }
}

// On a stream of one type, requests need not name it.
bool Stream::CheckType(xds::Request* request) {
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

// The first request says who the client is. Its node may be large (a stock Envoy lists 500 extensions): it is
// read into a Proxy, which keeps what generation needs, and dropped.
bool Stream::Identify(const xds::Request& request) {
  envoy::config::core::v3::Node node;
  if (!request.has_node || !node.ParseFromArray(request.node.data(), static_cast<int>(request.node.size())) ||
      node.id().empty()) {
    Close(absl::InvalidArgumentError("missing node information"));
    return false;
  }
  auto proxy = model::ParseProxy(node);
  if (!proxy.ok()) {
    ads_log.Warn("refusing {} of {}: {}", node.id(), options_.peer.address,
                 std::string(proxy.status().message()));
    Close(proxy.status());
    return false;
  }
  if (pusher_->options_.authorizer != nullptr) {
    auto identity = pusher_->options_.authorizer->Authorize(options_.peer, **proxy);
    if (!identity.ok()) {
      ads_log.Warn("refusing {} of {}: {}", node.id(), options_.peer.address,
                   std::string(identity.status().message()));
      Close(identity.status());
      return false;
    }
    identity_ = *std::move(identity);
  }
  if (identity_) {
    auto proven = std::make_shared<model::Proxy>(**proxy);
    proven->identity = identity_;
    *proxy = std::move(proven);
  }
  proxy_ = *std::move(proxy);
  name_ = StrCat(proxy_->id, "-", number_);
  ChooseSource();
  position_.Start();
  FindScope();
  const std::string& version = proxy_->metadata.istio_version;
  connected_ = &ConnectedProxies(version.empty() ? "unknown" : version);
  connected_->Add(1);
  if (options_.exchange != Exchange::kStream) return true;  // polls come every few seconds
  const std::string_view service = options_.only ? xds::InfoOf(*options_.only).name : "ADS";
  ads_log.Info("new {}{} connection for node:{} from {}",
               core_.framing() == xds::Framing::kDelta ? "delta " : "", service, name_,
               options_.peer.address);
  if (const std::string warning = WarningFor(*scope_); !warning.empty())
    ads_log.Warn("node:{}: {}", name_, warning);
  return true;
}

// A proxy that speaks over streams of one type, or by REST, names the cluster of its bootstrap that leads
// here.
void Stream::ChooseSource() {
  using Kind = model::ConfigSource::Kind;
  if (!options_.only || proxy_->metadata.raw == nullptr) return;
  const auto& fields = proxy_->metadata.raw->fields();
  const auto cluster = fields.find("FAIRLEAD_XDS_CLUSTER");
  if (cluster == fields.end() || cluster->second.string_value().empty()) return;
  auto proxy = std::make_shared<model::Proxy>(*proxy_);
  proxy->source = {options_.exchange == Exchange::kPoll      ? Kind::kRest
                   : core_.framing() == xds::Framing::kDelta ? Kind::kDeltaGrpc
                                                             : Kind::kGrpc,
                   cluster->second.string_value()};
  proxy_ = std::move(proxy);
}

void Stream::Note(const xds::Request& request, const xds::Verdict& verdict) {
  if (verdict.kind == xds::Verdict::kTooMuch) return Refuse(request.type_url, verdict.excess);
  NoteTimes(request, verdict.kind, &times_[static_cast<size_t>(verdict.type)]);
  if (verdict.kind == xds::Verdict::kStale) Metrics().Of(verdict.type).expired_nonces.Add();
  // Whatever it answers: what a client rejected may have been replaced before it could say so, and a poll
  // knows of no response before.
  if (request.rejected && verdict.kind != xds::Verdict::kUnknownType)
    CountReject(verdict.type, proxy_->id, request.error_code);
  LogRequest(request, verdict.kind, xds::InfoOf(verdict.type).name);
  if (verdict.answers && options_.exchange == Exchange::kStream) TellAnswer(request, verdict.type);
}

void Stream::TellAnswer(const xds::Request& request, xds::TypeId type) {
  TypeTimes& times = times_[static_cast<size_t>(type)];
  const bool behind = core_.Behind(type);
  if (behind && times.behind == WallTime{}) times.behind = std::chrono::system_clock::now();
  if (!behind) times.behind = {};
  const std::string_view error = request.error_message.substr(0, xds::kLongestError);
  const Answer answer{number_,
                      proxy_,
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
  ads_log.Warn("ending the stream of node:{}: it asks for too much of {}: {}", name_, type_url, excess);
  Close(absl::ResourceExhaustedError(StrCat("too much is asked for of ", type_url, ": ", excess)));
}

void Stream::NoteTimes(const xds::Request& request, xds::Verdict::Kind verdict, TypeTimes* times) {
  const bool answers = verdict != xds::Verdict::kStale && verdict != xds::Verdict::kUnknownType;
  if (request.nonce.empty() || !answers) return;
  (request.rejected ? times->nacked : times->acked) = std::chrono::system_clock::now();
}

void Stream::LogRequest(const xds::Request& request, xds::Verdict::Kind verdict,
                        std::string_view type) const {
  if (request.rejected && verdict != xds::Verdict::kUnknownType)
    ads_log.Warn("{}: NACK from node:{} code:{} {}", type, name_, request.error_code, request.error_message);
  switch (verdict) {
    case xds::Verdict::kNack:
    case xds::Verdict::kTooMuch:
      break;
    case xds::Verdict::kStale:
      ads_log.Debug("{}: expired nonce {} from node:{}", type, request.nonce, name_);
      break;
    case xds::Verdict::kUnknownType:
      ads_log.Debug("node:{} asks for {}, which is not served", name_, request.type_url);
      break;
    case xds::Verdict::kAck:
      ads_log.Debug("{}: ACK from node:{} nonce:{}", type, name_, request.nonce);
      break;
    case xds::Verdict::kSubscribe:
    case xds::Verdict::kUnsubscribe:
      ads_log.Debug("{}: REQ from node:{} names:{} nonce:{}", type, name_, request.subscribe.size(),
                    request.nonce);
      break;
  }
}

}  // namespace fairlead::push
