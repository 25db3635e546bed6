#ifndef FAIRLEAD_CONFIG_SCHEMA_CRD_SCHEMA_H_
#define FAIRLEAD_CONFIG_SCHEMA_CRD_SCHEMA_H_

#include <string_view>

#include "config/field_path.h"
#include "config/kind.h"
#include "config/report.h"
#include "config/tree.h"
#include "config/tree_builder.h"

namespace fairlead::config {

// The OpenAPI schema of a kind's version out of its CustomResourceDefinition (the Gateway API's experimental
// channel, which has all that the standard one has); of another version where that one has none, absent where
// no definition of the kind is known. Read when first asked for and kept as long as the process. Thread-safe.
Node CrdSchemaOf(const KindInfo& kind, std::string_view version);

// Copies a value into `out` as an API server would store it: schema defaults filled in, nulls taken out where
// the schema knows none. Reports unknown fields, wrong types, unknown enum values, missing required fields
// and numbers, lengths and counts beyond their bounds, and returns whether there were none. Patterns, oneOf
// and the rules in CEL are not looked at here.
bool CopyBySchema(Node value, Node schema, const FieldPath& path, Report& report, TreeBuilder& out);

}  // namespace fairlead::config

#endif  // FAIRLEAD_CONFIG_SCHEMA_CRD_SCHEMA_H_
