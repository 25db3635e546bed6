#ifndef FAIRLEAD_CONFIG_SCHEMA_SCHEMA_TYPE_H_
#define FAIRLEAD_CONFIG_SCHEMA_SCHEMA_TYPE_H_

#include <cstdint>
#include <string_view>

#include "config/tree.h"

// What `type` means in an OpenAPI schema. Pure.
namespace fairlead::config {

// "a mapping" for "object": as messages to users name a type.
std::string_view NameOfSchemaType(std::string_view type);
// True for a type that is not known, "" among them.
bool HasSchemaType(Node value, std::string_view type);
// Of a string, as minLength and maxLength count: characters, not bytes.
int64_t LengthOf(std::string_view utf8);

}  // namespace fairlead::config

#endif  // FAIRLEAD_CONFIG_SCHEMA_SCHEMA_TYPE_H_
