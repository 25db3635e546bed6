#include "gen/naming/inference_pool.h"

#include "base/labels.h"
#include "config/derived_object.h"

namespace fairlead::gen {

bool IsInferencePool(const model::Service& service) {
  return LabelOr(service.labels, config::kServiceSemanticsLabel) == config::kInferencePoolSemantics;
}

}  // namespace fairlead::gen
