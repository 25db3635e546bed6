#include "proto/field_reader.h"

namespace fairlead::proto {
namespace {

constexpr uint32_t kVarint = 0, kFixed64 = 1, kLengthDelimited = 2, kFixed32 = 5;

}  // namespace

bool FieldReader::Fail() {
  ok_ = false;
  rest_ = {};
  return false;
}

bool FieldReader::ReadVarint(uint64_t* value) {
  *value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    if (rest_.empty()) return false;
    const auto byte = static_cast<uint8_t>(rest_.front());
    rest_.remove_prefix(1);
    *value |= uint64_t{byte & 127u} << shift;
    if (byte < 128) return true;
  }
  return false;
}

// A string of less than 128 bytes, as nearly all names are, with a small field number.
bool FieldReader::NextShortString() {
  if (rest_.size() < 2) return false;
  const auto tag = static_cast<uint8_t>(rest_[0]), length = static_cast<uint8_t>(rest_[1]);
  if ((tag & 0x87) != kLengthDelimited || tag < 8 || length >= 128 || rest_.size() - 2 < length) return false;
  number_ = tag >> 3;
  bytes_ = rest_.substr(2, length);
  rest_.remove_prefix(2 + size_t{length});
  return true;
}

bool FieldReader::Next() {
  bytes_ = {};
  varint_ = 0;
  if (rest_.empty()) return false;
  if (NextShortString()) return true;
  uint64_t tag = 0;
  if (!ReadVarint(&tag) || tag >> 35 != 0 || tag >> 3 == 0) return Fail();
  number_ = static_cast<uint32_t>(tag >> 3);
  size_t length = 0;
  switch (tag & 7) {
    case kVarint:
      return ReadVarint(&varint_) || Fail();
    case kFixed64:
      length = 8;
      break;
    case kFixed32:
      length = 4;
      break;
    case kLengthDelimited: {
      uint64_t wide = 0;
      if (!ReadVarint(&wide) || wide > rest_.size()) return Fail();
      length = static_cast<size_t>(wide);
      bytes_ = rest_.substr(0, length);
      break;
    }
    default:
      return Fail();  // groups are not used by discovery messages
  }
  if (length > rest_.size()) return Fail();
  rest_.remove_prefix(length);
  return true;
}

}  // namespace fairlead::proto
