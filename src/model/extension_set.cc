#include <map>
#include <mutex>
#include <vector>

#include "absl/hash/hash.h"
#include "base/strings.h"
#include "model/proxy.h"

namespace fairlead::model {
namespace {

struct ExtensionPool {
  std::mutex mutex;
  // By hash of the names; sets of one hash are told apart by comparison.
  std::multimap<size_t, std::weak_ptr<const ExtensionSet>> sets;
};

ExtensionPool& Pool() {
  static auto* pool = new ExtensionPool;
  return *pool;
}

size_t HashOf(const std::set<std::string, std::less<>>& names) {
  size_t hash = names.size();
  for (const std::string& name : names) hash = absl::HashOf(hash, ToAbsl(name));
  return hash;
}

}  // namespace

std::shared_ptr<const ExtensionSet> ExtensionSet::Intern(std::set<std::string, std::less<>> names) {
  if (names.empty()) return nullptr;
  const size_t hash = HashOf(names);
  ExtensionPool& pool = Pool();
  std::lock_guard lock(pool.mutex);
  auto [it, end] = pool.sets.equal_range(hash);
  while (it != end) {
    std::shared_ptr<const ExtensionSet> known = it->second.lock();
    if (known == nullptr) {
      it = pool.sets.erase(it);
    } else if (known->names_ == names) {
      return known;
    } else {
      ++it;
    }
  }
  std::shared_ptr<const ExtensionSet> made(new ExtensionSet(std::move(names)));
  pool.sets.emplace(hash, made);
  return made;
}

}  // namespace fairlead::model
