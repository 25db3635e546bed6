#include "agent/sds_server.h"

#include <atomic>
#include <set>
#include <utility>

#include "agent/own_socket.h"
#include "base/strings.h"
#include "xds/resource_set.h"
#include "xds/response.h"
#include "xds/stream_core.h"

namespace fairlead::agent {
namespace {

using xds::Framing;
using xds::TypeId;

constexpr std::string_view kService = "/envoy.service.secret.v3.SecretDiscoveryService/";

std::string NextNoncePrefix() {
  static std::atomic<uint64_t> last{0};
  return StrCat("sds-", ++last, "-");
}

// One stream of the proxy, which mostly asks for one secret on each.
class SdsStream : public server::StreamHandler {
 public:
  SdsStream(std::shared_ptr<server::ServerStream> stream, Framing framing, SecretStore* store)
      : stream_(std::move(stream)),
        store_(store),
        core_(framing, xds::MaskOf(TypeId::kSecret), NextNoncePrefix()) {}

  void OnMessage(std::string_view bytes) override {
    if (!TakeRequest(bytes)) return;
    Pump();
    stream_->Read();
  }
  void OnSent(bool ok) override {
    {
      std::lock_guard lock(mutex_);
      sending_ = false;
    }
    if (ok) Pump();
  }
  void OnClosed() override {
    std::lock_guard lock(mutex_);
    closed_ = true;
    Hold({});
  }
  void OnChange() {
    {
      std::lock_guard lock(mutex_);
      core_.OnChange();
    }
    Pump();
  }

 private:
  // False: the stream has ended.
  bool TakeRequest(std::string_view bytes) {
    std::lock_guard lock(mutex_);
    if (closed_) return false;
    auto request = core_.Decode(bytes);
    if (!request.ok()) return End(request.status());
    const std::string_view url = xds::InfoOf(TypeId::kSecret).url;
    if (request->type_url.empty()) request->type_url = url;
    if (request->type_url != url) return End(absl::InvalidArgumentError("this is a service of secrets"));
    const xds::RequestVerdict verdict = core_.OnRequest(*request);
    if (verdict.kind == xds::RequestVerdict::kTooMuch)
      return End(absl::ResourceExhaustedError(verdict.excess));
    const auto names = core_.Status(TypeId::kSecret).names;
    Hold({names->names().begin(), names->names().end()});
    return true;
  }
  // The store is told what this stream asks for. REQUIRES: mutex_ held.
  void Hold(std::set<std::string> names) {
    for (const std::string& name : names) {
      if (!held_.contains(name)) store_->Hold(name);
    }
    for (const std::string& name : held_) {
      if (!names.contains(name)) store_->LetGo(name);
    }
    held_ = std::move(names);
  }
  bool End(const absl::Status& status) {
    stream_->Close(status);
    return false;
  }

  // Sends what is due. What is not there yet is told to the store, without the lock: it may come at once.
  void Pump() {
    std::vector<std::string> missing;
    {
      std::lock_guard lock(mutex_);
      if (!sending_ && !closed_) Offer(&missing);
    }
    for (const std::string& name : missing) store_->Want(name);
  }

  // Nothing where some of it is missing: an empty answer would be an error to the proxy. REQUIRES: mutex_
  // held.
  void Offer(std::vector<std::string>* missing) {
    const auto wanted = core_.Next();
    if (!wanted || wanted->names == nullptr) return;
    std::vector<cache::ResourcePtr> resources;
    for (const std::string& name : wanted->names->names()) {
      cache::ResourcePtr resource = store_->Find(name);
      if (resource == nullptr) {
        missing->push_back(name);
      } else {
        resources.push_back(std::move(resource));
      }
    }
    if (!missing->empty()) return;
    const auto response = core_.Offer(wanted->type, xds::ResourceSet::Of(std::move(resources)));
    if (!response) return;
    std::vector<server::Slice> slices;
    for (xds::Piece& piece : xds::Encode(core_.framing(), *response))
      slices.push_back({std::move(piece.owner), piece.bytes});
    sending_ = true;
    stream_->Send(std::move(slices));
  }

  const std::shared_ptr<server::ServerStream> stream_;
  SecretStore* const store_;
  std::mutex mutex_;
  xds::StreamCore core_;
  std::set<std::string> held_;
  bool sending_ = false, closed_ = false;
};

}  // namespace

// The streams that are open, for changes to reach.
class SdsServer::Streams {
 public:
  explicit Streams(SecretStore* store) : store_(store) {}

  server::GrpcMethod Method(std::string_view name, Framing framing, const std::shared_ptr<Streams>& self) {
    return {StrCat(kService, name),
            [self, framing](
                std::shared_ptr<server::ServerStream> stream) -> std::shared_ptr<server::StreamHandler> {
              server::ServerStream& to_read = *stream;
              auto handler = std::make_shared<SdsStream>(std::move(stream), framing, self->store_);
              self->open_.Add(handler);
              to_read.Read();
              return handler;
            }};
  }
  void OnChange() {
    for (const auto& stream : open_.All()) stream->OnChange();
  }

 private:
  SecretStore* const store_;
  OpenStreams<SdsStream> open_;
};

SdsServer::SdsServer(std::string socket, SecretStore* store)
    : socket_(std::move(socket)), streams_(std::make_shared<Streams>(store)) {
  store->Follow([streams = streams_](const std::string&, const Secret&) { streams->OnChange(); });
}

SdsServer::~SdsServer() { Stop(); }

absl::Status SdsServer::Start() {
  auto server =
      ServeOnOwnSocket(socket_, {streams_->Method("StreamSecrets", Framing::kStateOfTheWorld, streams_),
                                 streams_->Method("DeltaSecrets", Framing::kDelta, streams_)});
  if (server.ok()) server_ = std::move(*server);
  return server.status();
}

void SdsServer::Stop() {
  if (server_ != nullptr) server_->Stop(std::chrono::milliseconds(0));
}

}  // namespace fairlead::agent
