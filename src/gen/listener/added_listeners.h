#ifndef FAIRLEAD_GEN_LISTENER_ADDED_LISTENERS_H_
#define FAIRLEAD_GEN_LISTENER_ADDED_LISTENERS_H_

#include <memory>

#include "absl/container/flat_hash_set.h"
#include "cache/byte_cache.h"
#include "envoy/config/listener/v3/listener.pb.h"
#include "gen/generator.h"
#include "gen/patch/apply.h"

namespace fairlead::gen::listener {

// The listeners that EnvoyFilters add as they are. Thread-safe.
class AddedListeners {
 public:
  // Appends the listeners of a set of patches, which may be null. It leaves out those of a failed EnvoyFilter
  // and those without a name. The first of a name stays in `out`. Reports the outcome.
  void Append(const patch::PatchSetPtr& patches, patch::PatchOutcome* outcome, Resources* out) {
    if (patches == nullptr) return;
    for (const Listener* listener : patch::AddedListeners(*patches, outcome)) {
      const std::shared_ptr<const Listener> held(patches, listener);
      if (listener->name().empty()) continue;
      out->push_back(
          encoded_.GetOrBuild(held, [](const auto& added) { return Encode(added->name(), *added); }));
    }
    DropRepeated(out);
    outcome->Report();
  }
  void Sweep(Clock::time_point now) { encoded_.Sweep(now); }

 private:
  using Listener = envoy::config::listener::v3::Listener;

  // Patches may give listeners names, too.
  static void DropRepeated(Resources* listeners) {
    absl::flat_hash_set<Interned> taken;
    std::erase_if(*listeners,
                  [&](const cache::ResourcePtr& listener) { return !taken.insert(listener->name).second; });
  }

  cache::ByteCache<std::shared_ptr<const Listener>> encoded_;
};

}  // namespace fairlead::gen::listener

#endif  // FAIRLEAD_GEN_LISTENER_ADDED_LISTENERS_H_
