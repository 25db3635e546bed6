#include "agent/relay_stream.h"

#include <algorithm>
#include <random>
#include <utility>

#include "agent/way_out.h"
#include "agent/xds_fields.h"
#include "base/log.h"
#include "base/strings.h"
#include "envoy/service/discovery/v3/discovery.pb.h"

namespace fairlead::agent {
namespace {

namespace discovery = envoy::service::discovery::v3;

LogScope relay_log("xdsproxy");

constexpr std::string_view kWasmFilter = "envoy.filters.http.wasm";
constexpr std::string_view kPlugins = "extensions.istio.io/";
constexpr std::chrono::milliseconds kFirstRetry{100}, kLastRetry{10'000}, kStable{5'000};

// A node that lists nothing does not say.
bool ListsNoWasm(const envoy::config::core::v3::Node& node) {
  return !node.extensions().empty() &&
         std::none_of(node.extensions().begin(), node.extensions().end(),
                      [](const auto& extension) { return extension.name() == kWasmFilter; });
}

template <typename Names>
bool NamesPlugin(const Names& names) {
  return std::any_of(names.begin(), names.end(),
                     [](const std::string& name) { return name.starts_with(kPlugins); });
}

}  // namespace

// The call keeps it, it keeps the stream: until the call ends.
class RelayStream::ControlPlane final : public UpstreamHandler {
 public:
  ControlPlane(std::shared_ptr<RelayStream> stream, size_t number)
      : stream_(std::move(stream)), number_(number) {}
  void OnReply(std::string message) override { stream_->OnReply(number_, std::move(message)); }
  void OnTaken() override { stream_->OnTaken(number_); }
  void OnEnd(const absl::Status& status) override { stream_->OnEnd(number_, status); }

 private:
  const std::shared_ptr<RelayStream> stream_;
  const size_t number_;
};

struct RelayStream::Answer {
  size_t control_plane = 0;
  size_t bytes = 0;  // as it came
  discovery::DiscoveryResponse whole;
  discovery::DeltaDiscoveryResponse delta;
};

RelayStream::RelayStream(std::shared_ptr<server::ServerStream> stream, bool delta, Surroundings surroundings,
                         wasm::Rewriter* rewriter)
    : stream_(std::move(stream)),
      delta_(delta),
      surroundings_(std::move(surroundings)),
      rewriter_(rewriter),
      subscriptions_(delta),
      pause_(kFirstRetry, kLastRetry, std::random_device{}()) {}

void RelayStream::Open() {
  std::lock_guard lock(mutex_);
  if (call_ != nullptr || over_) return;
  auto call = surroundings_.open(std::make_shared<ControlPlane>(shared_from_this(), control_plane_ + 1));
  if (!call.ok()) return Retry(call.status());
  if (*call == nullptr) return;
  call_ = *std::move(call);
  ++control_plane_;
  opened_ = Clock::now();
  said_health_ = tapped_ = false;
  for (const std::string& request : subscriptions_.Restore()) call_->Send(request);
  SendOwn();
}

void RelayStream::Retry(const absl::Status& why) {
  if (std::string text = why.ToString(); !why.ok() && text != last_end_) {
    relay_log.Warn("the control plane's stream ended: {}", WithWayOut(text));
    last_end_ = std::move(text);
  }
  if (!why.ok()) surroundings_.progress(why);
  surroundings_.open_later(shared_from_this(), pause_.Next());
}

void RelayStream::OnHealth() {
  std::lock_guard lock(mutex_);
  said_health_ = false;
  SendOwn();
}

// The agent's own requests follow the proxy's request for listeners, as in pilot-agent.
void RelayStream::SendOwn() {
  if (call_ == nullptr || !subscriptions_.AsksFor(kListenerType)) return;
  if (!std::exchange(tapped_, true)) {
    for (const RelayTap& tap : surroundings_.taps) call_->Send(TapRequest(tap, delta_));
  }
  if (std::exchange(said_health_, true)) return;
  if (const std::string health = surroundings_.health(delta_); !health.empty()) call_->Send(health);
}

const RelayTap* RelayStream::TapOf(std::string_view response) const {
  const std::string_view type = FieldOf(response, kTypeOfResponse);
  const auto& taps = surroundings_.taps;
  const auto tap =
      std::find_if(taps.begin(), taps.end(), [&](const RelayTap& one) { return one.type == type; });
  return tap == taps.end() ? nullptr : &*tap;
}

// The tap works without the lock.
void RelayStream::OnTapped(size_t control_plane, const RelayTap& tap, std::string_view response) {
  const std::string reply = TakeTapped(tap, delta_, response);
  std::lock_guard lock(mutex_);
  if (call_ == nullptr || control_plane != control_plane_) return;
  call_->Done(response.size());
  call_->Send(reply);
}

void RelayStream::ReadOn() {
  if (!over_ && !std::exchange(reading_, true)) stream_->Read();
}

void RelayStream::OnMessage(std::string_view bytes) {
  std::lock_guard lock(mutex_);
  reading_ = false;
  if (over_) return;
  LookAt(bytes);
  const auto request = subscriptions_.OnRequest(bytes);
  if (!request.ok()) {
    over_ = true;
    stream_->Close(request.status());
    return;
  }
  // Without a control plane the subscriptions are what is kept of it.
  if (call_ == nullptr || request->empty()) return ReadOn();
  call_->Send(*request);
  SendOwn();
}

void RelayStream::OnTaken(size_t control_plane) {
  std::lock_guard lock(mutex_);
  // Nothing is read where what was taken is a request of ours.
  if (control_plane == control_plane_) ReadOn();
}

// The first request says who the proxy is; those for extension configurations what it asks for.
void RelayStream::LookAt(std::string_view request) {
  if (!std::exchange(seen_, true)) {
    envoy::config::core::v3::Node node;
    const std::string_view bytes = FieldOf(request, delta_ ? 1 : 2);
    lacks_wasm_ = node.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())) && ListsNoWasm(node);
  }
  if (FieldOf(request, delta_ ? kTypeOfDeltaRequest : kTypeOfRequest) == kExtensionType)
    NoteExtensions(request);
}

void RelayStream::NoteExtensions(std::string_view request) {
  bool plugin = false;
  if (delta_) {
    discovery::DeltaDiscoveryRequest parsed;
    if (!parsed.ParseFromArray(request.data(), static_cast<int>(request.size()))) return;
    plugin = NamesPlugin(parsed.resource_names_subscribe());
  } else {
    discovery::DiscoveryRequest parsed;
    if (!parsed.ParseFromArray(request.data(), static_cast<int>(request.size()))) return;
    plugin = NamesPlugin(parsed.resource_names());
  }
  if (!plugin || !lacks_wasm_ || std::exchange(said_, true)) return;
  relay_log.Warn(
      "this Envoy has no Wasm runtime ({}): in place of a WasmPlugin's module it gets a filter that allows "
      "or refuses everything, by the plugin's failStrategy",
      kWasmFilter);
}

void RelayStream::OnReply(size_t control_plane, std::string message) {
  surroundings_.progress(absl::OkStatus());
  if (const RelayTap* tap = TapOf(message)) return OnTapped(control_plane, *tap, message);
  std::lock_guard lock(mutex_);
  if (over_ || control_plane != control_plane_) return;
  last_end_.clear();
  if (rewriter_ != nullptr && FieldOf(message, kTypeOfResponse) == kExtensionType) {
    to_rewrite_.push_back(std::move(message));
    if (!rewriting_) RewriteNext();
  } else {
    const size_t came = message.size();
    to_proxy_.push_back({std::move(message), came});
    Pump();
  }
}

void RelayStream::Pump() {
  if (sending_ || over_ || to_proxy_.empty()) return;
  sending_ = true;
  sending_bytes_ = to_proxy_.front().came;
  sending_of_ = control_plane_;
  const auto message = std::make_shared<const std::string>(std::move(to_proxy_.front().bytes));
  to_proxy_.pop_front();
  subscriptions_.OnResponse(*message);
  stream_->Send({server::Slice{message, *message}});
}

void RelayStream::OnSent(bool /*ok*/) {
  std::lock_guard lock(mutex_);
  sending_ = false;
  if (call_ != nullptr && sending_of_ == control_plane_) call_->Done(sending_bytes_);
  Pump();
}

// One after another: the proxy gets the answers in their order.
void RelayStream::RewriteNext() {
  if (to_rewrite_.empty()) return;
  rewriting_ = true;
  const std::string bytes = std::move(to_rewrite_.front());
  to_rewrite_.pop_front();
  const auto answer = std::make_shared<Answer>();
  answer->control_plane = control_plane_;
  answer->bytes = bytes.size();
  std::vector<google::protobuf::Any*> resources;
  if (delta_ && answer->delta.ParseFromString(bytes)) {
    for (auto& resource : *answer->delta.mutable_resources())
      resources.push_back(resource.mutable_resource());
  } else if (!delta_ && answer->whole.ParseFromString(bytes)) {
    for (auto& resource : *answer->whole.mutable_resources()) resources.push_back(&resource);
  }
  rewriter_->Start(std::move(resources), [self = shared_from_this(), answer](const absl::Status& status) {
    self->OnRewritten(answer, status);
  });
}

void RelayStream::OnRewritten(const std::shared_ptr<Answer>& answer, const absl::Status& status) {
  std::lock_guard lock(mutex_);
  rewriting_ = false;
  if (over_) return;
  if (answer->control_plane != control_plane_ || call_ == nullptr) {
    // The next control plane answers anew.
  } else if (status.ok()) {
    to_proxy_.push_back(
        {delta_ ? answer->delta.SerializeAsString() : answer->whole.SerializeAsString(), answer->bytes});
    Pump();
  } else {
    Refuse(*answer, status);
  }
  RewriteNext();
}

// As the proxy would: with the nonce of the answer, and, of state of the world, with what it has asked for.
void RelayStream::Refuse(const Answer& answer, const absl::Status& why) {
  relay_log.Error("extension configurations are refused: {}", std::string(why.message()));
  call_->Done(answer.bytes);
  const auto fill = [&](auto request, const std::string& nonce) {
    request.set_type_url(std::string(kExtensionType));
    request.set_response_nonce(nonce);
    request.mutable_error_detail()->set_code(static_cast<int>(absl::StatusCode::kInternal));
    request.mutable_error_detail()->set_message(std::string(why.message()));
    return request.SerializeAsString();
  };
  discovery::DiscoveryRequest last;
  last.ParseFromString(subscriptions_.LastRequest(kExtensionType));
  call_->Send(delta_ ? fill(discovery::DeltaDiscoveryRequest(), answer.delta.nonce())
                     : fill(std::move(last), answer.whole.nonce()));
}

// What the proxy was not given is forgotten: the next control plane says it anew.
void RelayStream::OnEnd(size_t control_plane, const absl::Status& status) {
  std::unique_ptr<UpstreamCall> ended;
  std::lock_guard lock(mutex_);
  if (over_ || control_plane != control_plane_) return;
  ended = std::move(call_);
  to_proxy_.clear();
  to_rewrite_.clear();
  if (Clock::now() - opened_ >= kStable) pause_.Reset();
  Retry(status);
  ReadOn();
}

void RelayStream::OnClosed() {
  std::unique_ptr<UpstreamCall> ended;
  std::lock_guard lock(mutex_);
  over_ = true;
  ended = std::move(call_);
  to_proxy_.clear();
  to_rewrite_.clear();
}

}  // namespace fairlead::agent
