#include "push/stream/object_types.h"

#include <algorithm>

#include "base/strings.h"
#include "config/kind.h"
#include "gen/object/generators.h"

namespace fairlead::push {

gen::Generator* ObjectTypes::Find(std::string_view url) const {
  const auto at = by_url.find(url);
  return at == by_url.end() ? nullptr : at->second;
}

ObjectTypes MakeObjectTypes() {
  ObjectTypes types;
  const auto add = [&](std::unique_ptr<gen::Generator> generator) {
    return types.generators.emplace_back(std::move(generator)).get();
  };
  types.by_url.emplace("core/v1alpha1/MeshConfig", add(gen::NewMeshConfigGenerator()));
  for (const config::KindInfo& kind : config::AllKinds()) {
    // Not Kubernetes' own, Secrets among them.
    if (kind.payload == config::PayloadType::kStruct || kind.group == "networking.k8s.io") continue;
    gen::Generator* const generator = add(gen::NewObjectGenerator(kind.kind));
    for (std::string_view version : kind.versions)
      types.by_url.emplace(StrCat(kind.group, "/", version, "/", kind.name), generator);
  }
  return types;
}

bool IsObjectType(std::string_view url) {
  return std::count(url.begin(), url.end(), '/') == 2 && !url.starts_with("type.googleapis.com/");
}

}  // namespace fairlead::push
