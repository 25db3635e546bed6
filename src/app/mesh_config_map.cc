#include "app/mesh_config_map.h"

#include "base/strings.h"
#include "config/kubernetes_types.h"

namespace fairlead::app {

std::string MeshConfigMapName(const std::string& revision) {
  return revision.empty() || revision == "default" ? "istio" : StrCat("istio-", revision);
}

// The settings come before what is published with them.
void MeshConfigMap::OnChanges(std::vector<config::ObjectChange> changes) {
  for (const config::ObjectChange& change : changes) {
    if (change.object != nullptr) Look(*change.object);
  }
  next_->OnChanges(std::move(changes));
}

void MeshConfigMap::Replace(config::Kind kind, std::vector<config::ConfigPtr> objects) {
  for (const config::ConfigPtr& object : objects) Look(*object);
  next_->Replace(kind, std::move(objects));
}

void MeshConfigMap::Look(const config::ConfigObject& object) {
  if (object.kind() != config::Kind::kConfigMap || object.ns() != ns_ || object.name() != name_) return;
  const auto& data = object.Spec<config::ConfigMapSpec>().data;
  const std::string where = StrCat("ConfigMap ", ns_, "/", name_, " ");
  const auto tell = [&](const char* key, std::string* last, const auto& told) {
    const auto text = data.find(key);
    if (text == data.end() || text->second == *last) return;
    *last = text->second;
    told(where + key, text->second);
  };
  tell("mesh", &mesh_, texts_.mesh);
  tell("meshNetworks", &networks_, texts_.networks);
}

}  // namespace fairlead::app
