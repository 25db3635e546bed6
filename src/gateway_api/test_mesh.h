#ifndef FAIRLEAD_GATEWAY_API_TEST_MESH_H_
#define FAIRLEAD_GATEWAY_API_TEST_MESH_H_

#include <google/protobuf/util/json_util.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/strings.h"
#include "config/read/manifests.h"
#include "config/store.h"
#include "gateway_api/status/statuses.h"
#include "gateway_api/translation.h"
#include "model/mesh_config.h"
#include "state/mesh.h"

// For tests: a mesh of manifests, what the Gateway API's objects in it become, and their statuses.
namespace fairlead::gateway_api {

class TestMesh {
 public:
  explicit TestMesh(std::string_view mesh_config = "", const model::Features& features = {})
      : settings_(Settings(mesh_config, features)), translation_("cluster.local", features) {}

  // Applies manifests; gives the keys of the derived objects that changed.
  std::vector<std::string> Apply(std::string_view manifests) {
    const config::ParseResult parsed =
        config::ParseManifests(manifests, "test.yaml", config::Admission::kPassed);
    for (const config::Diagnostic& one : parsed.diagnostics) ADD_FAILURE() << config::ToText(one);
    return Apply(ChangesOf(parsed));
  }
  // The same, whatever is said of them.
  std::vector<std::string> ApplyQuietly(std::string_view manifests) {
    return Apply(ChangesOf(config::ParseManifests(manifests, "test.yaml", config::Admission::kPassed)));
  }
  std::vector<std::string> Delete(config::Kind kind, std::string_view ns, std::string_view name) {
    return Apply(std::vector<config::ObjectChange>{{{kind, ns, name}, nullptr}});
  }

  // The spec of a derived object as JSON; "" where there is none.
  std::string Spec(config::Kind kind, std::string_view ns, std::string_view name) const {
    const config::ConfigPtr object = derived_.Find(kind, ns, name);
    if (object == nullptr) return "";
    std::string json;
    EXPECT_TRUE(
        google::protobuf::util::MessageToJsonString(object->Spec<google::protobuf::Message>(), &json).ok());
    return json;
  }
  config::ConfigPtr Find(config::Kind kind, std::string_view ns, std::string_view name) const {
    return derived_.Find(kind, ns, name);
  }
  // All derived objects, "VirtualService ns/name" each.
  std::vector<std::string> Derived() const {
    std::vector<std::string> keys;
    for (const config::KindInfo& kind : config::AllKinds()) {
      for (const auto& [name, object] : derived_.All(kind.kind)) keys.push_back(Describe(KeyOf(*object)));
    }
    return keys;
  }

  // The status of an object as JSON; "" where nothing is said of it.
  std::string Status(std::string_view kind, std::string_view name) const {
    for (const auto& one : ComputeStatuses(translation_, objects_, *mesh_.snapshot())) {
      if (config::InfoOf(one.object->kind()).name == kind && one.object->name() == name)
        return JsonText(one.status);
    }
    return "";
  }

  const Translation& translation() const { return translation_; }
  const config::ObjectStore& objects() const { return objects_; }
  const mesh::SnapshotPtr& snapshot() const { return mesh_.snapshot(); }

 private:
  static std::vector<config::ObjectChange> ChangesOf(const config::ParseResult& parsed) {
    std::vector<config::ObjectChange> changes;
    changes.reserve(parsed.objects.size());
    for (const config::ConfigPtr& object : parsed.objects)
      changes.push_back({config::KeyOf(*object), object});
    return changes;
  }
  static model::SettingsPtr Settings(std::string_view mesh_config, const model::Features& features) {
    model::SettingsOptions options;
    options.features = features;
    return model::MakeSettings(model::ParseMeshConfig(mesh_config, "mesh.yaml").mesh,
                               model::ParseMeshNetworks("", "networks.yaml").networks, options);
  }
  std::vector<std::string> Apply(std::vector<config::ObjectChange> changes) {
    const std::vector<config::ObjectChange> effective = objects_.Apply(changes);
    mesh_.Apply(changes, settings_);
    std::vector<std::string> keys;
    for (const config::ObjectChange& change : derived_.Apply(translation_.Apply(objects_, effective)))
      keys.push_back(StrCat(change.object == nullptr ? "-" : "+", Describe(change.key)));
    return keys;
  }

  model::SettingsPtr settings_;
  state::Mesh mesh_;
  config::ObjectStore objects_, derived_;
  Translation translation_;
};

}  // namespace fairlead::gateway_api

#endif  // FAIRLEAD_GATEWAY_API_TEST_MESH_H_
