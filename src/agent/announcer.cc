#include "agent/announcer.h"

#include <algorithm>
#include <random>
#include <utility>

#include "agent/way_out.h"
#include "base/strings.h"
#include "base/thread.h"
#include "envoy/service/discovery/v3/discovery.pb.h"
#include "proto/json.h"

namespace fairlead::agent {
namespace {

using envoy::service::discovery::v3::DiscoveryRequest;
using envoy::service::discovery::v3::DiscoveryResponse;
using std::chrono::milliseconds;

constexpr char kPath[] = "/envoy.service.discovery.v3.AggregatedDiscoveryService/StreamAggregatedResources";
// The smallest thing to ask for: without a subscription there is no proxy.
constexpr char kType[] = "type.googleapis.com/istio.mesh.v1alpha1.ProxyConfig";
constexpr char kHealthType[] = "type.googleapis.com/istio.v1.HealthInformation";

milliseconds PartOf(milliseconds wait) {
  static thread_local std::mt19937_64 random{std::random_device{}()};
  return milliseconds(std::uniform_int_distribution<int64_t>(wait.count() / 2, wait.count())(random));
}

}  // namespace

class Announcer::Exchange final : public UpstreamHandler {
 public:
  explicit Exchange(Announcer* owner) : owner_(owner) {}

  // All are guarded by the owner's mutex.
  std::unique_ptr<UpstreamCall> call;
  std::optional<absl::Status> end;
  bool answered = false;

  void OnReply(std::string message) override {
    DiscoveryResponse response;
    if (!response.ParseFromString(message)) return;
    DiscoveryRequest reply;
    reply.set_type_url(response.type_url());
    reply.set_response_nonce(response.nonce());
    reply.set_version_info(response.version_info());
    std::lock_guard lock(owner_->mutex_);
    answered = true;
    owner_->changed_.notify_all();
    if (call == nullptr) return;
    call->Done(message.size());
    call->Send(reply.SerializeAsString());
  }
  void OnTaken() override {}
  void OnEnd(const absl::Status& status) override {
    std::lock_guard lock(owner_->mutex_);
    end = status.ok() ? absl::UnavailableError("the control plane has ended the stream") : status;
    owner_->changed_.notify_all();
  }

 private:
  Announcer* const owner_;
};

Announcer::Announcer(AnnouncerOptions options)
    : options_(std::move(options)), upstream_(PlaceOf(options_.control_plane)) {}

Announcer::~Announcer() { Stop(); }

void Announcer::Start() {
  thread_ = RequireThread([this] { Run(); });
}

void Announcer::Stop() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
    changed_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
  upstream_.Stop();
}

void Announcer::SetHealth(const absl::Status& health) {
  std::lock_guard lock(mutex_);
  health_ = health;
  SendHealth();
}

// The request is no subscription: an error in it means a workload that is not healthy.
void Announcer::SendHealth() {
  if (call_ == nullptr || !health_) return;
  DiscoveryRequest request;
  request.set_type_url(kHealthType);
  if (!health_->ok()) {
    request.mutable_error_detail()->set_code(static_cast<int>(absl::StatusCode::kInternal));
    request.mutable_error_detail()->set_message(std::string(health_->message()));
  }
  call_->Send(request.SerializeAsString());
}

void Announcer::Note(const absl::Status& status) {
  if (options_.progress) options_.progress(status);
}

void Announcer::Run() {
  milliseconds retry = options_.first_retry;
  std::unique_lock lock(mutex_);
  do {
    lock.unlock();
    bool taken = false;
    const absl::Status why = RunOnce(&taken);
    if (taken) retry = options_.first_retry;
    lock.lock();
    if (stopping_) return;
    lock.unlock();
    Note(absl::Status(why.code(), ToAbsl(WithWayOut(FromAbsl(why.message())))));
    lock.lock();
    const milliseconds wait = PartOf(retry);
    retry = std::min(2 * retry, options_.last_retry);
    if (changed_.wait_for(lock, wait, [this] { return stopping_; })) return;
  } while (true);
}

absl::Status Announcer::RunOnce(bool* taken) {
  DiscoveryRequest first;
  const auto node = proto::FromJson("envoy.config.core.v3.Node", options_.node);
  if (!node.ok()) return node.status();
  first.mutable_node()->ParseFromString(*node);
  first.set_type_url(kType);
  auto proofs = ReadProofs(options_.control_plane, Secret());
  if (!proofs.ok()) return proofs.status();
  const auto exchange = std::make_shared<Exchange>(this);
  auto call = upstream_.Open(kPath, *std::move(proofs), exchange);
  if (!call.ok()) return call.status();
  std::unique_lock lock(mutex_);
  exchange->call = *std::move(call);
  exchange->call->Send(first.SerializeAsString());
  call_ = exchange->call.get();
  SendHealth();
  const auto over = [&] { return stopping_ || exchange->end; };
  changed_.wait_for(lock, options_.patience, [&] { return over() || exchange->answered; });
  if (!over()) {
    *taken = true;
    lock.unlock();
    Note(absl::OkStatus());
    lock.lock();
    changed_.wait(lock, over);
  }
  call_ = nullptr;
  exchange->call = nullptr;
  return exchange->end.value_or(absl::OkStatus());
}

}  // namespace fairlead::agent
