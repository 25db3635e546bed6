#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string_view>
#include <vector>

#include "config/read/manifests.h"
#include "ingress/derivation.h"
#include "model/mesh_config.h"
#include "tests/fuzz/object_order.h"

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
  const std::map<ObjectKey, fairlead::Hash128>& Derived() const { return derived_; }

 private:
  const fairlead::model::SettingsPtr settings_ =
      fairlead::model::MakeSettings(nullptr, nullptr, "cluster.local", "Kubernetes");
  const std::unique_ptr<fairlead::state::Derivation> derivation_ =
      fairlead::ingress::NewIngressDerivation("istio-system");
  ObjectStore objects_;
  std::map<ObjectKey, fairlead::Hash128> derived_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto parsed =
      fairlead::config::ParseManifests(text, "fuzz.yaml", fairlead::config::Admission::kPassed);
  // Of two objects of one name the last one counts: the order does matter then.
  std::set<ObjectKey> names;
  for (const ConfigPtr& object : parsed.objects) {
    if (!names.insert(KeyOf(*object)).second) return 0;
  }
  fairlead::fuzz::RequireSameInAnyOrder<Mesh>(parsed.objects, [](const auto&, const auto&) {});
  return 0;
}
