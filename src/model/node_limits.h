#ifndef FAIRLEAD_MODEL_NODE_LIMITS_H_
#define FAIRLEAD_MODEL_NODE_LIMITS_H_

#include <cstddef>
#include <string_view>

#include "absl/status/status.h"

namespace fairlead::model {

// The most that a client may say of itself in the node of its first request. A pod's annotations may have 256
// KiB, and a node carries them.
struct NodeLimits {
  size_t bytes = 512 << 10;  // of the encoded node
  size_t values = 20'000;    // elements of lists and maps, at any depth, together
  size_t text = 4096;        // bytes of a string that reaches resources: names, labels, paths of certificates
  size_t entries = 1000;     // of each list and map that is kept: labels, addresses, networks, ports
};

// Whether an encoded Node keeps within the limits of bytes and values. It is counted and not parsed: the work
// is in proportion to its bytes, and needs no memory. InvalidArgument says what is too much. Thread-safe.
absl::Status CheckNode(std::string_view encoded, const NodeLimits& limits);

}  // namespace fairlead::model

#endif  // FAIRLEAD_MODEL_NODE_LIMITS_H_
