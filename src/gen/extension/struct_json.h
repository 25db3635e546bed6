#ifndef FAIRLEAD_GEN_EXTENSION_STRUCT_JSON_H_
#define FAIRLEAD_GEN_EXTENSION_STRUCT_JSON_H_

#include <string>

namespace google::protobuf {
class Struct;
}

namespace fairlead::gen::extension {

// A struct as the JSON text of Go's protobuf library, without blanks and with sorted keys. Modules get this
// text as their configuration, byte for byte as from Istio. Numbers are written as ECMAScript writes them.
// Pure.
std::string StructJson(const google::protobuf::Struct& value);

}  // namespace fairlead::gen::extension

#endif  // FAIRLEAD_GEN_EXTENSION_STRUCT_JSON_H_
