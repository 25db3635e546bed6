#ifndef FAIRLEAD_GEN_LISTENER_LISTENER_CACHE_H_
#define FAIRLEAD_GEN_LISTENER_LISTENER_CACHE_H_

#include <google/protobuf/arena.h>

#include <memory>
#include <utility>
#include <vector>

#include "cache/byte_cache.h"
#include "envoy/config/listener/v3/listener.pb.h"
#include "gen/generator.h"
#include "gen/patch/apply.h"
#include "gen/patch/pool.h"

namespace fairlead::gen::listener {

// Listeners by what they are made from, with and without patches. `Inputs` has OriginsOf. Thread-safe.
template <typename Inputs>
class ListenerCache {
 public:
  explicit ListenerCache(Audience audience) : audience_(audience) {}

  // The result of `build` (Inputs, empty Listener*), after its patches, which may be null. Null where a patch
  // removes it. `outcome` is told which EnvoyFilters have a patch that could not be applied.
  template <typename Build>
  cache::ResourcePtr Get(const Inputs& inputs, const patch::PatchSetPtr& patches,
                         patch::PatchOutcome* outcome, const Build& build) {
    if (patches == nullptr) {
      return plain_.GetOrBuild(inputs, [&](const Inputs& in) { return Make(in, nullptr, nullptr, build); });
    }
    const auto made = patched_.GetOrBuild({inputs, patches}, [&](const patch::Patched<Inputs>& in) {
      patch::PatchOutcome of_listener;
      auto listener = std::make_shared<PatchedListener>();
      listener->resource = Make(in.inputs, in.patches.get(), &of_listener, build);
      listener->failed = of_listener.failed();
      of_listener.Report();
      return listener;
    });
    outcome->AddFailed(made->failed);
    // The cache keeps what it made as long as the resource is held.
    return made->resource == nullptr ? nullptr : cache::ResourcePtr(made, made->resource.get());
  }

  void Sweep(Clock::time_point now) {
    plain_.Sweep(now);
    patched_.Sweep(now);
  }

 private:
  struct PatchedListener {
    cache::ResourcePtr resource;
    std::vector<config::ConfigPtr> failed;
  };

  // The listener lies on an arena: it has hundreds of parts, and is dropped at once.
  template <typename Build>
  cache::ResourcePtr Make(const Inputs& inputs, const patch::PatchSet* patches, patch::PatchOutcome* outcome,
                          const Build& build) const {
    using envoy::config::listener::v3::Listener;
    google::protobuf::Arena arena;
    auto* listener = google::protobuf::Arena::CreateMessage<Listener>(&arena);
    build(inputs, listener);
    if (patches != nullptr && !patch::PatchListener(*patches, listener, outcome)) return nullptr;
    OriginList origins = OriginsOf(inputs);
    if (patches != nullptr) patch::AddOrigins(*patches, &origins);
    return Encode(listener->name(), *listener, audience_, origins.Take());
  }

  const Audience audience_;
  cache::ByteCache<Inputs> plain_;
  cache::ByteCache<patch::Patched<Inputs>, PatchedListener> patched_;
};

}  // namespace fairlead::gen::listener

#endif  // FAIRLEAD_GEN_LISTENER_LISTENER_CACHE_H_
