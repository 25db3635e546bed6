#include "wasm/unbox.h"

#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <utility>

#include "base/strings.h"
#include "wasm/tar.h"

namespace fairlead::wasm {
namespace {

constexpr int kDeepest = 4;            // boxes in boxes
constexpr int kMostMembers = 100'000;  // of a gzip file; empty ones cost time and make nothing

bool IsGzip(std::string_view bytes) { return bytes.starts_with("\x1f\x8b"); }
bool IsZstd(std::string_view bytes) { return bytes.starts_with("\x28\xb5\x2f\xfd"); }

// One file is decompressed at a time, as each may become as large as may be.
std::mutex& OneAtATime() {
  static std::mutex mutex;
  return mutex;
}

absl::Status TooLarge(size_t most) {
  return absl::ResourceExhaustedError(
      StrCat("more than ", most, " bytes when decompressed (ISTIO_WASM_MAX_BINARY_SIZE_BYTES)"));
}

// All members of a gzip file (RFC 1952, section 2.2).
absl::StatusOr<std::string> Gunzip(std::string_view bytes, size_t most) {
  const std::lock_guard lock(OneAtATime());
  constexpr int kWindowAndGzip = 15 + 16;
  z_stream stream{};
  if (inflateInit2(&stream, kWindowAndGzip) != Z_OK) return absl::InternalError("zlib cannot be used");
  const std::unique_ptr<z_stream, decltype(&inflateEnd)> ends(&stream, inflateEnd);
  std::string out;
  size_t taken = 0;
  int members = 0;
  char piece[64 << 10];
  do {
    if (stream.avail_in == 0) {
      const size_t next = std::min<size_t>(bytes.size() - taken, 1 << 30);
      stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data() + taken));
      stream.avail_in = static_cast<uInt>(next);
      taken += next;
    }
    stream.next_out = reinterpret_cast<Bytef*>(piece);
    stream.avail_out = sizeof piece;
    const int result = inflate(&stream, Z_NO_FLUSH);
    if (result != Z_OK && result != Z_STREAM_END) return absl::InvalidArgumentError("this is no gzip file");
    const size_t made = sizeof piece - stream.avail_out;
    if (out.size() + made > most) return TooLarge(most);
    out.append(piece, made);
    const bool more = stream.avail_in > 0 || taken < bytes.size();
    if (result == Z_STREAM_END && ++members > kMostMembers)
      return absl::InvalidArgumentError("the gzip file has too many members");
    if (result == Z_STREAM_END && (!more || inflateReset(&stream) != Z_OK)) return out;
  } while (true);
}

// All frames of a zstd file (RFC 8878, section 3). The library refuses windows of more than 128 MiB.
absl::StatusOr<std::string> Unzstd(std::string_view bytes, size_t most) {
  const std::lock_guard lock(OneAtATime());
  const std::unique_ptr<ZSTD_DStream, decltype(&ZSTD_freeDStream)> stream(ZSTD_createDStream(),
                                                                          ZSTD_freeDStream);
  if (stream == nullptr) return absl::ResourceExhaustedError("no memory for zstd");
  std::string out, piece(ZSTD_DStreamOutSize(), '\0');
  ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
  size_t wanted = 0;
  bool full = false;  // there may be more of what was read
  while (in.pos < in.size || full) {
    ZSTD_outBuffer to{piece.data(), piece.size(), 0};
    wanted = ZSTD_decompressStream(stream.get(), &to, &in);
    if (ZSTD_isError(wanted) != 0)
      return absl::InvalidArgumentError(StrCat("this is no zstd file: ", ZSTD_getErrorName(wanted)));
    if (out.size() + to.pos > most) return TooLarge(most);
    out.append(piece, 0, to.pos);
    full = to.pos == to.size;
  }
  if (wanted != 0) return absl::InvalidArgumentError("the zstd file ends too early");
  return out;
}

absl::StatusOr<std::string> Decompressed(std::string_view bytes, size_t most) {
  return IsZstd(bytes) ? Unzstd(bytes, most) : Gunzip(bytes, most);
}

}  // namespace

bool IsModule(std::string_view bytes) {
  return bytes.size() >= 8 && bytes.starts_with(std::string_view("\0asm", 4));
}

absl::StatusOr<std::string> Unbox(std::string bytes, size_t most) {
  for (int depth = 0; depth <= kDeepest; ++depth) {
    if (IsModule(bytes)) return bytes;
    if (IsGzip(bytes) || IsZstd(bytes)) {
      auto inner = Decompressed(bytes, most);
      if (!inner.ok()) return inner.status();
      bytes = *std::move(inner);
    } else if (TarReader::IsTar(bytes)) {
      TarReader reader(bytes);
      const auto file = reader.Next();
      if (!file.ok()) return file.status();
      if (!*file) break;
      bytes = std::string((*file)->content);
    } else {
      break;
    }
  }
  return absl::InvalidArgumentError("this is no Wasm module");
}

absl::StatusOr<std::string> FileOfLayer(std::string_view layer, std::string_view name, size_t most) {
  std::string_view archive = layer;
  absl::StatusOr<std::string> decompressed;
  if (!TarReader::IsTar(layer)) {
    decompressed = Decompressed(layer, most);
    if (!decompressed.ok()) return decompressed.status();
    archive = *decompressed;
  }
  TarReader reader(archive);
  while (true) {
    const auto file = reader.Next();
    if (!file.ok()) return file.status();
    if (!*file) return absl::InvalidArgumentError(StrCat("no ", name, " in the layer"));
    const std::string& path = (*file)->name;
    if (path.substr(path.rfind('/') + 1) == name) return std::string((*file)->content);
  }
}

}  // namespace fairlead::wasm
