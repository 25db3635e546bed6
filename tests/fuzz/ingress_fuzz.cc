#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string_view>
#include <vector>

#include "config/manifests.h"
#include "ingress/derivation.h"
#include "model/mesh_config.h"
#include "tests/fuzz/choices.h"

// For libFuzzer: Ingresses, their classes and services may say anything that an API server stores. Beyond not
// crashing: what they become does not depend on the order in which they come, nor on what was there in
// between, and what goes leaves nothing behind.
namespace {

using fairlead::config::ConfigPtr;
using fairlead::config::KeyOf;
using fairlead::config::ObjectChange;
using fairlead::config::ObjectKey;
using fairlead::config::ObjectStore;
using fairlead::fuzz::Require;

class Mesh {
 public:
  void Apply(const std::vector<ObjectChange>& changes) {
    const std::vector<ObjectChange> changed = objects_.Apply(changes);
    for (const ObjectChange& one : derivation_->Apply(objects_, changed, settings_).objects) {
      if (one.object == nullptr) {
        Require(derived_.erase(one.key) == 1, "what goes was never there");
      } else {
        derived_[one.key] = one.object->content_hash();
      }
    }
  }
  // By the derived objects, their contents.
  const std::map<ObjectKey, uint64_t>& Derived() const { return derived_; }

 private:
  const fairlead::model::SettingsPtr settings_ =
      fairlead::model::MakeSettings(nullptr, nullptr, "cluster.local", "Kubernetes");
  const std::unique_ptr<fairlead::state::Derivation> derivation_ =
      fairlead::ingress::NewIngressDerivation("istio-system");
  ObjectStore objects_;
  std::map<ObjectKey, uint64_t> derived_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto parsed =
      fairlead::config::ParseManifests(text, "fuzz.yaml", fairlead::config::Admission::kPassed);
  std::vector<ObjectChange> all, none;
  for (const ConfigPtr& object : parsed.objects) {
    all.push_back({KeyOf(*object), object});
    none.push_back({KeyOf(*object), nullptr});
  }
  // Of two objects of one name the last one counts: the order does matter then.
  std::set<ObjectKey> names;
  for (const ObjectChange& change : all) {
    if (!names.insert(change.key).second) return 0;
  }
  Mesh at_once, one_by_one;
  at_once.Apply(all);
  for (auto change = all.rbegin(); change != all.rend(); ++change) one_by_one.Apply({*change});
  Require(at_once.Derived() == one_by_one.Derived(), "the order of objects matters");
  for (size_t i = 0; i < all.size(); i += 2) one_by_one.Apply({none[i]});
  for (size_t i = 0; i < all.size(); i += 2) one_by_one.Apply({all[i]});
  Require(at_once.Derived() == one_by_one.Derived(), "objects that went and came matter");
  at_once.Apply(none);
  Require(at_once.Derived().empty(), "something is left behind");
  return 0;
}
