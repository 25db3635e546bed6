#ifndef FAIRLEAD_PUSH_EPOCH_H_
#define FAIRLEAD_PUSH_EPOCH_H_

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "gen/generator.h"
#include "mesh/snapshot.h"
#include "push/reason.h"
#include "xds/name_set.h"
#include "xds/resource_set.h"
#include "xds/types.h"

namespace fairlead::push {

// The generators by type; null where a type is not served.
using Generators = std::array<std::unique_ptr<gen::Generator>, xds::kTypeCount>;
// Generators that proxies have instead whose metadata names them (GENERATOR); null: the type's usual one.
using GeneratorVariants = std::map<std::string, Generators, std::less<>>;
// The types that have one, as a mask of xds::MaskOf.
uint32_t ServedTypes(const Generators& generators);

// What was last made of a type for one proxy, with what it was made from: a part of which nothing changed is
// taken over into the next snapshot.
struct Made {
  xds::NameSetPtr names;
  std::vector<gen::PartStamp> stamps;  // of the set's parts
  xds::ResourceSetPtr set;             // null: nothing was made yet
};

// One published snapshot and what was made of it so far: parts that many proxies share are made once (see
// gen::Generator::PartKey). Lives as long as a stream is at it. Thread-safe.
class Epoch {
 public:
  Epoch(uint64_t number, mesh::SnapshotPtr snapshot, const PublicationLog& log = {})
      : number_(number), snapshot_(std::move(snapshot)), log_(log) {}

  uint64_t number() const { return number_; }  // counts publications, from 1
  Clock::time_point published_at() const { return published_at_; }
  const mesh::MeshSnapshot& snapshot() const { return *snapshot_; }
  const mesh::SnapshotPtr& snapshot_ptr() const { return snapshot_; }
  const PublicationLog& log() const { return log_; }  // up to this one

  // The resources of a type for a proxy; `names` null: all of them. `last` is what was made for this proxy
  // before, in this snapshot or an earlier one, and is replaced. With `shadow` nothing is taken over from it
  // unseen: everything is made, and what should have been the same and is not is reported.
  xds::ResourceSetPtr Make(gen::Generator& generator, const mesh::ProxyScope& scope,
                           const xds::NameSetPtr& names, Made* last, bool shadow);

 private:
  xds::ResourceListPtr MakePart(gen::Generator& generator, const gen::Request& request, size_t part,
                                const xds::NameSetPtr& names);

  struct Key {
    const gen::Generator* generator;
    size_t part;
    std::string sharing;
    xds::NameSetPtr names;
    friend bool operator==(const Key&, const Key&) = default;
    template <typename H>
    friend H AbslHashValue(H h, const Key& key) {
      return H::combine(std::move(h), key.generator, key.part, key.sharing, key.names.get());
    }
  };
  struct Slot {
    std::once_flag made;
    xds::ResourceListPtr list;
  };

  const uint64_t number_;
  const Clock::time_point published_at_ = Clock::now();
  const mesh::SnapshotPtr snapshot_;
  const PublicationLog log_;
  std::mutex mutex_;
  absl::flat_hash_map<Key, std::shared_ptr<Slot>> parts_;  // guarded by mutex_
};
using EpochPtr = std::shared_ptr<Epoch>;

// The resources of a few names, which one proxy asks for besides others: neither shared nor kept.
xds::ResourceSetPtr MakeSome(const Epoch& epoch, gen::Generator& generator, const mesh::ProxyScope& scope,
                             const xds::NameSet& names);

}  // namespace fairlead::push

#endif  // FAIRLEAD_PUSH_EPOCH_H_
