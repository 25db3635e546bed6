#ifndef FAIRLEAD_MODEL_CONFIG_SOURCE_H_
#define FAIRLEAD_MODEL_CONFIG_SOURCE_H_

#include <cstdint>
#include <utility>

#include "base/interned.h"

namespace fairlead::model {

// Where a proxy is told to get what its resources refer to: over the aggregated stream, or over a transport
// of its own through a cluster of its bootstrap that leads to the control plane.
struct ConfigSource {
  enum class Kind : uint8_t { kAds, kGrpc, kDeltaGrpc, kRest };
  Kind kind = Kind::kAds;
  Interned cluster;  // "" with kAds

  friend bool operator==(const ConfigSource&, const ConfigSource&) = default;
  template <typename H>
  friend H AbslHashValue(H h, const ConfigSource& source) {
    return H::combine(std::move(h), source.kind, source.cluster);
  }
};

}  // namespace fairlead::model

#endif  // FAIRLEAD_MODEL_CONFIG_SOURCE_H_
