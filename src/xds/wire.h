#ifndef FAIRLEAD_XDS_WIRE_H_
#define FAIRLEAD_XDS_WIRE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "proto/field_reader.h"

// Protobuf's wire format, as far as discovery messages need it. Requests are read in place and responses are
// put together from encoded pieces. Generated messages would copy every resource for each response, and would
// allocate thousands of strings for each ACK of a large subscription. Source:
// protobuf.dev/programming-guides/encoding
namespace fairlead::xds {

using proto::FieldReader;

size_t VarintSize(uint64_t value);
// A string or bytes field; nothing where it is empty, as proto3 does.
void AppendString(uint32_t field, std::string_view value, std::string* out);
size_t StringFieldSize(uint32_t field, size_t length);

}  // namespace fairlead::xds

#endif  // FAIRLEAD_XDS_WIRE_H_
