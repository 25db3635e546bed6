#include "agent/xds_relay.h"

#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "agent/own_socket.h"
#include "agent/relay_stream.h"
#include "agent/way_out.h"
#include "base/clock.h"
#include "base/strings.h"
#include "base/thread.h"
#include "envoy/service/discovery/v3/discovery.pb.h"

namespace fairlead::agent {
namespace {

using std::chrono::milliseconds;

constexpr std::string_view kService = "/envoy.service.discovery.v3.AggregatedDiscoveryService/";
constexpr char kHealthType[] = "type.googleapis.com/istio.v1.HealthInformation";

// Source: pilot-agent. The request is no subscription: an error in it means a workload that is not healthy.
template <typename Request>
std::string HealthRequest(const absl::Status& health) {
  Request request;
  request.set_type_url(kHealthType);
  if (!health.ok()) {
    request.mutable_error_detail()->set_code(static_cast<int>(absl::StatusCode::kInternal));
    request.mutable_error_detail()->set_message(std::string(health.message()));
  }
  return request.SerializeAsString();
}

}  // namespace

// The streams that are open, for certificates to reach those that wait, and the time of those that wait for
// it.
class XdsRelay::Streams {
 public:
  Streams(const Options& options, SecretStore* store, Upstream* upstream, wasm::Rewriter* rewriter)
      : options_(options), store_(store), upstream_(upstream), rewriter_(rewriter) {}

  server::GrpcMethod Method(std::string_view name, bool delta, const std::shared_ptr<Streams>& self) {
    const std::string path = StrCat(kService, name);
    RelayStream::Surroundings surroundings;
    surroundings.open = [self, path](std::shared_ptr<UpstreamHandler> control_plane) {
      return self->Open(path, std::move(control_plane));
    };
    surroundings.open_later = [self](const std::shared_ptr<RelayStream>& stream, milliseconds wait) {
      self->OpenLater(stream, wait);
    };
    surroundings.progress = [self](const absl::Status& status) { self->Note(status); };
    surroundings.taps = self->options_.taps;
    surroundings.health = [self](bool in_delta) { return self->Health(in_delta); };
    return {path,
            [self, delta, surroundings = std::move(surroundings)](
                std::shared_ptr<server::ServerStream> stream) -> std::shared_ptr<server::StreamHandler> {
              server::ServerStream& to_read = *stream;
              auto handler =
                  std::make_shared<RelayStream>(std::move(stream), delta, surroundings, self->rewriter_);
              self->open_.Add(handler);
              handler->Open();
              to_read.Read();
              return handler;
            }};
  }
  void Start() {
    thread_ = RequireThread([this] { Run(); });
  }
  void OnChange() {
    for (const auto& stream : open_.All()) stream->Open();
  }
  void ReportHealth(const absl::Status& health) {
    {
      std::lock_guard lock(mutex_);
      health_ = health;
    }
    for (const auto& stream : open_.All()) stream->OnHealth();
  }
  // What became of a stream to the control plane: it answers, or how it ended.
  void Note(const absl::Status& status) {
    std::lock_guard lock(mutex_);
    difficulty_ = status.ok() ? "" : WithWayOut(status.ToString());
  }
  std::string difficulty() {
    std::lock_guard lock(mutex_);
    return difficulty_;
  }
  void Stop() {
    open_.Clear();
    {
      std::lock_guard lock(mutex_);
      stopped_ = true;
      waiting_.clear();
      changed_.notify_all();
    }
    if (thread_.joinable()) thread_.join();
  }

 private:
  absl::StatusOr<std::unique_ptr<UpstreamCall>> Open(const std::string& path,
                                                     std::shared_ptr<UpstreamHandler> control_plane) {
    auto proofs = FindProofs();
    if (!proofs.ok()) return proofs.status();
    if (!*proofs) return std::unique_ptr<UpstreamCall>();
    std::lock_guard lock(mutex_);
    if (stopped_) return absl::UnavailableError("the agent ends");
    return upstream_->Open(path, **std::move(proofs), std::move(control_plane));
  }
  // Nothing: they are still to come.
  absl::StatusOr<std::optional<Proofs>> FindProofs() {
    if (!options_.upstream.tls)
      return Proofs{.own = {}, .roots = "", .metadata = options_.control_plane.headers};
    if (!options_.own_certificate) return ReadProofs(options_.control_plane, Secret());
    const auto pair = store_->Get("default"), believed = store_->Get("ROOTCA");
    if (!pair || !believed) return std::optional<Proofs>();
    return ProofsOfCertificate(options_.control_plane, *pair, believed->roots, options_.with_token);
  }
  void OpenLater(const std::shared_ptr<RelayStream>& stream, milliseconds wait) {
    std::lock_guard lock(mutex_);
    if (stopped_) return;
    waiting_.emplace(Clock::now() + wait, stream);
    changed_.notify_all();
  }
  std::string Health(bool delta) {
    std::lock_guard lock(mutex_);
    if (!health_) return "";
    return delta ? HealthRequest<envoy::service::discovery::v3::DeltaDiscoveryRequest>(*health_)
                 : HealthRequest<envoy::service::discovery::v3::DiscoveryRequest>(*health_);
  }
  void Run() {
    std::unique_lock lock(mutex_);
    while (!stopped_) {
      if (waiting_.empty()) {
        changed_.wait(lock);
        continue;
      }
      const auto first = waiting_.begin();
      if (Clock::now() < first->first) {
        const Clock::time_point until = first->first;
        changed_.wait_until(lock, until);
        continue;
      }
      const auto stream = first->second.lock();
      waiting_.erase(first);
      lock.unlock();
      if (stream != nullptr) stream->Open();
      lock.lock();
    }
  }

  const Options& options_;
  SecretStore* const store_;
  Upstream* const upstream_;
  wasm::Rewriter* const rewriter_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopped_ = false;                                                  // guarded by mutex_
  std::string difficulty_;                                                // guarded by mutex_
  std::optional<absl::Status> health_;                                    // guarded by mutex_
  std::multimap<Clock::time_point, std::weak_ptr<RelayStream>> waiting_;  // guarded by mutex_
  OpenStreams<RelayStream> open_;
  std::thread thread_;
};

XdsRelay::XdsRelay(Options options, SecretStore* store)
    : options_(std::move(options)),
      modules_(options_.modules),
      rewriter_(&modules_, options_.fetches_at_a_time),
      upstream_(options_.upstream),
      streams_(std::make_shared<Streams>(options_, store, &upstream_,
                                         options_.fetch_modules ? &rewriter_ : nullptr)) {
  store->Follow([streams = streams_](const std::string&, const Secret&) { streams->OnChange(); });
}

XdsRelay::~XdsRelay() { Stop(); }

absl::Status XdsRelay::Start() {
  if (options_.fetch_modules) modules_.Start();
  streams_->Start();
  auto server = ServeOnOwnSocket(options_.socket,
                                 {streams_->Method("StreamAggregatedResources", /*delta=*/false, streams_),
                                  streams_->Method("DeltaAggregatedResources", /*delta=*/true, streams_)},
                                 options_.for_all);
  if (server.ok()) server_ = std::move(*server);
  return server.status();
}

void XdsRelay::ReportHealth(const absl::Status& why) { streams_->ReportHealth(why); }

std::string XdsRelay::Difficulty() const {
  const std::string why = streams_->difficulty();
  if (why.empty()) return "";
  return StrCat("no configuration from the control plane at ", options_.upstream.host, ":",
                options_.upstream.port, ": ", why);
}

void XdsRelay::Stop() {
  streams_->Stop();
  if (server_ != nullptr) server_->Stop(std::chrono::milliseconds(0));
  upstream_.Stop();
  modules_.Stop();
  rewriter_.Stop();
}

}  // namespace fairlead::agent
