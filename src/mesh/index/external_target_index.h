#ifndef FAIRLEAD_MESH_INDEX_EXTERNAL_TARGET_INDEX_H_
#define FAIRLEAD_MESH_INDEX_EXTERNAL_TARGET_INDEX_H_

#include <memory>
#include <string_view>

#include "base/interned.h"
#include "base/sharded_map.h"
#include "model/registry_output.h"

namespace fairlead::mesh {

// By address, the ServiceEntries' services that are served there.
class ExternalTargetIndex {
 public:
  // Null where there are none.
  std::shared_ptr<const model::ExternalTargets> At(std::string_view ip) const;

  // What it has, for comparing.
  using ByAddress = ShardedMap<Interned, std::shared_ptr<const model::ExternalTargets>>;
  const ByAddress& by_address() const { return by_address_; }

 private:
  friend class ExternalTargetIndexBuilder;
  ByAddress by_address_;
};

}  // namespace fairlead::mesh

#endif  // FAIRLEAD_MESH_INDEX_EXTERNAL_TARGET_INDEX_H_
