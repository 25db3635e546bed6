#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "config/manifests.h"
#include "gateway_api/status/statuses.h"
#include "gateway_api/translation.h"
#include "model/mesh_config.h"
#include "state/mesh.h"
#include "tests/fuzz/choices.h"

// For libFuzzer: Gateway API objects may say anything that an API server stores. Beyond not crashing: what
// they become does not depend on the order in which they come, nor on what was there in between, and what
// goes leaves nothing behind.
namespace {

using fairlead::config::ConfigPtr;
using fairlead::config::KeyOf;
using fairlead::config::ObjectChange;
using fairlead::config::ObjectKey;
using fairlead::config::ObjectStore;
using fairlead::fuzz::Require;
using fairlead::gateway_api::Translation;

class Mesh {
 public:
  void Apply(const std::vector<ObjectChange>& changes) {
    derived_.Apply(translation_.Apply(objects_, objects_.Apply(changes)));
  }
  // By the derived objects, their contents.
  std::map<ObjectKey, uint64_t> Derived() const {
    std::map<ObjectKey, uint64_t> all;
    for (const auto& kind : fairlead::config::AllKinds()) {
      for (const auto& [name, object] : derived_.All(kind.kind)) all[KeyOf(*object)] = object->content_hash();
    }
    return all;
  }
  const Translation& translation() const { return translation_; }
  const ObjectStore& objects() const { return objects_; }

 private:
  Translation translation_{"cluster.local"};
  ObjectStore objects_, derived_;
};

fairlead::model::SettingsPtr Settings() {
  return fairlead::model::MakeSettings(nullptr, nullptr, "cluster.local", "Kubernetes");
}

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
  Mesh at_once, one_by_one;
  at_once.Apply(all);
  for (auto change = all.rbegin(); change != all.rend(); ++change) one_by_one.Apply({*change});
  Require(at_once.Derived() == one_by_one.Derived(), "the order of objects matters");
  for (size_t i = 0; i < all.size(); i += 2) one_by_one.Apply({none[i]});
  for (size_t i = 0; i < all.size(); i += 2) one_by_one.Apply({all[i]});
  Require(at_once.Derived() == one_by_one.Derived(), "objects that went and came matter");

  fairlead::state::Mesh mesh;
  mesh.Apply(all, Settings());
  fairlead::gateway_api::ToJson(
      fairlead::gateway_api::ComputeStatuses(at_once.translation(), at_once.objects(), *mesh.snapshot()));
  at_once.Apply(none);
  Require(at_once.Derived().empty(), "something is left behind");
  return 0;
}
