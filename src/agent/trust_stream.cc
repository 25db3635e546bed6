#include "agent/trust_stream.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "agent/way_out.h"
#include "base/log.h"
#include "base/strings.h"
#include "base/thread.h"
#include "envoy/service/discovery/v3/discovery.pb.h"
#include "istio/mesh/v1alpha1/proxy.pb.h"
#include "proto/json.h"

namespace fairlead::agent {
namespace {

using envoy::service::discovery::v3::DiscoveryRequest;
using envoy::service::discovery::v3::DiscoveryResponse;

LogScope trust_log("trust");

constexpr char kPath[] = "/envoy.service.discovery.v3.AggregatedDiscoveryService/StreamAggregatedResources";
constexpr char kType[] = "type.googleapis.com/istio.mesh.v1alpha1.ProxyConfig";

}  // namespace

// What is said and heard on one stream.
class TrustStream::Exchange final : public UpstreamHandler {
 public:
  explicit Exchange(TrustStream* owner) : owner_(owner) {}

  // REQUIRES of all but OnReply's parts: the owner's mutex held.
  std::unique_ptr<UpstreamCall> call;
  std::optional<absl::Status> end;
  bool told = false;

  void OnReply(std::string message) override {
    DiscoveryResponse response;
    if (!response.ParseFromString(message)) return;
    DiscoveryRequest reply;
    reply.set_type_url(kType);
    reply.set_response_nonce(response.nonce());
    reply.set_version_info(response.version_info());
    istio::mesh::v1alpha1::ProxyConfig config;
    if (response.resources().empty()) {
      // The mesh says nothing of it: what was said holds.
    } else if (response.resources(0).UnpackTo(&config)) {
      owner_->store_->SetTrusted({config.ca_certificates_pem().begin(), config.ca_certificates_pem().end()});
    } else {
      reply.clear_version_info();
      reply.mutable_error_detail()->set_message("not a ProxyConfig");
    }
    std::lock_guard lock(owner_->mutex_);
    told = told || !reply.has_error_detail();
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
  TrustStream* const owner_;
};

TrustStream::TrustStream(TrustStreamOptions options, SecretStore* store)
    : options_(std::move(options)), store_(store), upstream_(PlaceOf(options_.control_plane)) {}

TrustStream::~TrustStream() { Stop(); }

void TrustStream::Start() {
  thread_ = RequireThread([this] { Run(); });
}

void TrustStream::Stop() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
    changed_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
  upstream_.Stop();
}

void TrustStream::Run() {
  std::chrono::milliseconds retry = options_.first_retry;
  std::string last;
  std::unique_lock lock(mutex_);
  do {
    lock.unlock();
    bool told = false;
    const std::string why = WithWayOut(FromAbsl(RunOnce(&told).message()));
    if (told) retry = options_.first_retry;
    if (why != last && !why.empty())
      trust_log.Warn("{}: {}; the trusted roots stay", options_.control_plane.address, why);
    last = why;
    retry = std::min(told ? retry : 2 * retry, options_.last_retry);
    lock.lock();
  } while (!changed_.wait_for(lock, retry, [this] { return stopping_; }));
}

absl::Status TrustStream::RunOnce(bool* told) {
  DiscoveryRequest first;
  const auto node = proto::FromJson("envoy.config.core.v3.Node", options_.node);
  if (!node.ok()) return node.status();
  first.mutable_node()->ParseFromString(*node);
  first.set_type_url(kType);
  auto proofs = ReadProofs(options_.control_plane, store_->Get("default").value_or(Secret()));
  if (!proofs.ok()) return proofs.status();
  const auto exchange = std::make_shared<Exchange>(this);
  auto call = upstream_.Open(kPath, *std::move(proofs), exchange);
  if (!call.ok()) return call.status();
  std::unique_lock lock(mutex_);
  exchange->call = *std::move(call);
  exchange->call->Send(first.SerializeAsString());
  changed_.wait(lock, [&] { return stopping_ || exchange->end; });
  *told = exchange->told;
  exchange->call = nullptr;
  return exchange->end.value_or(absl::OkStatus());
}

}  // namespace fairlead::agent
