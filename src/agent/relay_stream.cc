#include "agent/relay_stream.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "agent/way_out.h"
#include "agent/xds_fields.h"
#include "base/log.h"
#include "base/strings.h"

namespace fairlead::agent {
namespace {

namespace discovery = envoy::service::discovery::v3;

LogScope relay_log("xdsproxy");

constexpr std::string_view kWasmFilter = "envoy.filters.http.wasm";
constexpr std::string_view kPlugins = "extensions.istio.io/";

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
  explicit ControlPlane(std::shared_ptr<RelayStream> stream) : stream_(std::move(stream)) {}
  void OnReply(std::string message) override { stream_->OnReply(std::move(message)); }
  void OnTaken() override { stream_->OnTaken(); }
  void OnEnd(const absl::Status& status) override { stream_->OnEnd(status); }

 private:
  const std::shared_ptr<RelayStream> stream_;
};

struct RelayStream::Answer {
  size_t bytes = 0;  // as it came
  discovery::DiscoveryResponse whole;
  discovery::DeltaDiscoveryResponse delta;
};

RelayStream::RelayStream(std::shared_ptr<server::ServerStream> stream, bool delta, Opener opener,
                         wasm::Rewriter* rewriter, Progress progress, std::vector<RelayTap> taps)
    : stream_(std::move(stream)),
      delta_(delta),
      opener_(std::move(opener)),
      rewriter_(rewriter),
      progress_(std::move(progress)),
      taps_(std::move(taps)) {}

void RelayStream::Open() {
  std::lock_guard lock(mutex_);
  if (call_ != nullptr || over_) return;
  auto call = opener_(std::make_shared<ControlPlane>(shared_from_this()));
  if (!call.ok()) {
    over_ = true;
    stream_->Close(call.status());
    return;
  }
  call_ = *std::move(call);
  if (call_ != nullptr && !first_.empty()) SendOn(std::exchange(first_, {}));
}

void RelayStream::OnMessage(std::string_view bytes) {
  std::lock_guard lock(mutex_);
  reading_ = false;
  if (over_) return;
  LookAt(bytes);
  if (call_ == nullptr) {
    first_ = bytes;
  } else {
    SendOn(bytes);
  }
}

// The agent's own subscriptions follow the proxy's request for listeners, as in pilot-agent.
void RelayStream::SendOn(std::string_view request) {
  call_->Send(request);
  if (tapped_ || FieldOf(request, delta_ ? kTypeOfDeltaRequest : kTypeOfRequest) != kListenerType) return;
  tapped_ = true;
  for (const RelayTap& tap : taps_) call_->Send(TapRequest(tap, delta_));
}

const RelayTap* RelayStream::TapOf(std::string_view response) const {
  const std::string_view type = FieldOf(response, kTypeOfResponse);
  const auto tap =
      std::find_if(taps_.begin(), taps_.end(), [&](const RelayTap& one) { return one.type == type; });
  return tap == taps_.end() ? nullptr : &*tap;
}

void RelayStream::OnTaken() {
  std::lock_guard lock(mutex_);
  // Nothing is read where what was taken is a refusal of ours.
  if (!over_ && !std::exchange(reading_, true)) stream_->Read();
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
    parsed.clear_node();
    parsed.clear_error_detail();
    plugin = NamesPlugin(parsed.resource_names());
    last_ = std::move(parsed);
  }
  if (!plugin || !lacks_wasm_ || std::exchange(said_, true)) return;
  relay_log.Warn(
      "this Envoy has no Wasm runtime ({}): in place of a WasmPlugin's module it gets a filter that allows "
      "or refuses everything, by the plugin's failStrategy",
      kWasmFilter);
}

void RelayStream::OnReply(std::string message) {
  progress_(absl::OkStatus());
  if (const RelayTap* tap = TapOf(message)) {
    const std::string reply = TakeTapped(*tap, delta_, message);
    std::lock_guard lock(mutex_);
    if (call_ == nullptr) return;
    call_->Done(message.size());
    return call_->Send(reply);
  }
  std::lock_guard lock(mutex_);
  if (over_) return;
  if (FieldOf(message, kTypeOfResponse) == kExtensionType) {
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
  const auto message = std::make_shared<const std::string>(std::move(to_proxy_.front().bytes));
  to_proxy_.pop_front();
  stream_->Send({server::Slice{message, *message}});
}

void RelayStream::OnSent(bool /*ok*/) {
  std::lock_guard lock(mutex_);
  sending_ = false;
  if (call_ != nullptr) call_->Done(sending_bytes_);
  Pump();
}

// One after another: the proxy gets the answers in their order.
void RelayStream::RewriteNext() {
  if (to_rewrite_.empty()) return;
  rewriting_ = true;
  const std::string bytes = std::move(to_rewrite_.front());
  to_rewrite_.pop_front();
  const auto answer = std::make_shared<Answer>();
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
  if (status.ok()) {
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
  if (call_ == nullptr) return;
  call_->Done(answer.bytes);
  const auto fill = [&](auto request, const std::string& nonce) {
    request.set_type_url(std::string(kExtensionType));
    request.set_response_nonce(nonce);
    request.mutable_error_detail()->set_code(static_cast<int>(absl::StatusCode::kInternal));
    request.mutable_error_detail()->set_message(std::string(why.message()));
    return request.SerializeAsString();
  };
  call_->Send(delta_ ? fill(discovery::DeltaDiscoveryRequest(), answer.delta.nonce())
                     : fill(last_, answer.whole.nonce()));
}

void RelayStream::OnEnd(const absl::Status& status) {
  std::unique_ptr<UpstreamCall> ended;
  {
    std::lock_guard lock(mutex_);
    if (std::exchange(over_, true)) return;
    ended = std::move(call_);
  }
  if (!status.ok()) progress_(status);
  if (!status.ok()) relay_log.Warn("the control plane's stream ended: {}", WithWayOut(status.ToString()));
  stream_->Close(status);
}

void RelayStream::OnClosed() {
  std::unique_ptr<UpstreamCall> ended;
  std::lock_guard lock(mutex_);
  over_ = true;
  ended = std::move(call_);
}

}  // namespace fairlead::agent
