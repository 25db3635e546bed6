#ifndef FAIRLEAD_MODEL_CONFIG_SOURCE_H_
#define FAIRLEAD_MODEL_CONFIG_SOURCE_H_

#include <cstdint>
#include <utility>

#include "base/interned.h"

namespace fairlead::model {

// Where a proxy is told to get what its resources refer to: over the aggregated stream, over a transport of
// its own through a cluster of its bootstrap that leads to the control plane, or from files that it watches.
struct ConfigSource {
  enum class Kind : uint8_t { kAds, kGrpc, kDeltaGrpc, kRest, kFiles };
  Kind kind = Kind::kAds;
  Interned where;  // the cluster; with kFiles the folder; "" with kAds

  friend bool operator==(const ConfigSource&, const ConfigSource&) = default;
  template <typename H>
  friend H AbslHashValue(H h, const ConfigSource& source) {
    return H::combine(std::move(h), source.kind, source.where);
  }
};

}  // namespace fairlead::model

#endif  // FAIRLEAD_MODEL_CONFIG_SOURCE_H_
