#ifndef FAIRLEAD_MODEL_FACTS_H_
#define FAIRLEAD_MODEL_FACTS_H_

#include <memory>
#include <tuple>
#include <utility>

#include "model/key_sets.h"
#include "model/secret_readers.h"
#include "model/settings.h"
#include "model/trust_bundle.h"

namespace fairlead::model {

// Inputs of the mesh that are no objects, each found out by somebody of its own: one slot for each type. An
// empty slot (null) says nothing: the fact is as it was. A further fact is one more type here, a row of its
// effect in state::Mesh::TakeFacts and one of its reason in push/publish/pending_changes.cc.
class Facts {
 public:
  Facts() = default;
  // Settings alone.
  explicit Facts(SettingsPtr settings) { Set(std::move(settings)); }

  template <typename Fact>
  const std::shared_ptr<const Fact>& Get() const {
    return std::get<std::shared_ptr<const Fact>>(slots_);
  }
  template <typename Fact>
  void Set(std::shared_ptr<const Fact> fact) {
    std::get<std::shared_ptr<const Fact>>(slots_) = std::move(fact);
  }
  // Takes over each fact that `newer` has.
  void Update(const Facts& newer) {
    std::apply([this](const auto&... fact) { ((fact == nullptr ? void() : Set(fact)), ...); }, newer.slots_);
  }
  bool empty() const { return *this == Facts(); }
  // Whether all slots have the same pointers.
  friend bool operator==(const Facts&, const Facts&) = default;

 private:
  std::tuple<SettingsPtr, KeySetsPtr, TrustBundlePtr, SecretReadersPtr> slots_;
};

}  // namespace fairlead::model

#endif  // FAIRLEAD_MODEL_FACTS_H_
