#include "agent/lasting_stream.h"

#include <optional>
#include <random>
#include <utility>

#include "agent/way_out.h"
#include "base/strings.h"
#include "base/thread.h"
#include "envoy/service/discovery/v3/discovery.pb.h"
#include "proto/json.h"
#include "source/platform/retry_pause.h"

namespace fairlead::agent {
namespace {

using envoy::service::discovery::v3::DiscoveryRequest;
using envoy::service::discovery::v3::DiscoveryResponse;

constexpr char kPath[] = "/envoy.service.discovery.v3.AggregatedDiscoveryService/StreamAggregatedResources";

}  // namespace

// What is said and heard on one stream.
class LastingStream::Exchange final : public UpstreamHandler {
 public:
  explicit Exchange(LastingStream* owner) : owner_(owner) {}

  // All are guarded by the owner's mutex.
  std::unique_ptr<UpstreamCall> call;
  std::optional<absl::Status> end;
  bool acknowledged = false;  // a response

  void OnReply(std::string message) override {
    DiscoveryResponse response;
    if (!response.ParseFromString(message)) return;
    const auto& take = owner_->options_.take;
    const absl::Status status = take ? take(response) : absl::OkStatus();
    DiscoveryRequest reply;
    reply.set_type_url(response.type_url());
    reply.set_response_nonce(response.nonce());
    if (status.ok()) {
      reply.set_version_info(response.version_info());
    } else {
      reply.mutable_error_detail()->set_code(static_cast<int>(status.code()));
      reply.mutable_error_detail()->set_message(std::string(FromAbsl(status.message())));
    }
    std::lock_guard lock(owner_->mutex_);
    acknowledged = acknowledged || status.ok();
    owner_->changed_.notify_all();
    if (call == nullptr) return;
    call->Done(message.size());
    call->Send(reply.SerializeAsString());
  }
  void OnTaken() override {}
  void OnEnd(const absl::Status& status) override {
    std::lock_guard lock(owner_->mutex_);
    end = status;
    owner_->changed_.notify_all();
  }

 private:
  LastingStream* const owner_;
};

LastingStream::LastingStream(LastingStreamOptions options)
    : options_(std::move(options)), upstream_(PlaceOf(options_.control_plane)) {}

LastingStream::~LastingStream() { Stop(); }

void LastingStream::Start() {
  thread_ = RequireThread([this] { Run(); });
}

void LastingStream::Stop() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
    changed_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
  upstream_.Stop();
}

void LastingStream::Tell(const DiscoveryRequest& request) {
  std::lock_guard lock(mutex_);
  told_ = request.SerializeAsString();
  if (call_ != nullptr) call_->Send(told_);
}

void LastingStream::Run() {
  source::RetryPause pause(options_.first_retry, options_.last_retry, std::random_device{}());
  std::unique_lock lock(mutex_);
  do {
    lock.unlock();
    bool taken = false;
    const absl::Status why = RunOnce(&taken);
    if (taken) pause.Reset();
    lock.lock();
    if (stopping_) return;
    lock.unlock();
    if (options_.ended) options_.ended(absl::Status(why.code(), ToAbsl(WithWayOut(FromAbsl(why.message())))));
    lock.lock();
  } while (!changed_.wait_for(lock, pause.Next(), [this] { return stopping_; }));
}

absl::Status LastingStream::RunOnce(bool* taken) {
  DiscoveryRequest first;
  const auto node = proto::FromJson("envoy.config.core.v3.Node", options_.node);
  if (!node.ok()) return node.status();
  first.mutable_node()->ParseFromString(*node);
  first.set_type_url(options_.type);
  auto proofs = ReadProofs(options_.control_plane, options_.own ? options_.own() : Secret());
  if (!proofs.ok()) return proofs.status();
  const auto exchange = std::make_shared<Exchange>(this);
  auto call = upstream_.Open(kPath, *std::move(proofs), exchange);
  if (!call.ok()) return call.status();
  std::unique_lock lock(mutex_);
  exchange->call = *std::move(call);
  call_ = exchange->call.get();
  call_->Send(first.SerializeAsString());
  if (!told_.empty()) call_->Send(told_);
  const auto over = [&] { return stopping_ || exchange->end; };
  changed_.wait_for(lock, options_.patience, [&] { return over() || exchange->acknowledged; });
  *taken = !over() || exchange->acknowledged;
  if (*taken && !stopping_ && options_.taken) {
    lock.unlock();
    options_.taken();
    lock.lock();
  }
  changed_.wait(lock, over);
  call_ = nullptr;
  exchange->call = nullptr;
  return exchange->end.value_or(absl::OkStatus());
}

}  // namespace fairlead::agent
