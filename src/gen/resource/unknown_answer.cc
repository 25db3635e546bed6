#include "gen/resource/unknown_answer.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <utility>

#include "absl/container/flat_hash_map.h"

namespace fairlead::gen {
namespace {

using Key = std::pair<uint8_t, Interned>;  // TypeId and name
using Entries = absl::flat_hash_map<Key, std::weak_ptr<const cache::Resource>>;

// Entries of answers that are gone are swept when there are twice as many entries as after the last sweep.
struct Pool {
  std::mutex mutex;
  Entries entries;
  size_t sweep_at = 1024;

  static Pool& Get() {
    static auto* pool = new Pool;
    return *pool;
  }
  void Sweep() {
    absl::erase_if(entries, [](const auto& entry) { return entry.second.expired(); });
    sweep_at = std::max<size_t>(1024, 2 * entries.size());
  }
};

}  // namespace

cache::ResourcePtr UnknownAnswer(cache::TypeId type, std::string_view name,
                                 const std::function<cache::ResourcePtr()>& make) {
  const Key key(static_cast<uint8_t>(type), Interned(name));
  Pool& pool = Pool::Get();
  {
    std::lock_guard lock(pool.mutex);
    const auto known = pool.entries.find(key);
    if (known != pool.entries.end()) {
      if (cache::ResourcePtr answer = known->second.lock()) return answer;
    }
  }
  cache::ResourcePtr made = make();
  std::lock_guard lock(pool.mutex);
  if (pool.entries.size() >= pool.sweep_at) pool.Sweep();
  auto& entry = pool.entries[key];
  if (cache::ResourcePtr answer = entry.lock()) return answer;
  entry = made;
  return made;
}

UnknownAnswerCount CountUnknownAnswers() {
  Pool& pool = Pool::Get();
  std::lock_guard lock(pool.mutex);
  const auto alive = std::count_if(pool.entries.begin(), pool.entries.end(),
                                   [](const auto& entry) { return !entry.second.expired(); });
  return {static_cast<size_t>(alive), pool.entries.size()};
}

}  // namespace fairlead::gen
