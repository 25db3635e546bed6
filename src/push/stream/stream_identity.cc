#include <utility>

#include "base/excerpt.h"
#include "base/log.h"
#include "base/strings.h"
#include "proto/field_reader.h"
#include "push/stream/proxy_warning.h"
#include "push/stream/push_metrics.h"
#include "push/stream/pusher.h"
#include "push/stream/stream.h"
#include "xds/request.h"

// Who a stream's client is.
namespace fairlead::push {
namespace {

LogScope ads_log("ads");

// The id of an encoded node that was not read, for the log.
std::string_view IdOf(std::string_view node) {
  std::string_view id;
  for (proto::FieldReader reader(node); reader.Next();) {
    if (reader.number() == 1) id = reader.bytes();
  }
  return id;
}

}  // namespace

// The first request says who the client is. Its node may be large (a stock Envoy lists 500 extensions): it is
// read into a Proxy, which keeps what generation needs, and dropped.
bool Stream::Identify(const xds::DecodedRequest& request) {
  if (!request.has_node) {
    Close(absl::InvalidArgumentError("missing node information"));
    return false;
  }
  auto proxy = model::ReadProxy(request.node, pusher_->options_.node_limits);
  if (!proxy.ok()) return Turn(request.node, proxy.status());
  if (pusher_->options_.authorizer != nullptr) {
    auto identity = pusher_->options_.authorizer->Authorize(options_.peer, **proxy);
    if (!identity.ok()) return Turn(request.node, identity.status());
    identity_ = *std::move(identity);
  }
  if (identity_) {
    auto proven = std::make_shared<model::Proxy>(**proxy);
    proven->identity = identity_;
    *proxy = std::move(proven);
  }
  if (IsKeptWaiting(*proxy)) return false;
  proxy_ = *std::move(proxy);
  name_ = StrCat(Excerpt(proxy_->id), "-", number_);
  ChooseSource();
  share_.SetProxy(*proxy_);
  if (HoldsTooMuch()) {
    proxy_ = nullptr;  // nothing is to be made for it
    return false;
  }
  pusher_->Assign(*proxy_, &position_);
  position_.BringToFirst();
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
    Warn(StrCat("node:", name_, ": ", warning));
  return true;
}

// Whether the client is not to be served yet; then its request is handled once more, after OnReady.
bool Stream::IsKeptWaiting(const model::ProxyPtr& proxy) {
  if (pusher_->options_.connections == nullptr || options_.exchange != Exchange::kStream) return false;
  // Under the lock, so that nothing is said of a stream whose end was told.
  std::lock_guard lock(mutex_);
  if (std::exchange(admitted_, true)) return false;
  if (connection_ == nullptr) return true;
  observed_ = pusher_->options_.connections->OnConnected(
      number_, proxy, connected_at_,
      [self = shared_from_this()](const absl::Status& status) { self->OnReady(status); });
  return asks_again_ = kept_waiting_ = observed_;
}

void Stream::OnReady(const absl::Status& status) {
  if (status.ok()) {
    {
      std::lock_guard lock(mutex_);
      kept_waiting_ = false;
    }
    return Schedule();
  }
  Warn(StrCat("ending the stream of ", options_.peer.address, ": ", FromAbsl(status.message())));
  Close(status);
}

// Ends the stream of a client that is not served. Always false.
bool Stream::Turn(std::string_view node, const absl::Status& status) {
  Warn(StrCat("refusing ", Excerpt(IdOf(node)), " of ", options_.peer.address, ": ",
              FromAbsl(status.message())));
  Close(status);
  return false;
}

// A proxy that speaks over streams of one type, or by REST, names the cluster of its bootstrap that leads
// here.
void Stream::ChooseSource() {
  using Kind = model::ConfigSource::Kind;
  if (!options_.only) return;
  const std::string cluster(model::RawText(proxy_->metadata, "FAIRLEAD_XDS_CLUSTER").value_or(""));
  if (cluster.empty()) return;
  auto proxy = std::make_shared<model::Proxy>(*proxy_);
  proxy->source = {options_.exchange == Exchange::kPoll      ? Kind::kRest
                   : core_.framing() == xds::Framing::kDelta ? Kind::kDeltaGrpc
                                                             : Kind::kGrpc,
                   cluster};
  proxy_ = std::move(proxy);
}

// What clients cause is told at a rate for each of them.
void Stream::Warn(const std::string& text) const {
  if (const auto more = pusher_->warnings_.Admit(HostOfPeer(options_.peer.address)))
    ads_log.Warn("{}{}", text, *more);
}

}  // namespace fairlead::push
