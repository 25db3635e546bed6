#ifndef FAIRLEAD_HTTP2_HTTP2_BYTES_H_
#define FAIRLEAD_HTTP2_HTTP2_BYTES_H_

#include <nghttp2/nghttp2.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

// nghttp2's bytes as texts, and texts as its bytes.
namespace fairlead::http2 {

inline std::string_view Text(const uint8_t* bytes, size_t size) {
  return {reinterpret_cast<const char*>(bytes), size};
}

inline const uint8_t* Bytes(std::string_view text) { return reinterpret_cast<const uint8_t*>(text.data()); }

// A header field. The texts must outlive it; nghttp2 copies them when it is submitted.
inline nghttp2_nv Field(std::string_view name, std::string_view value) {
  return {const_cast<uint8_t*>(Bytes(name)), const_cast<uint8_t*>(Bytes(value)), name.size(), value.size(),
          NGHTTP2_NV_FLAG_NONE};
}

}  // namespace fairlead::http2

#endif  // FAIRLEAD_HTTP2_HTTP2_BYTES_H_
