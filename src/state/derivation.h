#ifndef FAIRLEAD_STATE_DERIVATION_H_
#define FAIRLEAD_STATE_DERIVATION_H_

#include <memory>
#include <span>
#include <vector>

#include "config/diagnostic.h"
#include "config/object.h"
#include "config/store.h"
#include "model/settings.h"

namespace fairlead::state {

// A step between the objects as they are written and the registries: it makes objects of objects (routes of
// Gateway API or Ingress objects, addresses of ServiceEntries). A value behind an interface: what Clone gives
// is changed apart from the original. Not thread-safe.
class Derivation {
 public:
  struct Outcome {
    std::vector<config::ObjectChange> objects;  // made, made anew or no longer made
    // In place of objects that are written: with something added, with something else added, or (null) as
    // they are again. One counts until the object changes where it is written.
    std::vector<config::ObjectChange> amended = {};
    bool diagnostics = true;  // whether Diagnostics may say something else than before
  };

  virtual ~Derivation() = default;
  // REQUIRES: costs little; what is large is shared.
  virtual std::unique_ptr<Derivation> Clone() const = 0;
  // `changes` are what changed in `objects` since the last call. It holds what is written and what earlier
  // steps made, and an object that is written as well as made as it is written. One that is amended is there
  // amended, and among `changes` as it is written. `settings` (never null) may have changed, too.
  virtual Outcome Apply(const config::ObjectStore& objects, std::span<const config::ObjectChange> changes,
                        const model::SettingsPtr& settings) = 0;
  // Everything that is wrong now with what the step reads.
  virtual std::vector<config::Diagnostic> Diagnostics() const = 0;
};

}  // namespace fairlead::state

#endif  // FAIRLEAD_STATE_DERIVATION_H_
