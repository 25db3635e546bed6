#ifndef FAIRLEAD_DEBUG_OBJECT_JSON_H_
#define FAIRLEAD_DEBUG_OBJECT_JSON_H_

#include "base/labels.h"
#include "config/object.h"
#include "debug/page_json.h"
#include "model/service.h"

// The mesh's own values as pages show them. Pure.
namespace fairlead::debug {

Json LabelsJson(const LabelMap& labels);

// As kubectl shows an object, with `origin`: the file and line that it was read from, where it was.
Json ObjectJson(const config::ConfigObject& object);
// {"file", "line"}; null where an object is of an API server.
Json OriginJson(const config::ConfigObject& object);

// Unix seconds, as istiod shows an object's age.
std::string AgeText(int64_t unix_seconds);

}  // namespace fairlead::debug

#endif  // FAIRLEAD_DEBUG_OBJECT_JSON_H_
