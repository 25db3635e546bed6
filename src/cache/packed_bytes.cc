#include "cache/packed_bytes.h"

#include <lz4.h>

#include <bit>
#include <cstring>
#include <limits>

#include "absl/base/internal/raw_logging.h"

namespace fairlead::cache {
namespace {

// Below this size there is nothing to gain.
constexpr size_t kPackFrom = 128;
// What is larger is plain: LZ4 counts in int.
constexpr size_t kPackUpTo = std::numeric_limits<int>::max() / 2;
constexpr int kFailuresToForget = 32;

std::unique_ptr<char[]> Copy(const char* bytes, size_t size) {
  if (size == 0) return nullptr;
  auto copy = std::make_unique_for_overwrite<char[]>(size);
  std::memcpy(copy.get(), bytes, size);
  return copy;
}

// The size of what was written to `out`; 0 where it has not room enough.
size_t Compress(const std::string& dictionary, std::string_view bytes, std::string* out) {
  thread_local LZ4_stream_t stream;
  LZ4_initStream(&stream, sizeof(stream));
  LZ4_loadDict(&stream, dictionary.data(), static_cast<int>(dictionary.size()));
  const int written =
      LZ4_compress_fast_continue(&stream, bytes.data(), out->data(), static_cast<int>(bytes.size()),
                                 static_cast<int>(out->size()), /*acceleration=*/1);
  return static_cast<size_t>(written);
}

}  // namespace

PackedBytes::PackedBytes(std::string_view plain)
    : size_(static_cast<uint32_t>(plain.size())), stored_(size_), bytes_(Copy(plain.data(), plain.size())) {}

void PackedBytes::AppendTo(std::string* out) const {
  if (!packed()) {
    out->append(plain());
    return;
  }
  const size_t before = out->size();
  out->resize(before + size_);
  const int unpacked = LZ4_decompress_safe_usingDict(
      bytes_.get(), out->data() + before, static_cast<int>(stored_), static_cast<int>(size_),
      dictionary_->data(), static_cast<int>(dictionary_->size()));
  ABSL_RAW_CHECK(unpacked == static_cast<int>(size_), "packed bytes are damaged");
}

std::string PackedBytes::Unpacked() const {
  std::string out;
  AppendTo(&out);
  return out;
}

PackedBytes BytePacker::Pack(std::string_view kind, std::string_view bytes) {
  if (bytes.size() < kPackFrom || bytes.size() > kPackUpTo) return bytes;
  const Key key(kind, std::bit_width(bytes.size()));
  DictionaryPtr dictionary = DictionaryFor(key, bytes);
  std::string out(bytes.size() - bytes.size() / 4, '\0');
  const size_t size = Compress(*dictionary, bytes, &out);
  Note(key, size != 0 && size <= bytes.size() / 2, bytes);
  if (size == 0) return bytes;
  PackedBytes packed;
  packed.size_ = static_cast<uint32_t>(bytes.size());
  packed.stored_ = static_cast<uint32_t>(size);
  packed.bytes_ = Copy(out.data(), size);
  packed.dictionary_ = std::move(dictionary);
  return packed;
}

BytePacker::DictionaryPtr BytePacker::DictionaryFor(const Key& key, std::string_view bytes) {
  std::lock_guard lock(mutex_);
  Group& group = groups_[key];
  if (group.dictionary == nullptr) group.dictionary = std::make_shared<const std::string>(bytes);
  return group.dictionary;
}

void BytePacker::Note(const Key& key, bool good, std::string_view bytes) {
  std::lock_guard lock(mutex_);
  Group& group = groups_[key];
  group.failures = good ? 0 : group.failures + 1;
  if (group.failures < kFailuresToForget) return;
  group.dictionary = std::make_shared<const std::string>(bytes);
  group.failures = 0;
}

}  // namespace fairlead::cache
