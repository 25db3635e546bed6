#ifndef FAIRLEAD_XDS_WIRE_H_
#define FAIRLEAD_XDS_WIRE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

// Protobuf's wire format, as far as discovery messages need it. Requests are read in place and responses are
// put together from encoded pieces: with generated messages each response would copy every resource, and each
// ACK of a large subscription would allocate thousands of strings. Source:
// protobuf.dev/programming-guides/encoding
namespace fairlead::xds {

// Reads the fields of one message in order. The bytes must outlive the reader and what it hands out.
class FieldReader {
 public:
  explicit FieldReader(std::string_view bytes) : rest_(bytes) {}
  // Steps to the next field; false at the end and for a malformed message (then ok() is false, too).
  bool Next();
  bool ok() const { return ok_; }
  // What is still to be read; it begins with a field.
  std::string_view rest() const { return rest_; }
  // Leaves out the next bytes, which must be whole fields.
  void Skip(size_t length) { rest_.remove_prefix(length); }

  uint32_t number() const { return number_; }
  // A length-delimited field's content; "" for other wire types.
  std::string_view bytes() const { return bytes_; }
  // A varint field's value; 0 for other wire types.
  uint64_t varint() const { return varint_; }

 private:
  bool NextShortString();
  bool ReadVarint(uint64_t* value);
  bool Fail();

  std::string_view rest_;
  bool ok_ = true;
  uint32_t number_ = 0;
  std::string_view bytes_;
  uint64_t varint_ = 0;
};

size_t VarintSize(uint64_t value);
// A string or bytes field; nothing where it is empty, as proto3 does.
void AppendString(uint32_t field, std::string_view value, std::string* out);
size_t StringFieldSize(uint32_t field, size_t length);

}  // namespace fairlead::xds

#endif  // FAIRLEAD_XDS_WIRE_H_
