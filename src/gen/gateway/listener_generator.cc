#include <memory>
#include <utility>

#include "gen/gateway/build_listener.h"
#include "gen/gateway/collect_listeners.h"
#include "gen/gateway/generators.h"
#include "gen/listener/added_listeners.h"
#include "gen/listener/listener_cache.h"
#include "gen/patch/pool.h"

namespace fairlead::gen {
namespace gateway {
namespace {

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
    traits.picks_endpoints = PicksEndpoints(view);
    const listener::EncodedFragmentsPtr fragments = pool_.Intern(std::move(traits));
    const patch::PatchSetPtr patches = patches_.Collect(view, patch::Side::kGateway);
    patch::PatchOutcome outcome;
    for (const GatewayListenerInputs& inputs : CollectListeners(view, fragments)) {
      const auto own =
          patches == nullptr ? nullptr : patches_.ForListener(patches, inputs.Name(), inputs.port);
      auto listener = listeners_.Get(inputs, own, &outcome, BuildGatewayListener);
      if (listener != nullptr) listeners.push_back(std::move(listener));
    }
    added_.Append(patches, &outcome, &listeners);
    Pick(names, &listeners);
    return listeners;
  }

  void Sweep(Clock::time_point now) override {
    others_->Sweep(now);
    listeners_.Sweep(now);
    added_.Sweep(now);
    patches_.Sweep(now);
    pool_.Sweep();
  }

 private:
  const std::unique_ptr<Generator> others_;
  listener::FragmentPool pool_;
  listener::ListenerCache<GatewayListenerInputs> listeners_{Audience::kMany};
  listener::AddedListeners added_;
  patch::PatchPool patches_{patch::Stage::kListeners};
};

}  // namespace
}  // namespace gateway

std::unique_ptr<Generator> NewGatewayListenerGenerator(std::unique_ptr<Generator> others) {
  return std::make_unique<gateway::ListenerGenerator>(std::move(others));
}

}  // namespace fairlead::gen
