#ifndef FAIRLEAD_REGISTRY_TRAFFIC_DISTRIBUTION_H_
#define FAIRLEAD_REGISTRY_TRAFFIC_DISTRIBUTION_H_

#include <string_view>

#include "base/labels.h"
#include "model/service.h"

namespace fairlead::registry {

// Where traffic should stay: what the Service's field says, else its annotation
// networking.istio.io/traffic-distribution, else its namespace's (null: no such object). An unknown value of
// the field counts as none; one of an annotation, as "any".
model::TrafficDistribution ResolveTrafficDistribution(std::string_view field, const LabelMap& annotations,
                                                      const LabelMap* namespace_annotations);

}  // namespace fairlead::registry

#endif  // FAIRLEAD_REGISTRY_TRAFFIC_DISTRIBUTION_H_
