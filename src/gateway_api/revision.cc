#include "gateway_api/revision.h"

#include "gateway_api/names.h"

namespace fairlead::gateway_api {

bool InRevision(const config::ConfigObject& object) {
  const auto label = object.meta().labels.find(kRevisionLabel);
  return label == object.meta().labels.end() || label->second == kRevision;
}

}  // namespace fairlead::gateway_api
