#ifndef FAIRLEAD_PROTO_FIELD_READER_H_
#define FAIRLEAD_PROTO_FIELD_READER_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace fairlead::proto {

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

}  // namespace fairlead::proto

#endif  // FAIRLEAD_PROTO_FIELD_READER_H_
