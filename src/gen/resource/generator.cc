#include "gen/generator.h"

#include <algorithm>
#include <iterator>

namespace fairlead::gen {

bool SameResource(const cache::Resource& a, const cache::Resource& b) {
  return a.name == b.name && a.hash == b.hash;
}

bool SameResources(const Resources& a, const Resources& b) {
  return std::equal(
      a.begin(), a.end(), b.begin(), b.end(),
      [](const cache::ResourcePtr& x, const cache::ResourcePtr& y) { return SameResource(*x, *y); });
}

Resources GenerateAll(Generator& generator, mesh::View& view, const Names* names) {
  Resources all;
  const size_t parts = generator.ByName() != nullptr ? 1 : generator.PartCount();
  for (size_t part = 0; part < parts; ++part) {
    Resources some = generator.Generate(view, names, part);
    all.insert(all.end(), std::make_move_iterator(some.begin()), std::make_move_iterator(some.end()));
  }
  return all;
}

Resources GenerateFor(Generator& generator, const mesh::MeshSnapshot& snapshot, const mesh::ProxyScope& scope,
                      const Names* names) {
  mesh::View view({snapshot, &scope});
  return GenerateAll(generator, view, names);
}

ScopeKey ScopeKey::Of(mesh::View& view, std::string name) {
  return {view.proxy_class_ptr(), view.sidecar_key(), std::move(name)};
}

void Pick(const Names* names, Resources* resources) {
  if (names == nullptr) return;
  std::erase_if(*resources, [&](const cache::ResourcePtr& resource) {
    return !std::binary_search(names->begin(), names->end(), resource->name.str());
  });
}

}  // namespace fairlead::gen
