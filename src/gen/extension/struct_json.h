#ifndef FAIRLEAD_GEN_EXTENSION_STRUCT_JSON_H_
#define FAIRLEAD_GEN_EXTENSION_STRUCT_JSON_H_

#include <string>

namespace google::protobuf {
class Struct;
}

namespace fairlead::gen::extension {

// A struct as the JSON text that Go's protobuf library makes of it, without blanks and with sorted keys: what
// a module is given as its configuration, to the letter as by Istio. Numbers are written as ECMAScript writes
// them. Pure.
std::string StructJson(const google::protobuf::Struct& value);

}  // namespace fairlead::gen::extension

#endif  // FAIRLEAD_GEN_EXTENSION_STRUCT_JSON_H_
