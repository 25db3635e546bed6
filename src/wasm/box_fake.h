#ifndef FAIRLEAD_WASM_BOX_FAKE_H_
#define FAIRLEAD_WASM_BOX_FAKE_H_

#include <zlib.h>
#include <zstd.h>

#include <cstdio>
#include <string>
#include <utility>
#include <vector>

// For tests: what modules come in.
namespace fairlead::wasm {

inline std::string FakeModule(const std::string& rest = "") { return std::string("\0asm\1\0\0\0", 8) + rest; }

// An entry of a tar archive; type '0' is a file.
inline std::string TarEntry(const std::string& name, const std::string& content, char type = '0') {
  std::string header(512, '\0');
  const auto put = [&](size_t at, const std::string& text) { header.replace(at, text.size(), text); };
  char size[12];
  std::snprintf(size, sizeof size, "%011zo", content.size());
  put(0, name.substr(0, 100));
  put(100, "0000644");
  put(124, size);
  put(257, "ustar");
  put(263, "00");
  header[156] = type;
  unsigned sum = 8 * ' ';
  for (const char c : header) sum += static_cast<unsigned char>(c);
  char checksum[8];
  std::snprintf(checksum, sizeof checksum, "%06o", sum);
  put(148, checksum);
  header[155] = ' ';
  const size_t fill = (512 - content.size() % 512) % 512;
  return header + content + std::string(fill, '\0');
}

inline std::string Tar(const std::vector<std::pair<std::string, std::string>>& files) {
  std::string out;
  for (const auto& [name, content] : files) out += TarEntry(name, content);
  return out + std::string(1024, '\0');
}

inline std::string Gzip(const std::string& bytes) {
  z_stream stream{};
  deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, bytes.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

inline std::string Zstd(const std::string& bytes) {
  std::string out(ZSTD_compressBound(bytes.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), bytes.data(), bytes.size(), /*compressionLevel=*/3));
  return out;
}

}  // namespace fairlead::wasm

#endif  // FAIRLEAD_WASM_BOX_FAKE_H_
