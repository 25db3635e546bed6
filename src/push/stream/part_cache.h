#ifndef FAIRLEAD_PUSH_STREAM_PART_CACHE_H_
#define FAIRLEAD_PUSH_STREAM_PART_CACHE_H_

#include <array>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cache/recorded.h"
#include "gen/generator.h"
#include "mesh/view/reads.h"
#include "push/stream/config_source.h"
#include "xds/name_set.h"
#include "xds/resource_set.h"
#include "xds/types.h"

namespace fairlead::push {

class TouchedReads;

// The generators by type; null where a type is not served.
using Generators = std::array<std::unique_ptr<gen::Generator>, xds::kTypeCount>;
// Generators that proxies have instead whose metadata names them (GENERATOR); null: the type's usual one.
using GeneratorVariants = std::map<std::string, Generators, std::less<>>;
// The types that have one, as a mask of xds::MaskOf.
uint32_t ServedTypes(const Generators& generators);

// What was last made of a type for one proxy, with what it was made from: a part whose reads hold is taken
// over into the next snapshot.
struct LastResources {
  xds::NameSetPtr names;
  std::vector<mesh::ReadsPtr> reads;       // of the set's parts
  std::vector<mesh::ReadsPtr> more_reads;  // of what was made since for names that were added
  xds::ResourceSetPtr set;                 // null: nothing was made yet

  bool Holds(const mesh::World& world) const;
  void AddReads(std::vector<const mesh::ReadsPtr*>* all) const;
};

// The parts that generators made, for all snapshots of all tracks: each is given to every proxy of the class
// and scope that it was made for, wherever its reads hold. Thread-safe.
class PartCache {
 public:
  // The resources of a type for world.client; `names` null: all of them. `last` is what was made for this
  // client before, in any snapshot, and is replaced. `touched`, if not null: all of its reads hold that are
  // not among these.
  xds::ResourceSetPtr Make(gen::Generator& generator, const mesh::World& world, const xds::NameSetPtr& names,
                           LastResources* last, const TouchedReads* touched = nullptr);
  // Those of some names alone, which were added to what `last` was made for.
  xds::ResourceSetPtr MakeSome(gen::Generator& generator, const mesh::World& world, const xds::NameSet& names,
                               LastResources* last);
  // Forgets what was not used lately. To be called every few seconds.
  void Sweep(Clock::time_point now) {
    parts_.Sweep(now);
    sources_.Sweep(now);
  }
  size_t size() const { return parts_.size(); }

 private:
  using Part = cache::Recorded<xds::ResourceList, mesh::Reads>;
  Part MakePart(gen::Generator& generator, const mesh::World& world, const xds::NamePart& names, size_t part);

  struct Key {
    const gen::Generator* generator;
    size_t part;
    model::ProxyClassPtr proxy_class;
    Interned sidecar_key;  // see mesh::ProxyScope
    xds::NamePart names;
    friend bool operator==(const Key&, const Key&) = default;
    template <typename H>
    friend H AbslHashValue(H h, const Key& key) {
      return H::combine(std::move(h), key.generator, key.part, key.proxy_class, key.sidecar_key, key.names);
    }
  };
  cache::RecordedCache<Key, xds::ResourceList, mesh::Reads> parts_;
  ConfigSources sources_;
};

}  // namespace fairlead::push

#endif  // FAIRLEAD_PUSH_STREAM_PART_CACHE_H_
