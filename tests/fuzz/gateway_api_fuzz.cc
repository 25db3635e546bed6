#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "config/read/manifests.h"
#include "gateway_api/status/statuses.h"
#include "gateway_api/translation.h"
#include "model/mesh_config.h"
#include "state/mesh.h"
#include "tests/fuzz/object_order.h"

// For libFuzzer: Gateway API objects may say anything that an API server stores. Beyond not crashing: what
// they become does not depend on the order in which they come, nor on what was there in between, and what
// goes leaves nothing behind.
namespace {

using fairlead::config::KeyOf;
using fairlead::config::ObjectChange;
using fairlead::config::ObjectKey;
using fairlead::config::ObjectStore;
using fairlead::gateway_api::Translation;

class Mesh {
 public:
  void Apply(const std::vector<ObjectChange>& changes) {
    derived_.Apply(translation_.Apply(objects_, objects_.Apply(changes)));
  }
  // By the derived objects, their contents.
  std::map<ObjectKey, fairlead::Hash128> Derived() const {
    std::map<ObjectKey, fairlead::Hash128> all;
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
  fairlead::fuzz::RequireSameInAnyOrder<Mesh>(
      parsed.objects, [](const Mesh& at_once, const std::vector<ObjectChange>& all) {
        fairlead::state::Mesh mesh;
        mesh.Apply(all, Settings());
        fairlead::gateway_api::ToJson(fairlead::gateway_api::ComputeStatuses(
            at_once.translation(), at_once.objects(), *mesh.snapshot()));
      });
  return 0;
}
