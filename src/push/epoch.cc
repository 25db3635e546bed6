#include "push/epoch.h"

#include <bitset>
#include <optional>
#include <vector>

#include "base/log.h"
#include "push/push_metrics.h"

namespace fairlead::push {
namespace {

LogScope push_log("push");

constexpr size_t kMaxParts = 8;

// A generator's stamp does not name all that its part reads.
void ReportChange(size_t part, const xds::ResourceList& now, const model::Proxy& proxy) {
  Metrics().internal_errors.Add();
  push_log.Error("part {} for {} has changed, but what it says it was made from has not; it begins with {}",
                 part, proxy.id, now.size() == 0 ? "nothing" : now.resources().front()->name.str());
}

}  // namespace

uint32_t ServedTypes(const Generators& generators) {
  uint32_t served = 0;
  for (const xds::TypeInfo& type : xds::kTypes) {
    if (generators[static_cast<size_t>(type.id)] != nullptr) served |= xds::MaskOf(type.id);
  }
  return served;
}

xds::ResourceListPtr Epoch::MakePart(gen::Generator& generator, const gen::Request& request, size_t part,
                                     const xds::NameSetPtr& names) {
  std::optional<std::string> sharing = generator.PartKey(request, part);
  if (!sharing) return xds::ResourceList::Of(generator.GeneratePart(request, part));
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
  return slot->list;
}

xds::ResourceSetPtr Epoch::Make(gen::Generator& generator, const mesh::ProxyScope& scope,
                                const xds::NameSetPtr& names, Made* last, bool shadow) {
  const gen::Request request{*snapshot_, scope, names == nullptr ? nullptr : &names->names(),
                             names == nullptr ? 0 : names->id()};
  const size_t count = generator.PartCount();
  const bool comparable = last->set != nullptr && last->names == names && last->stamps.size() == count;
  last->names = names;
  last->stamps.resize(count);
  std::bitset<kMaxParts> holds;
  for (size_t part = 0; part < count; ++part) {
    const gen::PartStamp stamp = generator.Stamp(request, part);
    holds[part] = comparable && last->stamps[part].Covers(stamp);
    last->stamps[part] = stamp;
  }
  if (!shadow && holds.count() == count) return last->set;

  std::vector<xds::ResourceListPtr> parts;
  parts.reserve(count);
  bool changed = !comparable;
  for (size_t part = 0; part < count; ++part) {
    const xds::ResourceListPtr* const before = comparable ? &last->set->parts()[part] : nullptr;
    parts.push_back(holds[part] && !shadow ? *before : MakePart(generator, request, part, names));
    if (holds[part] && parts[part]->hash() != (*before)->hash())
      ReportChange(part, *parts[part], *scope.proxy);
    changed |= before == nullptr || parts[part] != *before;
  }
  if (changed) last->set = std::make_shared<xds::ResourceSet>(std::move(parts));
  return last->set;
}

xds::ResourceSetPtr MakeSome(const Epoch& epoch, gen::Generator& generator, const mesh::ProxyScope& scope,
                             const xds::NameSet& names) {
  return xds::ResourceSet::Of(generator.Generate({epoch.snapshot(), scope, &names.names()}));
}

}  // namespace fairlead::push
