#ifndef FAIRLEAD_SERVING_REST_BODY_H_
#define FAIRLEAD_SERVING_REST_BODY_H_

#include <string_view>

#include "absl/status/status.h"
#include "model/node_limits.h"

namespace fairlead::serving {

// Whether the body of a poll, a DiscoveryRequest in JSON, may be parsed. Everything but the names of
// resources must keep within the limits of a node; JSON may have twice as many bytes. It is scanned, and
// needs no memory. InvalidArgument says what is too much. Texts that are no JSON may pass. Pure.
absl::Status CheckRestBody(std::string_view body, const model::NodeLimits& limits);

}  // namespace fairlead::serving

#endif  // FAIRLEAD_SERVING_REST_BODY_H_
