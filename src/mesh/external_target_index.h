#ifndef FAIRLEAD_MESH_EXTERNAL_TARGET_INDEX_H_
#define FAIRLEAD_MESH_EXTERNAL_TARGET_INDEX_H_

#include <string_view>
#include <vector>

#include "base/interned.h"
#include "base/sharded_map.h"
#include "model/registry_output.h"

namespace fairlead::mesh {

// By address, the ServiceEntries' services that are served there.
class ExternalTargetIndex {
 public:
  const std::vector<model::ExternalTarget>& At(std::string_view ip) const;

 private:
  friend class ExternalTargetIndexBuilder;
  ShardedMap<Interned, std::vector<model::ExternalTarget>> by_address_;
};

}  // namespace fairlead::mesh

#endif  // FAIRLEAD_MESH_EXTERNAL_TARGET_INDEX_H_
