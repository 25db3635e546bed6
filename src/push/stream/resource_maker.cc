#include "push/stream/resource_maker.h"

#include <utility>

namespace fairlead::push {

bool ProxyView::Serves(xds::TypeId type) const { return maker_->Serves(type); }

xds::ResourceSetPtr ProxyView::Make(xds::TypeId type, const xds::NameSetPtr& names) const {
  LastResources nothing;
  return maker_->parts().Make(maker_->GeneratorFor(type, *scope->proxy), maker_->WorldOf(*snapshot_, *scope),
                              names, &nothing);
}

ResourceMaker::ResourceMaker(Generators generators, GeneratorVariants variants, ObjectTypes objects,
                             FindScope find_scope, bool shadow)
    : generators_(std::move(generators)),
      variants_(std::move(variants)),
      objects_(std::move(objects)),
      find_scope_(std::move(find_scope)),
      shadow_(shadow),
      served_(ServedTypes(generators_)) {}

gen::Generator& ResourceMaker::GeneratorFor(xds::TypeId type, const model::Proxy& proxy) const {
  const auto index = static_cast<size_t>(type);
  const auto variant = variants_.find(proxy.metadata.generator);
  const bool own = variant != variants_.end() && variant->second[index] != nullptr;
  return own ? *variant->second[index] : *generators_[index];
}

ProxyView ResourceMaker::ViewIn(mesh::SnapshotPtr snapshot, const model::ProxyPtr& proxy,
                                const mesh::ProxyScopePtr& previous) {
  mesh::ProxyScopePtr scope = ScopeOf(*snapshot, proxy, previous);
  return {this, std::move(snapshot), std::move(scope)};
}

void ResourceMaker::Sweep(Clock::time_point now) {
  const auto sweep = [now](const auto& generators) {
    for (const auto& generator : generators) {
      if (generator != nullptr) generator->Sweep(now);
    }
  };
  parts_.Sweep(now);
  sweep(generators_);
  for (const auto& [name, generators] : variants_) sweep(generators);
  sweep(objects_.generators);
}

}  // namespace fairlead::push
