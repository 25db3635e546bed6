#ifndef FAIRLEAD_CACHE_PACKED_BYTES_H_
#define FAIRLEAD_CACHE_PACKED_BYTES_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "absl/container/flat_hash_map.h"

namespace fairlead::cache {

// Immutable bytes that may be kept compressed (LZ4), as what a mesh is sent is much alike: a cluster takes a
// sixth of its size, an inbound listener a thirteenth. Made by BytePacker, or as they are. Any thread may
// read.
class PackedBytes {
 public:
  PackedBytes() = default;
  PackedBytes(std::string_view plain);  // NOLINT: implicit by design
  PackedBytes(const std::string& plain) : PackedBytes(std::string_view(plain)) {}  // NOLINT

  size_t size() const { return size_; }  // unpacked
  bool empty() const { return size_ == 0; }
  bool packed() const { return dictionary_ != nullptr; }
  // The bytes where they lie. REQUIRES: !packed()
  std::string_view plain() const { return {bytes_.get(), size_}; }
  // Ends the process where packed bytes were overwritten in memory: a proxy must not be sent what they
  // became.
  void AppendTo(std::string* out) const;
  std::string Unpacked() const;
  // Bytes of memory that it takes, without the dictionary.
  size_t footprint() const { return sizeof(*this) + stored_; }

  friend bool operator==(const PackedBytes& a, const PackedBytes& b) { return a.Unpacked() == b.Unpacked(); }

 private:
  friend class BytePacker;
  friend class DamagedBytes;  // for tests
  uint32_t size_ = 0;
  uint32_t stored_ = 0;                            // of bytes_
  std::unique_ptr<char[]> bytes_;                  // null where there are none
  std::shared_ptr<const std::string> dictionary_;  // that they were packed with; null: plain
};

// Packs byte strings that are alike: each is told apart from an earlier one of its kind and about its size,
// which serves as the dictionary until too little is like it. A packing takes a few microseconds.
// Thread-safe.
class BytePacker {
 public:
  // Plain where packing would not save a quarter.
  PackedBytes Pack(std::string_view kind, std::string_view bytes);

 private:
  using DictionaryPtr = std::shared_ptr<const std::string>;
  struct Group {
    DictionaryPtr dictionary;
    int failures = 0;  // packings in a row that saved less than half
  };
  using Key = std::pair<std::string, int>;  // kind, and the number of bits of the size

  DictionaryPtr DictionaryFor(const Key& key, std::string_view bytes);
  void Note(const Key& key, bool good, std::string_view bytes);

  std::mutex mutex_;
  absl::flat_hash_map<Key, Group> groups_;  // guarded by mutex_
};

}  // namespace fairlead::cache

#endif  // FAIRLEAD_CACHE_PACKED_BYTES_H_
