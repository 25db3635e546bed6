#include <google/protobuf/arena.h>

#include <memory>
#include <utility>

#include "cache/byte_cache.h"
#include "envoy/config/listener/v3/listener.pb.h"
#include "gen/gateway/build_listener.h"
#include "gen/gateway/collect_listeners.h"
#include "gen/gateway/generators.h"

namespace fairlead::gen {
namespace gateway {
namespace {

using envoy::config::listener::v3::Listener;

// LDS for routers: one listener for each port and address of their Gateways. A name of nothing gets nothing.
class ListenerGenerator final : public Generator {
 public:
  explicit ListenerGenerator(std::unique_ptr<Generator> others) : others_(std::move(others)) {}

  size_t PartCount() const override { return others_->PartCount(); }
  bool IsShared(size_t part) const override { return others_->IsShared(part); }

  Resources Generate(mesh::View& view, const Names* names, size_t part) override {
    if (view.proxy_class().type != model::ProxyType::kRouter) return others_->Generate(view, names, part);
    Resources listeners;
    if (part != 0) return listeners;
    listener::ProxyTraits traits = listener::CollectTraits(view);
    traits.access = security::CollectAccess(view);
    const listener::ProfilePtr profile = profiles_.Intern(std::move(traits));
    for (const GatewayListenerInputs& inputs : CollectListeners(view, profile))
      listeners.push_back(Encoded(inputs));
    Pick(names, &listeners);
    return listeners;
  }

  void Sweep(Clock::time_point now) override {
    others_->Sweep(now);
    listeners_.Sweep(now);
    profiles_.Sweep();
  }

 private:
  cache::ResourcePtr Encoded(const GatewayListenerInputs& inputs) {
    return listeners_.GetOrBuild(inputs, [](const GatewayListenerInputs& wanted) {
      google::protobuf::Arena arena;
      auto* listener = google::protobuf::Arena::CreateMessage<Listener>(&arena);
      BuildGatewayListener(wanted, listener);
      return Encode(listener->name(), *listener);
    });
  }

  const std::unique_ptr<Generator> others_;
  listener::ProfilePool profiles_;
  cache::ByteCache<GatewayListenerInputs> listeners_;
};

}  // namespace
}  // namespace gateway

std::unique_ptr<Generator> NewGatewayListenerGenerator(std::unique_ptr<Generator> others) {
  return std::make_unique<gateway::ListenerGenerator>(std::move(others));
}

}  // namespace fairlead::gen
