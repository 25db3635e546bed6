#include "push/epoch.h"

#include <optional>
#include <vector>

namespace fairlead::push {

uint32_t ServedTypes(const Generators& generators) {
  uint32_t served = 0;
  for (const xds::TypeInfo& type : xds::kTypes) {
    if (generators[static_cast<size_t>(type.id)] != nullptr) served |= xds::MaskOf(type.id);
  }
  return served;
}

xds::ResourceSetPtr Epoch::Make(gen::Generator& generator, const mesh::ProxyScope& scope,
                                const xds::NameSetPtr& names) {
  const gen::Request request{*snapshot_, scope, names == nullptr ? nullptr : &names->names()};
  std::vector<xds::ResourceListPtr> parts;
  for (size_t part = 0; part < generator.PartCount(); ++part) {
    std::optional<std::string> sharing = generator.PartKey(request, part);
    if (!sharing) {
      parts.push_back(xds::ResourceList::Of(generator.GeneratePart(request, part)));
      continue;
    }
    std::shared_ptr<Slot> slot;
    {
      std::lock_guard lock(mutex_);
      auto& entry = parts_[Key{&generator, part, std::move(*sharing), names}];
      if (entry == nullptr) entry = std::make_shared<Slot>();
      slot = entry;
    }
    // Whoever comes second waits for the first one's work.
    std::call_once(slot->made,
                   [&] { slot->list = xds::ResourceList::Of(generator.GeneratePart(request, part)); });
    parts.push_back(slot->list);
  }
  return std::make_shared<xds::ResourceSet>(std::move(parts));
}

}  // namespace fairlead::push
