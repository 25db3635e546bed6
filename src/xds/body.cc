#include "xds/body.h"

#include <mutex>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "base/hash.h"
#include "proto/wire.h"
#include "xds/wire.h"

namespace fairlead::xds {
namespace {

// Whether a body copies the resource; else it refers to it.
bool IsCopied(const cache::Resource& resource) {
  return resource.any.packed() || resource.any.size() < cache::kLarge;
}

// What a change made somebody be sent.
struct Change {
  std::mutex mutex;
  KeptBody body;  // guarded by mutex
};

struct ChangePool {
  // With more of them in a second or two, hardly two clients are sent the same.
  static constexpr size_t kMost = 512;
  std::mutex mutex;
  absl::flat_hash_map<std::vector<ResourcePtr>, std::shared_ptr<Change>> changes;  // guarded by mutex

  static ChangePool& Get() {
    static auto* pool = new ChangePool;
    return *pool;
  }
  // Null where there are too many.
  std::shared_ptr<Change> FindOrAdd(const std::vector<ResourcePtr>& resources) {
    std::lock_guard lock(mutex);
    if (const auto it = changes.find(resources); it != changes.end()) return it->second;
    if (changes.size() >= kMost) return nullptr;
    return changes.emplace(resources, std::make_shared<Change>()).first->second;
  }
};

}  // namespace

size_t SizeOf(const Pieces& pieces) {
  size_t size = 0;
  for (const Piece& piece : pieces) size += piece.bytes.size();
  return size;
}

Pieces MakeBody(Framing framing, std::span<const ResourcePtr> resources) {
  Pieces pieces;
  auto copied = std::make_shared<std::string>();
  const auto flush = [&] {
    if (copied->empty()) return;
    copied->shrink_to_fit();
    const std::string_view bytes = *copied;
    pieces.push_back({std::exchange(copied, std::make_shared<std::string>()), bytes});
  };
  size_t size = 0;
  for (const ResourcePtr& resource : resources) {
    if (IsCopied(*resource)) size += resource->any.size();
    size += resource->name.str().size() + 40;
  }
  copied->reserve(size);
  for (const ResourcePtr& resource : resources) {
    AppendResourcePrefix(framing, *resource, copied.get());
    if (IsCopied(*resource)) {
      resource->any.AppendTo(copied.get());
    } else {
      flush();
      pieces.push_back({resource, resource->any.plain()});
    }
  }
  flush();
  return pieces;
}

std::shared_ptr<const Pieces> KeptBody::Get(Framing framing, std::span<const ResourcePtr> resources) {
  used_ = true;
  auto& body = bodies_[static_cast<size_t>(framing)];
  if (body != nullptr) return body;
  auto made = std::make_shared<const Pieces>(MakeBody(framing, resources));
  if (std::exchange(asked_for_, true)) body = made;
  return made;
}

std::optional<size_t> KeptBody::DropIdle() {
  if (std::exchange(used_, false)) return std::nullopt;
  size_t freed = 0;
  for (const auto& body : std::exchange(bodies_, {})) {
    if (body != nullptr) freed += SizeOf(*body);
  }
  return freed;
}

std::shared_ptr<const Pieces> BodyOfChange(Framing framing, const std::vector<ResourcePtr>& resources) {
  const std::shared_ptr<Change> change = ChangePool::Get().FindOrAdd(resources);
  if (change == nullptr) return std::make_shared<const Pieces>(MakeBody(framing, resources));
  std::lock_guard lock(change->mutex);  // who comes second waits for the first one's work
  return change->body.Get(framing, resources);
}

size_t DropIdleChanges() {
  size_t freed = 0;
  ChangePool& pool = ChangePool::Get();
  std::lock_guard lock(pool.mutex);
  absl::erase_if(pool.changes, [&freed](const auto& entry) {
    std::lock_guard change_lock(entry.second->mutex);
    const std::optional<size_t> idle = entry.second->body.DropIdle();
    freed += idle.value_or(0);
    return idle.has_value();
  });
  return freed;
}

void AppendResourcePrefix(Framing framing, const cache::Resource& resource, std::string* out) {
  // DiscoveryResponse.resources = 2; DeltaDiscoveryResponse.resources = 2 of Resource{version = 1, resource =
  // 2, name = 3}.
  constexpr uint32_t kResources = 2, kVersion = 1, kResource = 2, kName = 3;
  if (framing == Framing::kStateOfTheWorld) {
    proto::AppendLength(kResources, resource.any.size(), out);
    return;
  }
  const std::string version = ToHex(resource.hash);
  const std::string& name = resource.name.str();
  const size_t any_size = resource.any.size();
  const size_t any_field = any_size == 0 ? 0 : 1 + VarintSize(any_size) + any_size;
  proto::AppendLength(
      kResources, StringFieldSize(kVersion, version.size()) + StringFieldSize(kName, name.size()) + any_field,
      out);
  AppendString(kVersion, version, out);
  AppendString(kName, name, out);
  if (any_field != 0) proto::AppendLength(kResource, any_size, out);
}

}  // namespace fairlead::xds
