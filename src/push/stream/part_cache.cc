#include "push/stream/part_cache.h"

#include <algorithm>
#include <utility>

#include "mesh/view/view.h"
#include "push/stream/interests.h"

namespace fairlead::push {
namespace {

bool SameList(const xds::ResourceList& a, const xds::ResourceList& b) { return a.hash() == b.hash(); }

// What a part is asked for.
xds::NamePart NamesOf(const gen::Generator& generator, const xds::NameSetPtr& names, size_t part) {
  const auto by_name = generator.ByName();
  if (by_name == nullptr || names == nullptr) return xds::NamePart(names);
  return {names, by_name, generator.PartCount(), part};
}

}  // namespace

uint32_t ServedTypes(const Generators& generators) {
  uint32_t served = 0;
  for (const xds::TypeInfo& type : xds::kTypes) {
    if (generators[static_cast<size_t>(type.id)] != nullptr) served |= xds::MaskOf(type.id);
  }
  return served;
}

bool LastResources::Holds(const mesh::World& world) const {
  const auto holds = [&world](const mesh::ReadsPtr& one) { return one->Hold(world); };
  return std::all_of(reads.begin(), reads.end(), holds) &&
         std::all_of(more_reads.begin(), more_reads.end(), holds);
}

void LastResources::AddReads(std::vector<const mesh::ReadsPtr*>* all) const {
  for (const mesh::ReadsPtr& one : reads) all->push_back(&one);
  for (const mesh::ReadsPtr& one : more_reads) all->push_back(&one);
}

PartCache::Part PartCache::MakePart(gen::Generator& generator, const mesh::World& world,
                                    const xds::NamePart& names, size_t part) {
  const auto make = [&](mesh::View& view) {
    return names.With([&](const gen::Names* asked) {
      return xds::ResourceList::Of(generator.Generate(view, asked, part));
    });
  };
  if (!generator.IsShared(part)) {
    mesh::View view(world);
    xds::ResourceListPtr list = make(view);
    return {std::move(list), view.Take()};
  }
  const model::Proxy& proxy = *world.client->proxy;
  const auto make_shared_part = [&](mesh::View& view, const xds::ResourceListPtr&) { return make(view); };
  return mesh::GetRecorded(parts_, world,
                           Key{&generator, part, proxy.proxy_class, world.client->sidecar_key, names},
                           make_shared_part, SameList);
}

xds::ResourceSetPtr PartCache::Make(gen::Generator& generator, const mesh::World& world,
                                    const xds::NameSetPtr& names, LastResources* last,
                                    const TouchedReads* touched) {
  const model::ConfigSource& source = world.client->proxy->source;
  const size_t count = generator.PartCount();
  const bool made_before = last->set != nullptr && last->reads.size() == count;
  const xds::NameSetPtr names_before = std::exchange(last->names, names);
  last->reads.resize(count);
  std::vector<xds::ResourceListPtr> lists(count);
  bool changed = !made_before;
  for (size_t part = 0; part < count; ++part) {
    const bool comparable = made_before && (names_before == names || NamesOf(generator, names_before, part) ==
                                                                         NamesOf(generator, names, part));
    const xds::ResourceListPtr before = comparable ? last->set->parts()[part] : nullptr;
    const bool untouched = touched != nullptr && comparable && !touched->Contains(last->reads[part]);
    const bool holds = comparable && ((untouched && !world.shadow) || last->reads[part]->Hold(world));
    if (untouched && !holds) mesh::ReportMismatch(world.client->proxy->id);
    if (holds && !world.shadow) {
      lists[part] = before;
      continue;
    }
    Part made = MakePart(generator, world, NamesOf(generator, names, part), part);
    made.value = sources_.Apply(source, made.value);
    if (holds && !generator.IsShared(part) && !SameList(*made.value, *before))
      mesh::ReportMismatch(world.client->proxy->id);
    last->reads[part] = std::move(made.reads);
    lists[part] = std::move(made.value);
    changed |= lists[part] != before;
  }
  last->more_reads.clear();
  if (changed) last->set = xds::ResourceSet::Of(std::move(lists));
  return last->set;
}

xds::ResourceSetPtr PartCache::MakeSome(gen::Generator& generator, const mesh::World& world,
                                        const xds::NameSet& names, LastResources* last) {
  mesh::View view(world);
  const auto list = xds::ResourceList::Of(gen::GenerateAll(generator, view, &names.names()));
  // Who adds many names one by one is told of every change.
  constexpr size_t kMost = 64;
  if (last->more_reads.size() == kMost) view.MarkUnrepeatable();
  if (last->more_reads.size() <= kMost) last->more_reads.push_back(view.Take());
  const model::ConfigSource& source = world.client->proxy->source;
  return xds::ResourceSet::Of(std::vector<xds::ResourceListPtr>{sources_.Apply(source, list)});
}

}  // namespace fairlead::push
