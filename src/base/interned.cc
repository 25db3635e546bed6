#include "base/interned.h"

#include <array>
#include <mutex>

#include "absl/container/flat_hash_map.h"
#include "absl/hash/hash.h"

namespace fairlead {

// Sharded by hash, so that parsing threads rarely meet on one lock.
struct Interned::Pool {
  struct Shard {
    std::mutex mutex;
    absl::flat_hash_map<std::string_view, Entry*> entries;  // keys point into the entries
  };
  static constexpr size_t kShards = 64;
  std::array<Shard, kShards> shards;

  static Pool& Get() {
    static Pool* pool = new Pool;  // lives as long as the process: destructors of statics may still intern
    return *pool;
  }
};

Interned::Interned(std::string_view text) {
  if (text.empty()) return;
  const size_t shard_index = absl::HashOf(text) % Pool::kShards;
  Pool::Shard& shard = Pool::Get().shards[shard_index];
  std::lock_guard lock(shard.mutex);
  auto it = shard.entries.find(text);
  if (it == shard.entries.end()) {
    auto* entry = new Entry{{0}, static_cast<uint32_t>(shard_index), std::string(text)};
    it = shard.entries.emplace(entry->text, entry).first;
  }
  entry_ = it->second;
  Ref();
}

void Interned::Unref() {
  if (entry_ == nullptr) return;
  // Only the step from 1 to 0 needs the lock: a lookup that runs meanwhile must not revive a dying entry.
  uint32_t seen = entry_->references.load(std::memory_order_relaxed);
  while (seen > 1) {
    if (entry_->references.compare_exchange_weak(seen, seen - 1, std::memory_order_release)) return;
  }
  Pool::Shard& shard = Pool::Get().shards[entry_->shard];
  std::lock_guard lock(shard.mutex);
  if (entry_->references.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  shard.entries.erase(entry_->text);
  delete entry_;
}

const std::string& Interned::Empty() {
  static const std::string* empty = new std::string;
  return *empty;
}

size_t Interned::PoolSize() {
  size_t total = 0;
  for (Pool::Shard& shard : Pool::Get().shards) {
    std::lock_guard lock(shard.mutex);
    total += shard.entries.size();
  }
  return total;
}

}  // namespace fairlead
