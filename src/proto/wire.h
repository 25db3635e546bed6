#ifndef FAIRLEAD_PROTO_WIRE_H_
#define FAIRLEAD_PROTO_WIRE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

// Fields in protobuf's wire format (https://protobuf.dev/programming-guides/encoding), for messages that are
// put together of parts which are encoded already. Pure; each appends to `out`.
namespace fairlead::proto {

void AppendVarint(uint64_t value, std::string* out);
// The tag and length of a string, a bytes or a message field, whose content is to follow.
void AppendLength(int number, size_t length, std::string* out);
// Such a field, whole.
void AppendField(int number, std::string_view value, std::string* out);
// A bool, which proto3 leaves out where it is false.
void AppendBool(int number, bool value, std::string* out);

}  // namespace fairlead::proto

#endif  // FAIRLEAD_PROTO_WIRE_H_
